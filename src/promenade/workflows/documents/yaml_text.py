"""YAML as documents use it: no anchors, aliases, tags or repeated keys; texts, numbers, true, false and null.

It is read from the parser's events, so that nothing is constructed, nothing grows beyond its text, and every fault has
its line. ``yes``, ``NO``, ``0815`` and ``22:00`` are texts. Numbers with a fraction are exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import yaml

from promenade.errors import Invalid

BYTES_MAX = 16 * 1024 * 1024
"""Of one file."""

DEPTH_MAX = 16

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,29})")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}\.[0-9]{1,30}")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with a document, and where: ``line`` of the file ``source``, ``path`` below the document."""

    source: str
    line: int
    path: str
    message: str

    def __str__(self) -> str:
        is_named = not self.path or self.message.startswith(self.path)
        return f"{self.source}, line {self.line}: {'' if is_named else f'{self.path}: '}{self.message}"


class Malformed(Invalid):
    """A text that is not YAML as documents use it."""

    def __init__(self, fault: Mistake) -> None:
        super().__init__("MALFORMED_DOCUMENT", str(fault))
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document as it was written, with the line of each of its values by path: ``conditions/0/value``."""

    source: str
    value: Any
    lines: Mapping[str, int]

    def at(self, path: str, message: str) -> Mistake:
        """Return a fault at ``path``, or at the nearest one above that the document has."""
        above = path
        while above and above not in self.lines:
            above = above.rpartition("/")[0]
        return Mistake(self.source, self.lines.get(above, 1), path, message)


def read_documents(text: bytes, source: str) -> list[Parsed]:
    """Return the documents of a file, without empty ones. Raises Malformed."""
    if len(text) > BYTES_MAX:
        raise Malformed(Mistake(source, 1, "", f"The file has more than {BYTES_MAX} bytes."))
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise Malformed(Mistake(source, line, "", "The file is not UTF-8.")) from None
    reader = _Reader(source, decoded)
    try:
        return [one for one in reader.documents() if one.value is not None]
    except yaml.MarkedYAMLError as error:
        line = getattr(error.problem_mark, "line", 0) + 1
        raise Malformed(Mistake(source, line, "", f"This is not YAML: {error.problem}.")) from None
    except yaml.YAMLError:
        raise Malformed(Mistake(source, 1, "", "The file holds a character that YAML does not allow.")) from None


@dataclass(slots=True)
class _Reader:
    source: str
    text: str
    lines: dict[str, int] = field(default_factory=dict)

    def documents(self) -> Iterator[Parsed]:
        events = iter(yaml.parse(self.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.lines = {}
                value = self._node(events, next(events), "", 0)
                yield Parsed(self.source, value, self.lines)

    def _node(self, events: Iterator[Any], event: Any, path: str, depth: int) -> Any:
        self.lines[path] = event.start_mark.line + 1
        self._refuse_names(event, path)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event.value) if event.implicit[0] else event.value
        if depth == DEPTH_MAX:
            raise self._malformed(event, path, f"There are more than {DEPTH_MAX} levels.")
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, path, depth + 1)
        return self._mapping(events, path, depth + 1)

    def _refuse_names(self, event: Any, path: str) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self._malformed(event, path, "Anchors and aliases are not allowed: write out what is meant.")
        if event.tag is not None:
            raise self._malformed(event, path, f"Tags such as {event.tag} are not allowed.")

    def _sequence(self, events: Iterator[Any], path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            found.append(self._node(events, event, _below(path, len(found)), depth))
        return found

    def _mapping(self, events: Iterator[Any], path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._key(event, path, found)
            found[key] = self._node(events, next(events), _below(path, key), depth)
            self.lines[_below(path, key)] = event.start_mark.line + 1
        return found

    def _key(self, event: Any, path: str, found: Mapping[str, Any]) -> str:
        self._refuse_names(event, path)
        if not isinstance(event, yaml.ScalarEvent):
            raise self._malformed(event, path, "A key must be a text.")
        key = str(event.value)
        if key in found:
            raise self._malformed(event, _below(path, key), "It is there twice.")
        return key

    def _malformed(self, event: Any, path: str, message: str) -> Malformed:
        return Malformed(Mistake(self.source, event.start_mark.line + 1, path, message))


def _below(path: str, name: object) -> str:
    return f"{path}/{name}" if path else str(name)


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return Decimal(text) if _DECIMAL.fullmatch(text) else text


# --- writing ----------------------------------------------------------------------------------------------------------

_PLAIN = re.compile(r"[^\W\d_][\w.()%&+/'-]*(?: [\w.()%&+/'-]+)*")
_RESERVED = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What YAML does not print, or takes for the end of a line.
_UNPRINTABLE = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_QUOTED = re.compile(f'["\\\\]|{_UNPRINTABLE.pattern}')


def write_document(document: Mapping[str, Any]) -> str:
    """Return a document of texts, numbers, booleans, lists and mappings as YAML; reading it returns the same."""
    return "".join(f"{line}\n" for line in _mapping_lines(document))


def _mapping_lines(mapping: Mapping[str, Any]) -> Iterator[str]:
    for key, value in mapping.items():
        if isinstance(value, Mapping) and value:
            yield f"{key}:"
            yield from (f"  {line}" for line in _mapping_lines(value))
        elif isinstance(value, list) and value:
            yield f"{key}:"
            yield from (f"  {line}" for line in _list_lines(value))
        elif isinstance(value, str) and _is_block(value):
            yield f"{key}: {'|' if value.endswith(chr(10)) else '|-'}"
            yield from (f"  {line}" if line else "" for line in value.removesuffix("\n").split("\n"))
        else:
            yield f"{key}: {_written(value)}"


def _list_lines(values: list[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping) and value:
            lines = _mapping_lines(value)
            yield f"- {next(lines)}"
            yield from (f"  {line}" if line else "" for line in lines)
        else:
            yield f"- {_written(value)}"


def _written(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{}"
    return "[]" if isinstance(value, list) else str(value)


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED and not _UNPRINTABLE.search(text):
        return text
    return f'"{_QUOTED.sub(_escaped, text)}"'


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _ESCAPES.get(found[0]) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def _is_block(text: str) -> bool:
    """Return whether a text of several lines can be written as it is, and be read without doubt."""
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) > 1
        and all(not _UNPRINTABLE.search(line) and not line.endswith(" ") for line in lines)
        and bool(lines[0] and lines[-1])
        and not lines[0].startswith(" ")
    )
