"""Codes look as their type asks for, guard against mistyping, and come from an injected source."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from promenade.store.coupon_pool import CodeShape
from promenade.workflows.coupon_codes import DEFAULT_SHAPE, check_character, generate_code

ALPHABET = DEFAULT_SHAPE.alphabet


def test_a_code_has_its_prefix_length_suffix_and_alphabet() -> None:
    places = itertools.count()

    def draw(alphabet: Sequence[str]) -> str:
        return alphabet[next(places) % len(alphabet)]

    assert generate_code(CodeShape("SPRING-", "-26", 5, "ABC", check_character=False), draw) == "SPRING-ABCAB-26"


def test_without_a_configuration_a_code_has_twelve_characters_without_look_alikes() -> None:
    codes = {generate_code(None, secrets.choice) for _ in range(200)}
    assert len(codes) == 200
    assert all(len(code) == 12 and not set(code) & set("01IO") for code in codes)


@given(st.integers(2, len(ALPHABET)), st.data())
def test_the_check_character_tells_every_single_mistake(size: int, data: st.DataObject) -> None:
    alphabet = ALPHABET[:size]
    drawn = data.draw(st.text(alphabet, min_size=1, max_size=20))
    place = data.draw(st.integers(0, len(drawn) - 1))
    other = data.draw(st.sampled_from([one for one in alphabet if one != drawn[place]]))
    mistyped = drawn[:place] + other + drawn[place + 1 :]
    assert check_character(mistyped, alphabet) != check_character(drawn, alphabet)


def test_the_check_character_comes_after_the_drawn_ones() -> None:
    code = generate_code(CodeShape(None, None, 8, ALPHABET, check_character=True), secrets.choice)
    assert len(code) == 9
    assert code[-1] == check_character(code[:-1], ALPHABET)
