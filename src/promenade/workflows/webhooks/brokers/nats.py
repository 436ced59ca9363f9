"""NATS JetStream: messages of one connection are stored in their order, each once within the stream's window.

A connection is used until the first failure: what was under way when it broke is sent again, in order, over another.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import MaxPayloadError

from promenade.settings import BrokerAddress
from promenade.workflows.webhooks.brokers import ANSWER_SECONDS, Broker, BrokerMessage, Stored, stored_until

CONNECT_SECONDS = 5
_TOO_LARGE_CODE, _TOO_LARGE = 10054, "It is larger than the stream takes."
_NO_RESPONDERS = "503"
_UNSAFE = re.compile(rb"[^A-Za-z0-9_-]")


class _Error(msgspec.Struct):
    description: str = ""
    err_code: int = 0


class _Answer(msgspec.Struct):
    """The answer of a stream; the rest of it says where the message is."""

    error: _Error | None = None


class NatsBroker(Broker):
    """Publishes to the subjects <prefix>.<tenant>.<kind>; a stream of the operator's stores them."""

    def __init__(self, address: BrokerAddress) -> None:
        self._address = address
        self._client: Client | None = None
        self._lost = asyncio.Event()
        self._inbox = ""
        self._trouble = ""  # what the client said last about the connection
        self._answers: dict[str, asyncio.Future[str | None]] = {}  # by the last part of the subject of the answer

    async def publish(self, messages: Sequence[BrokerMessage]) -> Stored:
        """Send a batch; the stream drops those that it has stored before, by their Nats-Msg-Id."""
        refused: dict[str, str] = {}
        try:
            answers = await self._send(await self._connected(), messages, refused)
        except Exception as error:  # any error of a foreign server, or on the way to it
            await self.close()
            return Stored(0, self._trouble or str(error) or type(error).__name__)
        await self._answered(list(answers.values()))
        outcomes = [refused.get(one.id) or _outcome(answers[one.id], one, refused) for one in messages]
        self._answers.clear()
        stored = stored_until(outcomes, messages, refused)
        if stored.error is not None:
            await self.close()
        return stored

    async def _send(
        self, client: Client, messages: Sequence[BrokerMessage], refused: dict[str, str]
    ) -> dict[str, asyncio.Future[str | None]]:
        """Send all; return the answer to come of each that was sent, by its ID."""
        answers: dict[str, asyncio.Future[str | None]] = {}
        for message in messages:
            headers = {"Nats-Msg-Id": message.id, "Content-Type": message.sent.content_type}
            headers |= message.sent.headers("ce-")
            self._answers[message.id] = answers[message.id] = asyncio.get_running_loop().create_future()
            reply = f"{self._inbox}.{message.id}"
            try:
                await client.publish(self._subject(message), message.sent.body, reply=reply, headers=headers)
            except MaxPayloadError:
                refused[message.id] = "It is larger than the server takes."
                answers.pop(message.id).cancel()
        return answers

    async def _on_answer(self, answer: Msg) -> None:
        """Note what a stream, or for want of one the server, says about a message."""
        future = self._answers.get(answer.subject.rpartition(".")[2])
        if future is not None and not future.done():
            future.set_result(_error_in(answer))

    async def _answered(self, answers: Sequence[asyncio.Future[str | None]]) -> None:
        """Wait until all have come, the connection is lost, or the time is over."""
        if not answers:
            return
        lost = asyncio.ensure_future(self._lost.wait())
        waiting = asyncio.ensure_future(asyncio.wait(answers))
        try:
            await asyncio.wait({lost, waiting}, timeout=ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            lost.cancel()
            waiting.cancel()

    def _subject(self, message: BrokerMessage) -> str:
        kind = ".".join(_token(part) for part in message.kind.split("."))
        return f"{self._address.topic}.{_token(message.tenant_id)}.{kind}"

    async def _connected(self) -> Client:
        if self._client is not None and self._client.is_connected and not self._lost.is_set():
            return self._client
        await self.close()
        *others, last = self._address.servers
        for server in others:
            with suppress(Exception):
                return await self._connect(server)
            await self.close()
        return await self._connect(last)

    async def _connect(self, server: str) -> Client:
        self._lost = lost = asyncio.Event()
        self._trouble = ""

        async def on_lost() -> None:
            lost.set()

        async def on_error(error: Exception) -> None:
            self._trouble = str(error)

        tls = _tls(self._address)
        self._client = client = Client()
        await client.connect(
            f"nats://{server}",
            name="promenade",
            allow_reconnect=False,
            max_reconnect_attempts=1,  # of this connection; 0 is without end
            reconnect_time_wait=0,
            connect_timeout=CONNECT_SECONDS,
            disconnected_cb=on_lost,
            closed_cb=on_lost,
            error_cb=on_error,
            tls=tls,
            **_credentials(self._address, tls),
        )
        if tls is not None:
            tls.check()
        self._inbox = client.new_inbox()
        await client.subscribe(f"{self._inbox}.*", cb=self._on_answer)
        return client

    async def close(self) -> None:
        """Close the connection at once: what was not answered is sent again."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):  # a broken connection may fail to close
                await asyncio.wait_for(client.close(), CONNECT_SECONDS)


class _Tls(ssl.SSLContext):
    """The TLS of one connection. A server that says it has none must learn nothing: the client would go on without."""

    began = False

    def wrap_bio(self, *args: Any, **settings: Any) -> ssl.SSLObject:
        self.began = True
        return super().wrap_bio(*args, **settings)

    def check(self) -> None:
        """Raise an error if nothing was encrypted."""
        if not self.began:
            raise ssl.SSLError("The server offers no TLS.")


def _tls(address: BrokerAddress) -> _Tls | None:
    if not address.uses_tls:
        return None
    context = _Tls(ssl.PROTOCOL_TLS_CLIENT)
    if address.ca is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(address.ca)
    if address.cert is not None:
        context.load_cert_chain(address.cert, address.key)
    return context


def _credentials(address: BrokerAddress, tls: _Tls | None) -> dict[str, Any]:
    """Return user and password, or the one of them that is a token; with TLS they are told to nobody without it."""

    def told(text: str) -> Callable[[], str]:
        def tell() -> str:
            if tls is not None:
                tls.check()
            return text

        return tell

    password = address.read_password()
    if address.user is not None and password is not None:
        return {"user": told(address.user), "password": told(password)}
    token = address.user or password
    return {} if token is None else {"token": told(token)}


def _token(text: str) -> str:
    """Return a part of a subject: other bytes than letters, digits, - and _ are written as %XX."""
    return _UNSAFE.sub(lambda found: b"%%%02X" % found[0][0], text.encode()).decode()


def _error_in(answer: Msg) -> str | None:
    """Return why a message was not stored, as the server says it; None: it was."""
    if (answer.headers or {}).get("Status") == _NO_RESPONDERS:
        return "No stream stores these subjects: create one (docs/how-to/events-to-a-broker.md)."
    error = msgspec.json.decode(answer.data, type=_Answer).error
    if error is None:
        return None
    return _TOO_LARGE if error.err_code == _TOO_LARGE_CODE else error.description


def _outcome(answer: asyncio.Future[str | None], message: BrokerMessage, refused: dict[str, str]) -> str | None:
    """Return why a message was not stored; None: it was."""
    if not answer.done():
        answer.cancel()
        return f"There was no answer within {ANSWER_SECONDS:g} seconds, or the connection was lost."
    error = answer.result()
    if error == _TOO_LARGE:
        refused[message.id] = error
    return error
