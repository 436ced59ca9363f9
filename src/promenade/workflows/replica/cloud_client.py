"""HTTP client of a store for its cloud: bearer tokens by client credentials, no redirects, bounded time and size.

The specification, Authentication, Cloud instance, steps 1 to 4: a token is kept until shortly before it expires, and a
401 is answered by one new token and one repeat.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
import msgspec

from promenade import __version__, tracing
from promenade.errors import Invalid
from promenade.settings import LOOPBACK_HOSTS
from promenade.workflows.uplink import CloudBusy, CloudRefused, CloudUnreachable

SECONDS_MAX = 60.0  # per request, not counting the token
TOKEN_SECONDS_MAX = 15.0
CONNECT_SECONDS = 10.0
ANSWER_BYTES_MAX = 32 * 1024 * 1024  # after decompression
LONG_BYTES = 64 * 1024  # responses from this size on are decoded in a thread
MESSAGE_LENGTH_MAX = 500
BUSY_SECONDS_MAX = 300  # that a busy cloud is left alone
RENEW_BEFORE_SECONDS = 60.0  # seconds before the expiry of a long-lived token
RENEW_PART = 10  # otherwise this fraction of its lifetime before
TOKEN_PATH = "/oauth/token"  # noqa: S105 -- a path
SECRET_PATH = "/oauth/secret"  # noqa: S105 -- a path

_RETRYABLE = frozenset({408, 425, 429})  # transient like 5xx: a later attempt may succeed
_BUSY = frozenset({429, 503})  # with the header Retry-After
_UNAUTHORIZED = 401
_NOT_FOUND = 404
_DECODER = msgspec.json.Decoder(float_hook=Decimal)


@dataclass(frozen=True, slots=True)
class CloudAccess:
    """The cloud's address and the store's credentials.

    ``auth_url`` is the issuer's address, with or without /oauth/token.
    """

    url: str
    auth_url: str
    client_id: str
    client_secret: str = field(repr=False)

    @property
    def token_url(self) -> str:
        """The address of the token endpoint."""
        base = self.auth_url.rstrip("/")
        return base if base.endswith(TOKEN_PATH) else base + TOKEN_PATH


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes
    retry_after: str | None = None


def require_address(address: str, name: str) -> str:
    """Return ``address`` without a trailing slash, if it is valid.

    Raises Invalid (BAD_ADDRESS) naming ``name`` unless it is https, or http to this machine itself; and if it has a
    user, a query or a fragment.
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Invalid("BAD_ADDRESS", f"{name} is not a URL: {address}.", name) from None
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK_HOSTS)
    if not host or not is_safe:
        raise Invalid("BAD_ADDRESS", f"{name} must begin with https:// (http:// only on this machine).", name)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise Invalid("BAD_ADDRESS", f"{name} must be a URL without user, query and fragment.", name)
    return address.rstrip("/")


class HttpCloudClient:
    """See `promenade.workflows.uplink.CloudClient`. Bound to one event loop; `close` it at the end.

    ``lose`` is called whenever the cloud cannot be reached, whoever asked.
    """

    def __init__(
        self,
        access: CloudAccess,
        *,
        lose: Callable[[], None] = lambda: None,
        seconds_max: float = SECONDS_MAX,
        bytes_max: int = ANSWER_BYTES_MAX,
    ) -> None:
        self.access = access
        self._lose = lose
        self._url = require_address(access.url, "url")
        self._token_url = require_address(access.token_url, "authUrl")
        self._seconds_max = seconds_max
        self._bytes_max = bytes_max
        self._http: httpx2.AsyncClient | None = None
        self._token: str | None = None
        self._renewed_at = 0.0
        self._due_at: float | None = None  # by the event loop's clock: when the secret should be replaced
        self._asking = asyncio.Lock()

    async def close(self) -> None:
        """Close all open connections."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """GET; see `CloudClient`."""
        target = f"{self._url}{path}?{urlencode(query)}" if query else self._url + path
        return await self._watched(self._authorized("GET", target, {}, None, self._seconds_max))

    async def post(
        self, path: str, body: object, *, key: str | None = None, seconds: float | None = None
    ) -> dict[str, Any]:
        """POST; see `CloudClient`. ``seconds`` limits the token request and all repeats together."""
        headers = {"content-type": "application/json"}
        if key is not None:
            headers["idempotency-key"] = key
        content = msgspec.json.encode(body)
        exchange = self._authorized("POST", self._url + path, headers, content, seconds or self._seconds_max)
        return await self._watched(exchange if seconds is None else _within(seconds, exchange))

    async def _watched(self, exchange: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        try:
            return await exchange
        except CloudBusy:
            raise
        except CloudUnreachable:
            self._lose()
            raise

    async def token(self) -> str:
        """Return a valid token; raises as requests do."""
        async with self._asking:
            token = self._token
            if token is None or asyncio.get_running_loop().time() >= self._renewed_at:
                token = self._token = await self._ask_for_token()
            return token

    @property
    def is_secret_due(self) -> bool:
        """Whether the cloud has said that the secret should be replaced by now."""
        return self._due_at is not None and asyncio.get_running_loop().time() >= self._due_at

    def use_secret(self, secret: str) -> None:
        """Use another secret from the next token on."""
        self.access = replace(self.access, client_secret=secret)
        self._due_at = None

    async def replace_secret(self, shown: str, new: str) -> None:
        """Ask the issuer to replace ``shown``, a secret or an enrolment code, by ``new``; raises as requests do."""
        form = {"client_id": self.access.client_id, "client_secret": shown, "new_secret": new}
        address = self._token_url.removesuffix(TOKEN_PATH) + SECRET_PATH
        headers = {"content-type": "application/x-www-form-urlencoded"}
        answer = await self._exchange("POST", address, headers, urlencode(form).encode(), TOKEN_SECONDS_MAX)
        if answer.status >= 400 and not _is_retryable(answer.status):
            said = _oauth_error(answer.body)
            raise CloudRefused(answer.status, "SECRET_REFUSED", f"The secret was not replaced: {said}.")
        _parse_response(answer)

    # --- the exchange -------------------------------------------------------------------------------------------------

    async def _authorized(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None, seconds: float
    ) -> dict[str, Any]:
        token = await self.token()
        answer = await self._exchange(method, url, _with_bearer(headers, token), content, seconds)
        if answer.status == _UNAUTHORIZED:  # the key may have changed, or our clock jumped
            if self._token == token:
                self._token = None
            answer = await self._exchange(method, url, _with_bearer(headers, await self.token()), content, seconds)
        # This event loop prices baskets, and a page of changes takes long to decode.
        return (
            _parse_response(answer)
            if len(answer.body) < LONG_BYTES
            else await asyncio.to_thread(_parse_response, answer)
        )

    async def _ask_for_token(self) -> str:
        form = {
            "grant_type": "client_credentials",
            "client_id": self.access.client_id,
            "client_secret": self.access.client_secret,
        }
        headers = {"content-type": "application/x-www-form-urlencoded"}
        answer = await self._exchange("POST", self._token_url, headers, urlencode(form).encode(), TOKEN_SECONDS_MAX)
        if answer.status >= 400 and not _is_retryable(answer.status):
            said = _oauth_error(answer.body)
            raise CloudRefused(answer.status, "TOKEN_REFUSED", f"The token endpoint refuses this client: {said}.")
        members = _parse_response(answer)
        token, seconds = members.get("access_token"), members.get("expires_in")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
            raise _unreachable("its token endpoint returned no token")
        life = float(seconds) if isinstance(seconds, int | Decimal) and not isinstance(seconds, bool) else 0.0
        due_in = members.get("secret_due_in")
        is_told = isinstance(due_in, int | Decimal) and not isinstance(due_in, bool)
        self._due_at = asyncio.get_running_loop().time() + float(due_in or 0) if is_told else None
        self._renewed_at = asyncio.get_running_loop().time() + life - min(RENEW_BEFORE_SECONDS, life / RENEW_PART)
        return token

    async def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        seconds: float,
    ) -> _Answer:
        http = await self._opened()
        try:
            with tracing.call("call to the cloud"):
                sent = {**headers, **tracing.headers()}
                async with (
                    asyncio.timeout(seconds),
                    http.stream(method, url, headers=sent, content=content) as response,
                ):
                    body = await _read(response, self._bytes_max)
                    tracing.note_outcome(response.status_code)
                    return _Answer(response.status_code, body, response.headers.get("retry-after"))
        except TimeoutError:
            raise _unreachable(f"it did not answer within {seconds:g} seconds") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            raise _unreachable(_reason(error)) from error

    async def _opened(self) -> httpx2.AsyncClient:
        if self._http is None:
            tls = await asyncio.to_thread(httpx2.create_ssl_context)  # reads files for tens of milliseconds
            if self._http is None:
                self._http = httpx2.AsyncClient(
                    verify=tls,
                    follow_redirects=False,
                    timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
                    # A proxy for outside addresses cannot reach this machine itself.
                    trust_env=urlsplit(self._url).scheme == "https",
                    headers={"accept": "application/json", "accept-encoding": "gzip", "user-agent": _agent()},
                )
        return self._http


async def _within(seconds: float, exchange: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    try:
        async with asyncio.timeout(seconds):
            return await exchange
    except TimeoutError:
        raise _unreachable(f"it did not answer within {seconds:g} seconds") from None


def _agent() -> str:
    return f"Promenade/{__version__}"


def _with_bearer(headers: Mapping[str, str], token: str) -> dict[str, str]:
    return {**headers, "authorization": f"Bearer {token}"}


async def _read(response: httpx2.Response, bytes_max: int) -> bytes:
    """Return the decompressed body, limited in size: a few bytes can decompress to gigabytes."""
    packing = response.headers.get("content-encoding", "identity").lower()
    if packing not in ("identity", "gzip", ""):
        raise _unreachable(f"its answer is compressed with {packing}, which was not requested")
    unpacking = zlib.decompressobj(wbits=31) if packing == "gzip" else None
    body = bytearray()
    async for part in response.aiter_raw():
        try:
            body += part if unpacking is None else unpacking.decompress(part, bytes_max + 1 - len(body))
        except zlib.error:
            raise _unreachable("its answer cannot be decompressed") from None
        if len(body) > bytes_max:
            raise _unreachable(f"its answer has more than {bytes_max} bytes")
    if unpacking is not None and body and not unpacking.eof:
        raise _unreachable("its answer is incomplete")
    return bytes(body)


def _parse_response(answer: _Answer) -> dict[str, Any]:
    """Return the members of a 2xx response. Raises CloudRefused for 4xx, CloudUnreachable for the rest."""
    if 300 <= answer.status < 400:
        raise _unreachable(f"it answered {answer.status}; redirects are not followed")
    if answer.status >= 400:
        if answer.status in _BUSY and (answer.retry_after or "").isdecimal():
            raise CloudBusy(min(int(answer.retry_after or 0), BUSY_SECONDS_MAX))
        if _is_retryable(answer.status):
            raise _unreachable(f"it answered {answer.status}")
        raise _refused(answer)
    try:
        members = _DECODER.decode(answer.body)
    except (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError):
        raise _unreachable("its answer is not JSON") from None
    if not isinstance(members, dict):
        raise _unreachable("its answer is not a JSON object")
    return members


def _is_retryable(status: int) -> bool:
    return status >= 500 or status in _RETRYABLE


class _Fault(msgspec.Struct):
    code: str = ""
    message: str = ""


class _Refusal(msgspec.Struct):
    error: _Fault


class _OauthRefusal(msgspec.Struct):
    error: str
    error_description: str = ""


def _refused(answer: _Answer) -> CloudRefused:
    try:
        fault = msgspec.json.decode(answer.body, type=_Refusal).error
    except (msgspec.MsgspecError, ValueError):
        fault = _Fault()
    code = fault.code or ("NOT_FOUND" if answer.status == _NOT_FOUND else "CLOUD_REFUSED")
    said = _shown(fault.message) or "without a reason"
    return CloudRefused(answer.status, code, f"The cloud refuses ({answer.status}): {said}")


def _oauth_error(body: bytes) -> str:
    try:
        refusal = msgspec.json.decode(body, type=_OauthRefusal)
    except (msgspec.MsgspecError, ValueError):
        return "without a reason"
    return _shown(refusal.error_description or refusal.error).rstrip(".") or "without a reason"


def _shown(text: str) -> str:
    """Return untrusted text as one printable line."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:MESSAGE_LENGTH_MAX]).strip()


def _unreachable(why: str) -> CloudUnreachable:
    return CloudUnreachable("CLOUD_UNREACHABLE", f"The cloud cannot be reached: {why}.")


def _reason(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "its certificate could not be verified"
        if isinstance(cause, ssl.SSLError):
            return "no TLS connection could be made"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return "no connection could be made"
    if isinstance(error, httpx2.InvalidURL):
        return "its address is not valid"
    return "the connection was closed, or what came was not valid HTTP"
