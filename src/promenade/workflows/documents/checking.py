"""What is wrong with a document in itself: its members, its values, and what it says twice. It needs no database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from typing import Any

import msgspec

from promenade import model
from promenade.errors import PromenadeError
from promenade.model.declare import Kind
from promenade.store.odata.payloads import RowDecoder
from promenade.workflows.authoring.checks import is_plain, value_faults
from promenade.workflows.authoring.shapes import shape_of
from promenade.workflows.authoring.unit import Act, Write
from promenade.workflows.documents.normal import Document, Key, Row, in_order
from promenade.workflows.documents.shape import (
    DEFINITIONS,
    PROMOTIONS,
    STATUS,
    Node,
    Part,
    Reference,
    definition_nodes,
    natural_key,
    node_of,
    statuses,
)
from promenade.workflows.documents.yaml_text import Mistake, Parsed

FAULTS_MAX = 100
"""Faults after which a document is checked no further: whoever mends them comes again."""

ENTRIES_MAX = 10_000
"""Entries of a list; a promotion is written in one unit, which has a bound of its own."""

_ROOT = "/api/v1"
_NUMBERS = frozenset({Kind.INTEGER, Kind.LONG, Kind.DECIMAL})
_JSON = msgspec.json.Encoder(decimal_format="number")


def check_document(parsed: Parsed) -> tuple[Document | None, list[Mistake]]:
    """Return the document in its normal form, or None and its faults, of which there are at most `FAULTS_MAX`."""
    checker = _Checker(parsed)
    value = parsed.value
    if not isinstance(value, Mapping):
        return None, [parsed.at("", "A document is a mapping, such as `code: SUMMER`.")]
    own = {key: one for key, one in value.items() if key != DEFINITIONS}
    content, definitions = None, {}
    with suppress(_Enough):
        content = checker.node(node_of(PROMOTIONS), own, "", among=(DEFINITIONS,))
        definitions = checker.definitions(value.get(DEFINITIONS))
    if checker.faults or content is None:
        return None, sorted(checker.faults, key=lambda fault: fault.line)
    return Document(content, definitions, parsed), []


def check_together(documents: Sequence[Document]) -> list[Mistake]:
    """Return what is wrong between documents: two of one promotion, and rows that are defined differently."""
    faults: list[Mistake] = []
    seen: dict[tuple[str | None, str], Document] = {}
    defined: dict[Key, tuple[Document, Row]] = {}
    for one in documents:
        other = seen.setdefault(one.identity, one)
        if other is not one:
            member = "name" if one.identity[0] is None else "code"
            message = f"{_place(other, member)} is of the same promotion, {one.name}."
            faults.append(one.parsed.at(member, message))
        for key, row in one.definitions.items():
            first, said = defined.setdefault(key, (one, row))
            if said != row:
                faults.append(one.parsed.at(row.path, f"{_place(first, said.path)} defines {key[1]} differently."))
    return faults


def _place(document: Document, path: str) -> str:
    fault = document.parsed.at(path, "")
    return f"{fault.source}, line {fault.line},"


class _Enough(Exception):
    """So much is wrong that the rest does not matter."""


class _Checker:
    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self.faults: list[Mistake] = []

    def definitions(self, raw: Any) -> dict[Key, Row]:
        """Check the rows that a document defines."""
        found: dict[Key, Row] = {}
        nodes = definition_nodes()
        for key, rows in self._members(raw, DEFINITIONS, nodes).items():
            node = nodes[key]
            code = natural_key(node.entity).wire
            for row in self._list(node, rows, f"{DEFINITIONS}/{key}"):
                if found.setdefault((node.set_name, str(row.get(code))), row) is not row:
                    self._tell(row.path, f"{row.get(code)} is defined twice.")
        return found

    def node(self, node: Node, raw: Any, path: str, *, among: Iterable[str] = ()) -> Row | None:
        """Return a row in its normal form; None if it is no mapping. ``among``: members that are checked elsewhere."""
        before = len(self.faults)
        known = [*node.values, *node.references, *node.parts, *among]
        members = self._members(raw, path, known)
        if not isinstance(raw, Mapping):
            return None
        row = self._values(node, {key: members[key] for key in node.values if key in members}, path)
        for key, reference in node.references.items():
            code = self._code(reference, members.get(key), _below(path, key))
            if code is not None:
                row[key] = code
        if len(self.faults) == before:
            self._check_values(node, row, path)
        for key, part in node.parts.items():
            found = self._part(part, members.get(key), _below(path, key))
            if found is not None and found != []:
                row[key] = found
        return row

    def _part(self, part: Part, raw: Any, path: str) -> Any:
        if raw is None:
            return None
        if part.many:
            return in_order(part.node, self._list(part.node, raw, path))
        return self.node(part.node, raw, path)

    def _list(self, node: Node, raw: Any, path: str) -> list[Row]:
        if not isinstance(raw, list):
            self._tell(path, "This must be a list.")
            return []
        if len(raw) > ENTRIES_MAX:
            self._tell(path, f"A list has at most {ENTRIES_MAX} entries, and this one has {len(raw)}.")
            return []
        if node.code is None:
            rows = [self.node(node, one, f"{path}/{place}") for place, one in enumerate(raw)]
            return [row for row in rows if row is not None]
        found: dict[str, Row] = {}
        for place, one in enumerate(raw):
            code = self._code(node.code, one, f"{path}/{place}")
            if code in found:
                self._tell(f"{path}/{place}", f"{code} is in the list twice.")
            elif code is not None:
                found[code] = Row({node.code.key: code}, path=f"{path}/{place}")
        return list(found.values())

    def _members(self, raw: Any, path: str, known: Iterable[str]) -> dict[str, Any]:
        if raw is None:
            return {}
        if not isinstance(raw, Mapping):
            self._tell(path, "This must be a mapping of members to values.")
            return {}
        names = list(known)
        for key in raw:
            if key not in names:
                near = get_close_matches(key, names, 1)
                hint = f" Did you mean {near[0]}?" if near else ""
                self._tell(_below(path, key), f"There is no such member.{hint}")
        return {key: one for key, one in raw.items() if key in names}

    def _values(self, node: Node, raw: Mapping[str, Any], path: str) -> Row:
        """Return typed values without those that equal their defaults; values are decoded as the public API does."""
        wished = raw.get(STATUS)
        if STATUS in raw and wished is not None and wished not in statuses(node.set_name):
            names = " or ".join(statuses(node.set_name))
            self._tell(_below(path, STATUS), f"A document can wish for {names}, not for {wished}.")
        quoted = {key for key, one in raw.items() if isinstance(one, str) and node.values[key].kind in _NUMBERS}
        for key in quoted:
            self._tell(_below(path, key), "This must be a number, without quotes.")
        typed: dict[str, Any] = {}
        try:
            typed = _decoder(node.set_name).decode(
                _JSON.encode({key: one for key, one in raw.items() if key not in quoted})
            )
        except PromenadeError as error:
            for one in error.details or (error,):
                message = one.message.removeprefix(f"{one.target}: ")
                self._tell(_below(path, one.target), message, _numeral(raw.get(one.target or "")))
        kept = {key: typed[key] for key in node.values if typed.get(key) is not None}
        return Row({key: one for key, one in kept.items() if one != node.values[key].default}, path=path)

    def _check_values(self, node: Node, row: Row, path: str) -> None:
        shape = shape_of(node.set_name)
        after = {**shape.defaults, **{node.values[key].name: one for key, one in row.items() if key in node.values}}
        after |= {one.column: row.get(one.key) for one in node.references.values() if one.is_required}
        told = {one.column for one in node.references.values()}
        after |= {link.column: "" for link in shape.required_links if link.column not in told}  # what it is part of
        write = Write(shape, Act.CREATE, "", f"{path}/" if path else "", None, after)
        for one in value_faults(write):
            target = (one.target or "").removesuffix("_ID")
            self._tell(target, one.message, self._near_codes(node, row, target.rpartition("/")[2]))

    def _near_codes(self, node: Node, row: Row, key: str) -> str:
        """Return what helps whoever has misspelt a code of a code list."""
        field = node.values.get(key)
        if field is None or field.code_list is None:
            return ""
        near = get_close_matches(str(row.get(key)), model.code_list(field.code_list).codes)
        return f" Did you mean {' or '.join(near)}?" if near else ""

    def _code(self, reference: Reference, raw: Any, path: str) -> str | None:
        if raw is None:
            return None
        if not isinstance(raw, str):
            self._tell(path, f"This must be {reference.natural_key.wire} of {reference.target}.", _numeral(raw))
            return None
        if not is_plain(raw):
            self._tell(path, "It holds a character that cannot be stored.")
        return raw

    def _tell(self, path: str, message: str, hint: str = "") -> None:
        self.faults.append(self._parsed.at(path, message + hint))
        if len(self.faults) >= FAULTS_MAX:
            raise _Enough


def _numeral(value: Any) -> str:
    """Return what helps whoever has written a text of digits without quotes."""
    is_number = not isinstance(value, bool | str | list | Mapping | None)
    return f' If it is a text, write it in quotes: "{value}".' if is_number else ""


def _below(path: str, name: str | None) -> str:
    return "/".join(one for one in (path, name) if one)


@cache
def _decoder(set_name: str) -> RowDecoder:
    return RowDecoder(set_name, _ROOT)
