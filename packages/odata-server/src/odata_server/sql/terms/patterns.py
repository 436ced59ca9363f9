"""Regular expressions with a bounded cost on every text, for ``matchesPattern``.

Supported are characters, classes, groups, alternatives, anchors and repetitions: what a finite automaton can match in
time proportional to the text. Back references, look-around and similar are refused. PostgreSQL gets a rewritten
pattern; on SQLite our own automaton, built lazily, matches the text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from odata_server.errors import ODataError, bad_request

__all__ = ["automaton", "checked"]

PATTERN_LENGTH_MAX = 200
_STATES_MAX = 1000
_REPEAT_MAX = 255  # limit of PostgreSQL
_CACHED_MAX = 5000
_LAST = 0x10FFFF

Ranges = tuple[tuple[int, int], ...]
_DIGITS: Ranges = ((48, 57),)
_WORDS: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACES: Ranges = (
    *((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F)),
    *((0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
_LINE_ENDS: Ranges = ((10, 10), (13, 13), (0x2028, 0x2029))
_CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11}


def _others(ranges: Ranges) -> Ranges:
    found, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    return (*found, (start, _LAST)) if start <= _LAST else tuple(found)


_CLASSES: dict[str, Ranges] = {
    "d": _DIGITS, "w": _WORDS, "s": _SPACES, "D": _others(_DIGITS), "W": _others(_WORDS), "S": _others(_SPACES)
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of a pattern.

    It is ``one`` character of ``ranges``; a ``row`` or ``either`` of parts; a part ``repeat``ed; ``begin`` or ``end``.
    """

    kind: str
    parts: tuple[_Node, ...] = ()
    ranges: Ranges = ()
    least: int = 0
    most: int | None = None


def _refused(why: str) -> ODataError:
    return bad_request("PATTERN_NOT_SUPPORTED", f"matchesPattern does not take this pattern: {why}.")


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def pattern(self) -> _Node:
        found = self._either(0)
        if self._at < len(self._text):
            raise _refused("a ')' has no '(' before it")
        return found

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _either(self, depth: int) -> _Node:
        if depth > 20:
            raise _refused("its groups are nested more than 20 deep")
        parts = [self._row(depth)]
        while self._take("|"):
            parts.append(self._row(depth))
        return parts[0] if len(parts) == 1 else _Node("either", tuple(parts))

    def _row(self, depth: int) -> _Node:
        parts = []
        while self._peek() not in {"", "|", ")"}:
            parts.append(self._repeated(self._one(depth)))
        return _Node("row", tuple(parts))

    def _one(self, depth: int) -> _Node:
        if self._take("("):
            if self._peek() == "?" and not self._take("?:"):
                raise _refused("of the groups that begin with '(?' only '(?:' is supported")
            found = self._either(depth + 1)
            if not self._take(")"):
                raise _refused("a '(' is not closed")
            return found
        letter = self._peek()
        self._at += 1
        if letter in "*+?{":
            raise _refused(f"there is nothing to repeat before {letter!r}")
        if letter in "^$":
            return _Node("begin" if letter == "^" else "end")
        if letter == ".":
            return _Node("one", ranges=_others(_LINE_ENDS))
        return _Node("one", ranges=self._class() if letter == "[" else self._ranges(letter))

    def _ranges(self, letter: str) -> Ranges:
        if letter != "\\":
            return ((ord(letter), ord(letter)),)
        escaped = self._peek()
        self._at += 1
        if escaped in _CLASSES:
            return _CLASSES[escaped]
        code = _CONTROLS.get(escaped, ord(escaped) if escaped else 0)
        if not escaped or (escaped.isalnum() and escaped not in _CONTROLS):
            raise _refused(f"it does not support '\\{escaped}'")
        return ((code, code),)

    def _class(self) -> Ranges:
        negated = self._take("^")
        found: list[tuple[int, int]] = []
        while not self._take("]"):
            low = self._class_item()
            is_range = self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in {"]", ""}
            if is_range and len(low) == 1 and low[0][0] == low[0][1]:
                self._at += 1
                high = self._class_item()
                if len(high) != 1 or high[0][0] != high[0][1] or high[0][0] < low[0][0]:
                    raise _refused("a range in square brackets is out of order")
                low = ((low[0][0], high[0][0]),)
            found += low
        return _others(tuple(found)) if negated else tuple(found)

    def _class_item(self) -> Ranges:
        letter = self._peek()
        self._at += 1
        if not letter:
            raise _refused("a '[' is not closed")
        return self._ranges(letter)

    def _repeated(self, part: _Node) -> _Node:
        bounds = self._bounds()
        if bounds is None:
            return part
        self._take("?")  # a lazy repetition matches the same texts
        if part.kind in {"begin", "end"} or self._peek() in {"*", "+", "?", "{"}:
            raise _refused("a repetition is repeated")
        return _Node("repeat", (part,), least=bounds[0], most=bounds[1])

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return bounds
        if not self._take("{"):
            return None
        inside, closed, _ = self._text[self._at :].partition("}")
        self._at += len(inside) + 1
        least, comma, most = inside.partition(",")
        if not closed or not _is_count(least) or not (most == "" or _is_count(most)):
            raise _refused("a '{' is not a number of repetitions up to 255")
        upper = int(least) if not comma else int(most) if most else None
        if upper is not None and upper < int(least):
            raise _refused("a number of repetitions is out of order")
        return int(least), upper


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= _REPEAT_MAX


def _written(node: _Node) -> str:
    """Return the pattern in PostgreSQL's syntax."""
    match node.kind:
        case "begin" | "end":
            return "^" if node.kind == "begin" else "$"
        case "one":
            inside = "".join(f"\\U{low:08X}-\\U{high:08X}" for low, high in node.ranges)
            return f"[{inside}]" if inside else "(?!)"
        case "row":
            return "".join(map(_written, node.parts))
        case "either":
            return f"(?:{'|'.join(map(_written, node.parts))})"
    bounds = f"{{{node.least},{'' if node.most is None else node.most}}}"
    return f"(?:{_written(node.parts[0])}){bounds}"


@dataclass(slots=True)
class Automaton:
    """A non-deterministic automaton with a cache of the state sets reached so far."""

    steps: list[tuple[str, Ranges, tuple[int, ...]]] = field(default_factory=list)
    _known: dict[tuple[frozenset[int], str], frozenset[int]] = field(default_factory=dict)

    def matches(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in a text."""
        current = self._closed({0}, begin=True)
        again = self._closed({0})
        known = self._known
        for letter in text:
            if 1 in current:
                return True
            following = known.get((current, letter))
            if following is None:
                following = self._after(current, letter) | again
                if len(known) >= _CACHED_MAX:
                    known.clear()
                known[current, letter] = following
            current = following
        return 1 in current or 1 in self._closed(current, end=True)

    def _after(self, states: frozenset[int], letter: str) -> frozenset[int]:
        code = ord(letter)
        taken = {
            to
            for state in states
            if self.steps[state][0] == "one" and any(low <= code <= high for low, high in self.steps[state][1])
            for to in self.steps[state][2]
        }
        return self._closed(taken)

    def _closed(self, states: set[int] | frozenset[int], *, begin: bool = False, end: bool = False) -> frozenset[int]:
        found, waiting = set(states), list(states)
        while waiting:
            kind, _, following = self.steps[waiting.pop()]
            if kind == "free" or (kind == "begin" and begin) or (kind == "end" and end):
                fresh = [to for to in following if to not in found]
                found.update(fresh)
                waiting += fresh
        return frozenset(found)

    def add(self, kind: str, ranges: Ranges, *following: int) -> int:
        """Add a state. Raise 400 if there are too many."""
        if len(self.steps) >= _STATES_MAX:
            raise _refused(f"it takes more than {_STATES_MAX} states")
        self.steps.append((kind, ranges, following))
        return len(self.steps) - 1


def _build(node: _Node, made: Automaton, to: int) -> int:
    """Add the states that match ``node`` and continue at ``to``; return the first of them."""
    build: Callable[[_Node, int], int] = lambda one, then: _build(one, made, then)  # noqa: E731
    match node.kind:
        case "one" | "begin" | "end":
            return made.add(node.kind, node.ranges, to)
        case "row":
            for part in reversed(node.parts):
                to = build(part, to)
            return to
        case "either":
            return made.add("free", (), *(build(part, to) for part in node.parts))
    part = node.parts[0]
    if node.most is None:
        loop = made.add("free", (), to)
        made.steps[loop] = ("free", (), (to, build(part, loop)))
        to = loop
    else:
        beyond = to
        for _ in range(node.most - node.least):
            to = made.add("free", (), beyond, build(part, to))
    for _ in range(node.least):
        to = build(part, to)
    return to


@lru_cache(maxsize=64)
def automaton(pattern: str) -> Automaton:
    """Return the automaton of a pattern. Raise 400 PATTERN_NOT_SUPPORTED."""
    made = Automaton([("free", (), ()), ("match", (), ())])
    start = _build(_Reader(pattern).pattern(), made, 1)
    made.steps[0] = ("free", (), (start,))
    return made


def checked(pattern: str) -> str:
    """Return the pattern in PostgreSQL's syntax. Raise 400 PATTERN_NOT_SUPPORTED if it is not cheap to match."""
    if len(pattern) > PATTERN_LENGTH_MAX:
        raise _refused(f"it is longer than {PATTERN_LENGTH_MAX} characters")
    automaton(pattern)
    return _written(_Reader(pattern).pattern())
