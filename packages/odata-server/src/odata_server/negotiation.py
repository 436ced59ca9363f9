"""Content negotiation: version, metadata, numbers, preferences (Protocol 4.01, chapter 8)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from odata_server.errors import ODataError, bad_request
from odata_server.http import Request

__all__ = ["Dialect", "Preferences", "accepts", "json_dialect", "preferences", "require_json_body", "version_of"]

_VERSIONS = {"4.0": "4.0", "4.01": "4.01"}
_NUMBER = re.compile(r"\d{1,3}\.\d{1,3}", re.ASCII)
_METADATA = frozenset({"none", "minimal", "full"})
_PARTS_MAX = 100  # parts of one header that are read


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences of a ``Prefer`` header, without prefixes; ``returns`` is minimal, representation or None."""

    returns: str | None = None
    page_size_max: int | None = None
    continue_on_error: bool | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """The format of a JSON response. ``metadata`` is none, minimal or full; ``prefix`` starts its annotations."""

    version: str
    metadata: str = "minimal"
    quoted_numbers: bool = False
    preferences: Preferences = field(default_factory=Preferences)

    @property
    def prefix(self) -> str:
        return "@" if self.version == "4.01" else "@odata."

    def count(self, number: int) -> int | str:
        """Return a count as JSON: it is written like an Int64 (OData JSON Format 4.01, 3.2)."""
        return str(number) if self.quoted_numbers else number

    @property
    def media_type(self) -> str:
        name = "metadata" if self.version == "4.01" else "odata.metadata"
        return f"application/json;{name}={self.metadata}" + (";IEEE754Compatible=true" if self.quoted_numbers else "")


# ---- versions -----------------------------------------------------------------------------------------------------


def version_of(request: Request, default: str, *, strict: bool = True) -> str:
    """Return the response version: the client's ``OData-MaxVersion`` if it is supported, else ``default``.

    Raise ODataError 400 for an unsupported version, but never if not ``strict``, because error responses need a version
    too.
    """
    wanted = request.headers.get("odata-maxversion")
    version = default
    if wanted is not None:
        known = _NUMBER.fullmatch(wanted.strip())
        if known is not None and wanted.strip() >= "4.0":
            version = "4.0" if wanted.strip() in {"4.0", "4.00"} else "4.01"
        elif strict:
            raise bad_request("UNSUPPORTED_VERSION", "OData-MaxVersion must be 4.0 or 4.01.", "OData-MaxVersion")
    spoken = request.headers.get("odata-version")
    if strict and spoken is not None and spoken.strip() not in _VERSIONS:
        raise bad_request("UNSUPPORTED_VERSION", "OData-Version must be 4.0 or 4.01.", "OData-Version")
    return version


# ---- preferences --------------------------------------------------------------------------------------------------


def preferences(request: Request) -> Preferences:
    """Return the preferences of the client; unknown or malformed ones are ignored, as RFC 7240 requires."""
    text = request.headers.get("prefer")
    if not text:
        return Preferences()
    found: dict[str, str] = {}
    for part in text.split(",")[:_PARTS_MAX]:
        name, _, value = part.partition(";")[0].partition("=")
        name = name.strip().lower().removeprefix("odata.")
        found.setdefault(name, value.strip().strip('"').lower())
    returns = found.get("return")
    size = found.get("maxpagesize", "")
    return Preferences(
        returns if returns in {"minimal", "representation"} else None,
        int(size) if size.isascii() and size.isdigit() and len(size) < 10 and int(size) else None,
        None if "continue-on-error" not in found else found["continue-on-error"] != "false",
        {"strict": True, "lenient": False}.get(found.get("handling", "")),
    )


# ---- media types --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Range:
    """One media range of an Accept header."""

    type: str
    quality: float
    parameters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def _ranges(text: str) -> Iterator[_Range]:
    for part in text.split(",")[:_PARTS_MAX]:
        name, *rest = part.split(";")
        parameters: dict[str, str] = {}
        quality = 1.0
        for parameter in rest:
            key, _, value = parameter.partition("=")
            key, value = key.strip().lower(), value.strip().strip('"').lower()
            if key == "q":
                quality = float(value) if re.fullmatch(r"[01](\.\d{0,3})?", value, re.ASCII) else 1.0
            elif key:
                parameters[key.removeprefix("odata.")] = value
        if name.strip():
            yield _Range(name.strip().lower(), quality, parameters)


def accepts(request: Request, media_type: str, *, exactly: bool = False) -> bool:
    """Return whether the client accepts a media type; ``exactly``: by name and not only by a wildcard."""
    text = request.headers.get("accept")
    if not text:
        return not exactly
    wanted = {media_type} if exactly else {media_type, f"{media_type.partition('/')[0]}/*", "*/*"}
    return any(one.quality > 0 and one.type in wanted for one in _ranges(text))


def takes_gzip(request: Request) -> bool:
    """Return whether the response may be compressed by gzip; a part of a batch never is."""
    text = request.headers.get("accept-encoding")
    if not text or request.in_batch:
        return False
    takes = {one.type: one.quality > 0 for one in _ranges(text)}
    return takes.get("gzip", takes.get("*", False))


def json_dialect(request: Request, version: str, format_option: str | None) -> Dialect:
    """Return the JSON format that the client accepts, by ``$format`` or else by Accept. Raise ODataError 406."""
    _require_utf8(request)
    prefer = preferences(request)
    text = request.headers.get("accept") or "application/json"
    if format_option is not None:
        text = "application/json" if format_option.strip().lower() == "json" else format_option
    best: Dialect | None = None
    quality = 0.0
    for one in _ranges(text):
        if one.type not in {"application/json", "application/*", "*/*"} or one.quality <= quality:
            continue
        metadata = one.parameters.get("metadata", "minimal")
        quoted = one.parameters.get("ieee754compatible", "false")
        charset = one.parameters.get("charset", "utf-8")
        if metadata in _METADATA and quoted in {"true", "false"} and charset in {"utf-8", "utf8", "us-ascii"}:
            best, quality = Dialect(version, metadata, quoted == "true", prefer), one.quality
    if best is None:
        where = "Accept" if format_option is None else "$format"
        raise ODataError(406, "NOT_ACCEPTABLE", "This service answers only in application/json in UTF-8.", where)
    return best


def _require_utf8(request: Request) -> None:
    text = request.headers.get("accept-charset")
    if text and not any(one.quality > 0 and one.type in {"utf-8", "utf8", "*"} for one in _ranges(text)):
        raise ODataError(406, "NOT_ACCEPTABLE", "This service answers only in UTF-8.", "Accept-Charset")


def require_json_body(request: Request) -> None:
    """Refuse a body that is declared as something other than JSON; the default is JSON. Raise ODataError 415."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", ""}:
        raise ODataError(415, "UNSUPPORTED_MEDIA_TYPE", "Compressed bodies are not read: send plain JSON.")
    text = request.headers.get("content-type")
    if not text or text == "application/json":
        return
    one = next(_ranges(text.replace(",", " ")), None)
    utf8 = one is not None and one.parameters.get("charset", "utf-8") in {"utf-8", "utf8", "us-ascii"}
    if one is None or one.type != "application/json" or not utf8:
        message = "The body must be application/json in UTF-8."
        raise ODataError(415, "UNSUPPORTED_MEDIA_TYPE", message, "Content-Type")
