"""Master-data messages in SOAP 1.1, parsed so that no document can attack the parser.

Before parsing, the body is decoded by the one encoding on which its declaration and the headers agree, and refused if
it contains a DTD or a processing instruction: nothing is left that could expand, include or fetch (reliability X2). It
is then parsed in pieces, within limits, and refused at the first violation.
"""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Iterator, Mapping

from lxml import etree

from promenade.errors import Invalid
from promenade.web.imports.soap import ENVELOPE_NAMESPACE, MustUnderstand, VersionMismatch
from promenade.workflows.imports.master_data import (
    ACTION_CODE,
    INTERFACE,
    ITEM,
    MEMBERS,
    VALUE_LENGTH_MAX,
    Gathering,
    Message,
)

DEPTH_MAX = 32
ATTRIBUTES_MAX = 64  # per element, namespaces included
ELEMENTS_MAX = 750_000  # including comments and sections; takes up to a second
EQUALS_MAX = 1_000_000  # an upper limit of the number of attributes
REFERENCES_MAX = 500_000  # entity references such as &amp;
SECTIONS_MAX = 250_000  # comments and CDATA sections
TOKEN_BYTES_MAX = 64 * 1024  # of a tag or a comment
_PIECE_BYTES = 16 * 1024
_REST_SECONDS = 0.0002  # sleep after each batch, so that the tills' event loop gets the interpreter (GIL) at once
_FEW_TAGS = 5000
_RARE = 100
_DECODED_BYTES = 256 * 1024
_DECLARATION_BYTES_MAX = 256

_MALFORMED = "MALFORMED_XML"
_REFUSED = "XML_NOT_ADMITTED"

_UTF8, _UTF16, _LATIN, _ASCII = "utf-8", "utf-16", "iso-8859-1", "us-ascii"
_ENCODINGS: Mapping[str, str] = {
    _UTF8: _UTF8,
    "utf8": _UTF8,
    _UTF16: _UTF16,
    _LATIN: _LATIN,
    "latin1": _LATIN,
    _ASCII: _ASCII,
    "ascii": _ASCII,
}
_MARKS = ((codecs.BOM_UTF8, _UTF8, "utf-8"), (codecs.BOM_UTF16_LE, _UTF16, "utf-16-le"),
          (codecs.BOM_UTF16_BE, _UTF16, "utf-16-be"))  # fmt: skip
_DECLARATION = re.compile(
    r"""<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.0"|'1\.0')"""
    r"""(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([A-Za-z][A-Za-z0-9._-]*)"|'([A-Za-z][A-Za-z0-9._-]*)'))?"""
    r"""(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>"""
)


def read_soap_message(body: bytes, charset: str | None) -> Message:
    """Parse a body; ``charset`` is from its Content-Type. Takes up to a second of a thread for 20 MiB.

    Raises Invalid (MALFORMED_XML, XML_NOT_ADMITTED, VALIDATION_FAILED), VersionMismatch, MustUnderstand.
    """
    text, start = _decoded(body, charset)
    _refuse_markup(text, start)
    return _parsed(text, start)


# ---- the encoding ---------------------------------------------------------------------------------------------------


def _decoded(body: bytes, charset: str | None) -> tuple[bytes, int]:
    """Return the body in UTF-8, and the offset behind its byte order mark and XML declaration."""
    mark, implied, codec = next((one for one in _MARKS if body.startswith(one[0])), (b"", None, "latin-1"))
    head = body[len(mark) : len(mark) + 2 * _DECLARATION_BYTES_MAX].decode(codec, "ignore")
    declaration = _DECLARATION.match(head)
    if declaration is None and head.startswith("<?xml") and head[5:6].isspace():
        raise Invalid(_MALFORMED, "The XML declaration is malformed, or is not for XML 1.0.")
    declared = declaration and (declaration[1] or declaration[2])
    named = {implied, _known(charset), _known(declared)} - {None}
    if len(named) > 1:
        raise Invalid(
            _MALFORMED, "The byte order mark, the XML declaration and the Content-Type name different encodings."
        )
    encoding = named.pop() if named else _UTF8
    if encoding == _UTF16 and not mark:
        raise Invalid(_MALFORMED, "A message in UTF-16 must begin with a byte order mark.")
    length = declaration.end() if declaration else 0
    if encoding == _UTF8:
        _check_decodes(body, len(mark))
        return body, len(mark) + length
    return _transcoded(body, len(mark), codec if encoding == _UTF16 else encoding or _UTF8), length


def _known(name: str | None) -> str | None:
    if name is None:
        return None
    known = _ENCODINGS.get(name.lower())
    if known is None:
        raise Invalid(_MALFORMED, "The encoding must be UTF-8, UTF-16, ISO-8859-1 or US-ASCII.")
    return known


def _check_decodes(body: bytes, start: int) -> None:
    if body.isascii():
        return
    for _ in _pieces_of_text(body, start, _UTF8):
        pass


def _transcoded(body: bytes, start: int, encoding: str) -> bytes:
    text = bytearray()
    for piece in _pieces_of_text(body, start, encoding):
        text += piece.encode("utf-8")
    return bytes(text)


def _pieces_of_text(body: bytes, start: int, encoding: str) -> Iterator[str]:
    """Yield the text in pieces: as a whole it could take four times the memory of the body."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    try:
        for position in range(start, len(body), _DECODED_BYTES):
            yield decoder.decode(body[position : position + _DECODED_BYTES])
        yield decoder.decode(b"", True)
    except UnicodeError:
        raise Invalid(
            _MALFORMED, "The message is not valid in the encoding that it names, or in UTF-8 if it names none."
        ) from None


# ---- what is refused unread -----------------------------------------------------------------------------------------


def _refuse_markup(text: bytes, start: int) -> None:
    """Refuse a DTD, processing instructions, and more elements than any message has.

    INVARIANT: comments and CDATA sections end here where they end for the parser, so nothing can hide in one.
    """
    if text.find(b"\0", start) >= 0:
        raise Invalid(_MALFORMED, "The message contains the character NUL.")
    tags = _count(text, b"<", start)
    if tags > ELEMENTS_MAX and tags - text.count(b"</", start) > ELEMENTS_MAX:
        raise Invalid(_REFUSED, "The message has too many elements.")
    for letter, number_max, what in ((b"=", EQUALS_MAX, "attributes"), (b"&", REFERENCES_MAX, "references")):
        if _count(text, letter, start) > number_max:
            raise Invalid(_REFUSED, f"The message has too many {what}.")
    find = _find_by_letter if tags < _FEW_TAGS else bytes.find
    instruction = find(text, b"<?", start)
    markup = find(text, b"<!", start)
    sections = 0
    while markup >= 0 or instruction >= 0:
        if markup < 0 or 0 <= instruction < markup:
            raise Invalid(_REFUSED, "Processing instructions are not allowed.")
        markup = _end_of_section(text, markup)
        sections += 1
        if sections > SECTIONS_MAX:
            raise Invalid(_REFUSED, "The message has too many comments and CDATA sections.")
        if 0 <= instruction < markup:
            instruction = find(text, b"<?", markup)
        markup = find(text, b"<!", markup)


# Finding a single letter takes a tenth of the time of counting it or finding two, which matters in texts of 20 MiB.


def _count(text: bytes, letter: bytes, start: int) -> int:
    for number in range(_RARE):
        start = text.find(letter, start) + 1
        if not start:
            return number
    return _RARE + text.count(letter, start)


def _find_by_letter(text: bytes, mark: bytes, start: int) -> int:
    found = text.find(b"<", start)
    while found >= 0 and not text.startswith(mark, found):
        found = text.find(b"<", found + 1)
    return found


def _find_end(text: bytes, mark: bytes, start: int) -> int:
    """Return the first position of ``mark``, whose last character is its only ``>``, from ``start`` on; -1: not
    found.
    """
    end = start + len(mark) - 1
    for _ in range(_RARE):
        end = text.find(b">", end)
        if end < 0 or text.startswith(mark, end - len(mark) + 1):
            return max(end - len(mark) + 1, -1)
        end += 1
    return text.find(mark, end - len(mark) + 1)


def _end_of_section(text: bytes, start: int) -> int:
    if text.startswith(b"<!--", start):
        end = _find_end(text, b"-->", start + 4)
    elif text.startswith(b"<![CDATA[", start):
        end = _find_end(text, b"]]>", start + 9)
    else:
        raise Invalid(_REFUSED, "A document type declaration is not allowed.")
    if end < 0:
        raise Invalid(_MALFORMED, "The message ends inside a comment or a CDATA section.")
    return end + 3


# ---- parsing --------------------------------------------------------------------------------------------------------


def _parsed(text: bytes, start: int) -> Message:
    target = _Envelope()
    parser = etree.XMLParser(
        target=target,
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
        recover=False,
    )
    pieces_still = seen = 0
    try:
        for position in range(start, len(text), _PIECE_BYTES):
            parser.feed(text[position : position + _PIECE_BYTES])
            pieces_still = 0 if target.events != seen else pieces_still + 1
            seen = target.events
            if pieces_still * _PIECE_BYTES > TOKEN_BYTES_MAX:
                raise Invalid(_REFUSED, "A tag or a comment of the message is too long.")
            if position > start:
                time.sleep(_REST_SECONDS)
        parser.close()
    except etree.XMLSyntaxError as error:
        raise Invalid(_MALFORMED, f"The XML is not well-formed near line {error.lineno or 1}.") from None
    except (ValueError, UnicodeError):
        raise Invalid(_MALFORMED, "The XML is not well-formed.") from None
    return target.message()


_HEADER, _BODY = f"{{{ENVELOPE_NAMESPACE}}}Header", f"{{{ENVELOPE_NAMESPACE}}}Body"
_MUST_UNDERSTAND, _ACTOR = f"{{{ENVELOPE_NAMESPACE}}}mustUnderstand", f"{{{ENVELOPE_NAMESPACE}}}actor"
_FOR_THE_NEXT = {"", "http://schemas.xmlsoap.org/soap/actor/next"}
_INCLUDING = "http://www.w3.org/2001/XInclude"
_SCHEMA = "{http://www.w3.org/2001/XMLSchema-instance}"
_SCHEMA_ADDRESSES = (f"{_SCHEMA}schemaLocation", f"{_SCHEMA}noNamespaceSchemaLocation")
_ACTION_CODES = ("ActionCode", "actionCode")  # both spellings of the attribute occur
_IDENTIFIERS = ("ID", "UUID")


class _Envelope:
    """A parser target that collects a message. Elements are identified by their depth and local name."""

    def __init__(self) -> None:
        self.events = 0  # start tags and texts: the parser's progress
        self._depth = 0
        self._part = ""  # of the envelope: Header or Body
        self._section = ""  # current child of the request, by local name: its header or an item
        self._element = ""  # current child of the section, by local name
        self._requests = 0
        self._gathering = Gathering()
        self._identifiers: dict[str, str] = {}
        self._products = 0  # in the current item
        self._codes: set[str] = set()
        self._values: dict[str, str] = {}
        self._may_include = False  # the XInclude namespace was declared
        self._member = ""  # the member whose text is being collected
        self._member_depth = 0  # 0: none
        self._collected: list[str] = []
        self._length = 0

    def start(self, tag: str, attributes: Mapping[str, str], nsmap: Mapping[str | None, str]) -> None:
        self.events += 1
        self._depth = depth = self._depth + 1
        if attributes or nsmap:
            _check_attributes(attributes, nsmap)
            self._may_include = self._may_include or _INCLUDING in nsmap.values()
        if self._may_include and tag.startswith(f"{{{_INCLUDING}}}"):
            raise Invalid(_REFUSED, "XInclude is not allowed.")
        if depth <= 3:
            self._start_envelope(tag, attributes)
        elif depth > DEPTH_MAX:
            raise Invalid(_REFUSED, f"The message is nested deeper than {DEPTH_MAX} elements.")
        elif depth <= 6 and self._requests:
            self._start_request(depth, tag.rpartition("}")[2], attributes)

    def _start_envelope(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._depth == 1:
            _check_envelope(tag)
        elif self._depth == 2:
            if tag not in (_HEADER, _BODY) or self._part == _BODY:
                raise Invalid(_MALFORMED, "An Envelope must hold an optional Header and then one Body.")
            self._part = tag
        elif self._part == _HEADER:
            is_for_us = attributes.get(_ACTOR, "").strip() in _FOR_THE_NEXT
            if is_for_us and attributes.get(_MUST_UNDERSTAND, "").strip() in {"1", "true"}:
                raise MustUnderstand(
                    "VALIDATION_FAILED",
                    "A SOAP header of the message has mustUnderstand, but this service does not support it.",
                )
        else:
            self._requests += 1
            if tag.rpartition("}")[2] != INTERFACE or self._requests > 1:
                raise Invalid("VALIDATION_FAILED", f"The Body must hold exactly one {INTERFACE}.", INTERFACE)

    def _start_request(self, depth: int, name: str, attributes: Mapping[str, str]) -> None:
        if depth == 4:
            self._section = name
            if name == ITEM:
                self._codes, self._values, self._products = set(), {}, 0
        elif depth == 5:
            self._element = name
            if self._section == ITEM and name == "Product":
                self._products += 1
                if self._products > 1:
                    raise Invalid("VALIDATION_FAILED", f"A {ITEM} must hold exactly one Product.", ITEM)
                written = (name for name in attributes if name.rpartition("}")[2] in _ACTION_CODES)
                self._codes.update(attributes[name].strip() for name in written)
            elif self._section == "MessageHeader" and name in _IDENTIFIERS:
                self._collect(name, depth)
        elif self._element == "Product" and self._section == ITEM and name in MEMBERS:
            self._collect(name, depth)

    def _collect(self, member: str, depth: int) -> None:
        self._member, self._member_depth, self._length = member, depth, 0
        self._collected.clear()

    def data(self, text: str) -> None:
        self.events += 1
        if self._member_depth and self._length <= VALUE_LENGTH_MAX:
            self._collected.append(text)
            self._length += len(text)

    def end(self, tag: str) -> None:
        depth = self._depth
        self._depth = depth - 1
        if depth == self._member_depth:
            self._end_member(self._member)
        elif depth == 4 and self._section == ITEM and self._requests:
            self._gathering.add(self._codes, self._values)

    def _end_member(self, member: str) -> None:
        value = "".join(self._collected)[: VALUE_LENGTH_MAX + 1].strip()
        self._member_depth = 0
        if self._section != ITEM:
            self._identifiers.setdefault(member, value)
        elif member == ACTION_CODE:
            self._codes.add(value)
        elif value:
            self._values.setdefault(member, value)

    def pi(self, target: str, data: str | None = None) -> None:
        raise Invalid(_REFUSED, "Processing instructions are not allowed.")

    def doctype(self, name: str, public_id: str | None, system_id: str | None) -> None:
        raise Invalid(_REFUSED, "A document type declaration is not allowed.")

    def close(self) -> None:
        """Do nothing; the parser calls it at the end."""

    def message(self) -> Message:
        """Return the message after the end of the document."""
        if not self._requests:
            raise Invalid("VALIDATION_FAILED", f"The Body must hold exactly one {INTERFACE}.", INTERFACE)
        named = next((value for name in _IDENTIFIERS if (value := self._identifiers.get(name))), None)
        return self._gathering.message(named)


def _check_attributes(attributes: Mapping[str, str], nsmap: Mapping[str | None, str]) -> None:
    if len(attributes) + len(nsmap) > ATTRIBUTES_MAX:
        raise Invalid(_REFUSED, f"An element of the message has more than {ATTRIBUTES_MAX} attributes.")
    if any(address in attributes for address in _SCHEMA_ADDRESSES):
        raise Invalid(_REFUSED, "A message must not name the address of a schema.")


def _check_envelope(tag: str) -> None:
    namespace, _, name = tag.rpartition("}")
    if name != "Envelope":
        raise Invalid(_MALFORMED, "The message is not a SOAP envelope.")
    if namespace[1:] != ENVELOPE_NAMESPACE:
        raise VersionMismatch(_MALFORMED, "The envelope must be in SOAP 1.1.")
