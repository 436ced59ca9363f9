"""YAML as documents use it: what is written is read, in any reader, and what could surprise is refused by line."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from promenade.workflows.documents.yaml_text import BYTES_MAX, Malformed, read_documents, write_document

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30) | st.text(
    "ab :-#\n'\"|>&*!%@`{}[],?0123456789.eE~\t\u2028", max_size=12
)
SCALARS = TEXTS | st.integers(-(10**9), 10**9) | st.booleans() | st.decimals(-(10**6), 10**6, places=2, allow_nan=False)
KEYS = st.from_regex(r"[a-z][A-Za-z]{0,8}", fullmatch=True)
VALUES = st.recursive(
    SCALARS, lambda below: st.dictionaries(KEYS, below | st.lists(below.filter(lambda one: not isinstance(one, list))))
)


def read(text: str) -> Any:
    (parsed,) = read_documents(text.encode(), "a.yaml")
    return parsed.value


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_what_is_written_is_read(document: dict[str, Any]) -> None:
    text = write_document({key: plain(one) for key, one in document.items()})
    assert read(text) == document


@given(TEXTS)
def test_other_readers_read_the_same_texts(value: str) -> None:
    assert yaml.safe_load(write_document({"a": [value], "b": value})) == {"a": [value], "b": value}


def plain(value: Any) -> Any:
    """Return a value with numbers as they are written: without an exponent."""
    if isinstance(value, Decimal):
        return Decimal(format(value, "f"))
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NO", "NO"), ("yes", "yes"), ("on", "on"), ("0815", "0815"), ("22:00", "22:00"), ("1_000", "1_000"),
        ("2026-01-01", "2026-01-01"), ("1e3", "1e3"), ("0x1F", "0x1F"), (".5", ".5"), ("4711", 4711),
        ("-3", -3), ("12.50", Decimal("12.50")), ("0.1", Decimal("0.1")), ("~", None), ("", None), ("true", True),
        ("'true'", "true"), ('"12.50"', "12.50"), ("9" * 31, "9" * 31),
    ],
)  # fmt: skip
def test_plain_values_are_what_they_look_like(text: str, value: Any) -> None:
    found = read(f"a: {text}")["a"]
    assert found == value
    assert type(found) is type(value)


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (BOMB, 1, "Anchors"),
        ("a: 1\nb: *a\n", 2, ""),
        ("a: 1\nb: !!python/object/apply:os.system [ls]\n", 2, "Tags"),
        ("a: !x 1\n", 1, "Tags"),
        ("a: 1\nb:\n  c: 1\n  c: 2\n", 4, "b/c: It is there twice"),
        ("a: 1\n? [x]\n: 2\n", 2, "key"),
        ("a: 1\nb: {\n", 3, "not YAML"),
        ("a: 1\nb: c: d\n", 2, "not YAML"),
        ("a: " + "[" * 40 + "]" * 40, 1, "levels"),
        ("a: \x01", 1, "character"),
    ],
)
def test_what_could_surprise_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_documents(text.encode(), "a.yaml")
    assert str(caught.value).startswith(f"a.yaml, line {line}: ")
    assert words in str(caught.value)


def test_a_merge_key_is_a_key_like_any_other() -> None:
    assert read("<<: {a: 1}\n") == {"<<": {"a": 1}}


def test_a_file_is_limited_and_utf_8() -> None:
    with pytest.raises(Malformed, match="bytes"):
        read_documents(b"#" * (BYTES_MAX + 1), "a.yaml")
    with pytest.raises(Malformed, match="line 2: The file is not UTF-8"):
        read_documents(b"a: 1\nb: \xff\n", "a.yaml")


def test_a_file_may_hold_several_documents_and_empty_ones() -> None:
    found = read_documents(b"# nothing\n---\na: 1\n---\n---\nb:\n  c: 2\n", "a.yaml")
    assert [(one.value, one.lines[next(iter(one.value))]) for one in found] == [({"a": 1}, 3), ({"b": {"c": 2}}, 6)]


def test_a_text_of_several_lines_is_written_as_such() -> None:
    assert write_document({"a": "one\n\ntwo: 2\n", "b": "x\ny"}) == "a: |\n  one\n\n  two: 2\nb: |-\n  x\n  y\n"
