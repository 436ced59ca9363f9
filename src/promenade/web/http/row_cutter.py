"""Cuts rows out of a JSON text such as ``{"header": {...}, "rows": [{...}, {...}]}`` without building objects.

The decoder skips one value at a time and reports the position of the next. So a text of 64 MiB costs one pass over its
bytes and two numbers per row, and it can be cut in small steps between other work of the process. The rows of a short,
valid text are cut at once, which takes a millisecond per MiB.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterator

import msgspec

from promenade.errors import Invalid, TooLarge

ROW_BYTES_MAX = 10 * 2**20
"""A row may be as long as the body of a single create."""

_MEMBER_BYTES_MAX = 64 * 2**10  # limit of every other member
_MEMBERS_MAX = 100
_STEP_BYTES = 256 * 2**10  # between two pauses: about a millisecond
_QUICK_BYTES_MAX = 4 * 2**20
_QUICK_VALUES_MAX = 400_000  # values in the text: rows that are not counted yet may use up to 20 MiB
_VALUE = msgspec.json.Decoder(msgspec.Raw)
_VALUES = msgspec.json.Decoder(list[msgspec.Raw])
_SPACES = b" \t\r\n"
_NAME = msgspec.json.Decoder(str)
_SPACE = re.compile(rb"[ \t\r\n]*")
_SPACE_BYTES = 64 * 2**10  # scanned at a time
_REASON = re.compile(r"(?:JSON is malformed: )?(.*?)(?: \(byte (\d+)\))?", re.DOTALL)
_MORE = "trailing characters"
_OPEN, _CLOSE, _BEGIN, _END, _COMMA, _COLON, _QUOTE = b'{}[],:"'


class RowCutter:
    """Cuts the rows of the member ``rows`` out of ``text``; ``others`` are the names of the other allowed members.

    After `cut`, ``members`` has the JSON texts of the other members; annotations (names with an ``@``) are left out.
    """

    def __init__(
        self,
        text: memoryview,
        rows: str,
        others: Collection[str],
        *,
        rows_max: int,
        forget: Callable[[int], None] = lambda until: None,
    ) -> None:
        self.members: dict[str, bytes] = {}
        self._text = text
        self._rows = rows
        self._others = others
        self._rows_max = rows_max
        self._forget = forget
        self._spans = array("Q")
        self._values: list[msgspec.Raw] = []  # rows that were cut at once
        self._has_rows = False
        self._at = 0
        self._paused_at = 0
        self._forgotten_at = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._values) or len(self._spans) // 2

    def __iter__(self) -> Iterator[bytes]:
        """Yield the JSON text of each row, copied on demand."""
        yield from map(bytes, self._values)
        seen = 0
        for place in range(0, len(self._spans), 2):
            start, end = self._spans[place], self._spans[place + 1]
            yield bytes(self._text[start:end]).rstrip()
            if end - seen > _STEP_BYTES:
                self._forget(end)
                seen = end

    def cut(self) -> Iterator[None]:
        """Cut in steps of about a millisecond, one per iteration.

        Raises Invalid (MALFORMED_BODY, UNKNOWN_PROPERTY; for rows that are missing, null, not a list or empty REQUIRED,
        NOT_NULLABLE, TYPE_MISMATCH, EMPTY) and TooLarge (TOO_MANY_ROWS, ROW_TOO_LARGE).
        """
        self._expect(_OPEN, "The body must be a JSON object.")
        if self._next() == _CLOSE:
            self._at += 1
        else:
            yield from self._cut_members()
        if self._next() is not None:
            raise self._malformed("nothing may follow the object", self._at)
        if not self._has_rows:
            raise Invalid("REQUIRED", f"{self._rows} is missing.", self._rows)
        if not len(self):
            raise Invalid("EMPTY", f"{self._rows} must hold at least one row.", self._rows)

    def _cut_members(self) -> Iterator[None]:
        seen: set[str] = set()
        while True:
            if self._next() != _QUOTE:
                raise self._malformed("expected the name of a member", self._at)
            name = self._name()
            self._expect(_COLON, "expected a colon")
            if name in seen or len(seen) == _MEMBERS_MAX:
                what = "occurs twice" if name in seen else "is one more than allowed"
                raise Invalid("MALFORMED_BODY", f"The member {name[:80]} {what}.", name[:80])
            seen.add(name)
            if name == self._rows:
                yield from self._cut_rows()
            else:
                self._cut_other(name)
            yield from self._pause()
            if self._after("}") == _CLOSE:
                return

    def _cut_other(self, name: str) -> None:
        is_annotation = "@" in name
        if not is_annotation and name not in self._others:
            raise Invalid("UNKNOWN_PROPERTY", f"The body has no member {name[:80]}.", name[:80])
        start = self._value_start()
        end = self._skip(_MEMBER_BYTES_MAX)
        if end is None:
            raise Invalid("MALFORMED_BODY", f"{name[:80]} is longer than {_MEMBER_BYTES_MAX // 1024} KiB.", name[:80])
        if not is_annotation:
            self.members[name] = bytes(self._text[start:end])

    def _cut_rows(self) -> Iterator[None]:
        self._has_rows = True
        start = self._value_start()
        if self._text[start] != _BEGIN:
            self._refuse_rows(start)
        if self._cut_at_one_go(start):
            return
        self._at += 1
        if self._next() == _END:
            self._at += 1
            return
        while True:
            if len(self) == self._rows_max:
                message = f"{self._rows} holds more than {self._rows_max} rows: send them in several requests."
                raise TooLarge("TOO_MANY_ROWS", message, self._rows)
            row_start = self._value_start()
            end = self._skip(ROW_BYTES_MAX)
            if end is None:
                target = f"{self._rows}/{len(self)}"
                message = f"Row {len(self) + 1} is longer than {ROW_BYTES_MAX // 2**20} MiB."
                raise TooLarge("ROW_TOO_LARGE", message, target)
            self._spans.extend((row_start, end))
            yield from self._pause()
            if self._after("]") == _END:
                return

    def _cut_at_one_go(self, start: int) -> bool:
        """Cut the rows that begin at ``start`` if they are the last member of a short, valid text.

        INVARIANT: a text that decodes as a list of values gives the same rows either way; any other is left to the slow
        path.
        """
        if len(self._text) - start > _QUICK_BYTES_MAX:
            return False
        text = bytes(self._text[start:]).rstrip(_SPACES).removesuffix(b"}").rstrip(_SPACES)
        if text.count(b",") >= _QUICK_VALUES_MAX:
            return False
        try:
            values = _VALUES.decode(text)
        except (msgspec.DecodeError, RecursionError):
            return False
        if not 0 < len(values) <= self._rows_max:
            return False
        self._values = values
        self._at = start + len(text)
        return True

    def _refuse_rows(self, start: int) -> None:
        if bytes(self._text[start : start + 4]) == b"null":
            raise Invalid("NOT_NULLABLE", f"{self._rows} must not be null.", self._rows)
        raise Invalid("TYPE_MISMATCH", f"{self._rows} must be a list.", self._rows)

    # ---- the text ----

    def _pause(self) -> Iterator[None]:
        if self._at - self._paused_at > _STEP_BYTES:
            self._paused_at = self._at
            self._release_read()
            yield

    def _release_read(self) -> None:
        """Release the memory of the text that has been passed, from time to time."""
        if self._at - self._forgotten_at > _STEP_BYTES:
            self._forgotten_at = self._at
            self._forget(self._at)

    def _next(self) -> int | None:
        """Move to the next non-space character and return it; None: end of text."""
        while True:
            stop = min(self._at + _SPACE_BYTES, len(self._text))
            found = _SPACE.match(self._text, self._at, stop)
            self._at = self._at if found is None else found.end()
            if self._at < stop:
                return self._text[self._at]
            if stop == len(self._text):
                return None
            self._release_read()  # white space alone may be as long as a body

    def _expect(self, wanted: int, otherwise: str) -> None:
        found = self._next()
        if found != wanted:
            if wanted == _OPEN:
                if found is not None:
                    self._check_value()
                raise Invalid("MALFORMED_BODY", otherwise if found is not None else "The body is empty.")
            raise self._malformed(otherwise, self._at)
        self._at += 1

    def _after(self, closing: str) -> int:
        """Step over the comma or the ``closing`` character after a value, and return which of the two it was."""
        found = self._next()
        if found is None or (found != _COMMA and found != ord(closing)):
            raise self._malformed(f"expected a comma or {closing}", self._at)
        self._at += 1
        return found

    def _value_start(self) -> int:
        if self._next() is None:
            raise self._malformed("it ends too early", self._at)
        return self._at

    def _name(self) -> str:
        start = self._at
        end = self._skip(_MEMBER_BYTES_MAX)
        try:
            name = _NAME.decode(self._text[start : start if end is None else end])
        except (msgspec.MsgspecError, UnicodeError):
            raise self._malformed("the name of a member is malformed", start) from None
        return name

    def _check_value(self) -> None:
        """Raise the JSON error of a body that is not an object, if it has one."""
        self._skip(_MEMBER_BYTES_MAX)

    def _skip(self, bytes_max: int) -> int | None:
        """Move to the position after the value here and return it; None for a value longer than ``bytes_max``."""
        start = self._at
        stop = min(start + bytes_max + 1, len(self._text))
        is_cut = stop < len(self._text)
        try:
            _VALUE.decode(self._text[start:stop])
        except RecursionError:
            raise Invalid("MALFORMED_BODY", "The body is nested too deeply.") from None
        except msgspec.DecodeError as error:
            found = _REASON.fullmatch(str(error))
            reason, byte = (found[1], found[2]) if found is not None else (str(error), None)
            if reason == _MORE and byte is not None:
                self._at = start + int(byte) - 1
                return self._at
            if byte is None and is_cut:  # the value continues after the cut
                return None
            raise self._malformed(reason.lower(), None if byte is None else start + int(byte)) from None
        if is_cut:
            return None
        self._at = stop
        return stop

    def _malformed(self, reason: str, at: int | None) -> Invalid:
        where = "" if at is None else f" (byte {at})"
        return Invalid("MALFORMED_BODY", f"The body is not JSON: {reason}{where}.")
