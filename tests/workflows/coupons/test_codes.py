"""Codes match the format of their type, detect typing errors, and use an injected random source."""

from __future__ import annotations

import itertools
import secrets
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promenade.store.coupons.pool import CodeShape
from promenade.worker.rounds import SecretDraw
from promenade.workflows.coupons.codes import DEFAULT_SHAPE, check_character, generate_codes

ALPHABET = DEFAULT_SHAPE.alphabet


def test_a_code_has_its_prefix_length_suffix_and_alphabet() -> None:
    places = itertools.count()

    def draw(alphabet: Sequence[str]) -> str:
        return alphabet[next(places) % len(alphabet)]

    shape = CodeShape("SPRING-", "-26", 5, "ABC", check_character=False)
    assert generate_codes(shape, 2, draw) == ["SPRING-ABCAB-26", "SPRING-CABCA-26"]


def test_without_a_configuration_a_code_has_twelve_characters_without_look_alikes() -> None:
    codes = set(generate_codes(None, 200, secrets.choice))
    assert len(codes) == 200
    assert all(len(code) == 12 and not set(code) & set("01IO") for code in codes)


@given(st.integers(2, len(ALPHABET)), st.data())
def test_the_check_character_detects_every_single_mistake(size: int, data: st.DataObject) -> None:
    alphabet = ALPHABET[:size]
    drawn = data.draw(st.text(alphabet, min_size=1, max_size=20))
    place = data.draw(st.integers(0, len(drawn) - 1))
    other = data.draw(st.sampled_from([one for one in alphabet if one != drawn[place]]))
    mistyped = drawn[:place] + other + drawn[place + 1 :]
    assert check_character(mistyped, alphabet) != check_character(drawn, alphabet)


def test_the_check_character_comes_after_the_drawn_ones() -> None:
    (code,) = generate_codes(CodeShape(None, None, 8, ALPHABET, check_character=True), 1, secrets.choice)
    assert len(code) == 9
    assert code[-1] == check_character(code[:-1], ALPHABET)


@pytest.mark.parametrize("size", [2, 3, 10, 32, 62, 94])
def test_every_character_is_drawn_as_often_as_any_other(size: int) -> None:
    """By a chi-squared test that a fair source fails once in a thousand million times."""
    alphabet = "".join(map(chr, range(33, 33 + size)))
    shape = CodeShape(None, None, 10, alphabet, check_character=False)
    drawn = "".join(generate_codes(shape, 1000 * size, SecretDraw()))
    counted = Counter(drawn)
    assert len(drawn) == 10_000 * size
    assert set(counted) == set(alphabet)
    expected = 10_000
    freedom = size - 1
    squared = sum((number - expected) ** 2 / expected for number in counted.values())
    assert squared < freedom + 6.2 * (2 * freedom) ** 0.5 + 26


def test_no_code_is_drawn_twice() -> None:
    assert len(set(generate_codes(None, 20_000, SecretDraw()))) == 20_000
