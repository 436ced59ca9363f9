"""What is stored beside a price says of its advice what the record says."""

from __future__ import annotations

import random
from dataclasses import replace
from uuid import UUID

import msgspec

from promenade.engine.outcome import Gap, GrantedItem, Nudge, Outcome, Recommendation
from promenade.store.pricing.iterations import encode_outcome
from promenade.store.pricing.shown import Shown, decode_told, digest_of, shown_in_record
from tests.workflows.outcomes import applied, line, outcome


def drawn(seed: int) -> Outcome:
    """Return an outcome with advice of every kind, some of it more than once."""
    draw = random.Random(seed)
    known = [str(UUID(int=draw.getrandbits(128), version=4)) for _ in range(5)]

    def some() -> list[str]:
        return draw.choices(known, k=draw.randint(0, 4))

    plain = line("1", 1000, 500)
    lines = [replace(plain, free_promotion_id=draw.choice([None, *known])) for _ in range(3)]
    priced = outcome(tuple(lines), tuple(applied(one, draw.choice((0, 100))) for one in some()), currency="KWD")
    gift = GrantedItem("GRANT-1", "A-9", None, 1, 500, "MASTER_DATA", 500, known[0], "off", False)
    return replace(
        priced,
        exponent=draw.randint(0, 3),
        grand_total_minor=draw.choice((-500, 0, 7, 10**12)),
        granted=tuple(replace(gift, promotion_id=one) for one in some()),
        recommendations=tuple(
            Recommendation(draw.choice(("NEAR_MISS", "HINT")), "CODE", (), "Almost.", draw.choice(("", one)), "off")
            for one in some()
        ),
        gaps=tuple(Gap(one, "off", "RECEIPT_AMOUNT", 1, 3, 2, 2) for one in some()),
        nudges=tuple(Nudge("More.", "INCREASE_AMOUNT", 2, one, "off", "RECEIPT_AMOUNT") for one in some()),
    )


def of_record(priced: Outcome) -> Shown:
    """What the record says, without names."""
    record = msgspec.msgpack.encode((None, None, None, "0" * 64, msgspec.Raw(encode_outcome(priced))))
    shown = shown_in_record(record)
    return shown._replace(advice=frozenset(shown.advice), names={})


def test_the_column_says_what_the_record_says_by_itself_and_beside_its_base() -> None:
    for seed in range(200):
        priced = drawn(seed)
        digest = digest_of(priced)
        assert digest is not None
        expected = of_record(priced)
        other = digest._replace(entries=b"G" + bytes(16))
        whole, brief = digest.stored(other), digest.stored(digest._replace(currency="EUR", grand_total_minor=1))
        assert whole == digest.stored()
        assert decode_told(whole).shown(None) == decode_told(whole).shown(other.entries) == expected
        assert decode_told(brief).shown(digest.entries) == expected
        assert decode_told(brief).shown(None) is None
        assert len(brief) <= 17
        assert len(whole) <= len(brief) + 3 + 17 * len(expected.advice)


def test_the_record_is_asked_about_promotions_whose_ids_are_no_uuids() -> None:
    upper = "AAAAAAAA-0000-4000-8000-000000000000"
    for promotion_id in ("summer", upper, upper.lower().replace("-", "")):
        assert digest_of(outcome((line("1", 1000, 500),), (applied(promotion_id, 100),))) is None
    assert digest_of(outcome((line("1", 1000, 500),), (applied(upper.lower(), 100),))) is not None


def test_the_record_is_asked_about_kinds_of_advice_that_only_newer_programs_know() -> None:
    digest = digest_of(outcome((line("1", 1000, 500),), (applied(str(UUID(int=7)), 100),)))
    assert digest is not None
    told = msgspec.msgpack.decode(digest.stored())
    newer = msgspec.msgpack.encode([*told[:3], told[3] + b"Z" + bytes(16), "more"])
    assert decode_told(newer).shown(None) is None
    assert decode_told(msgspec.msgpack.encode([*told, "more"])).shown(None) == decode_told(digest.stored()).shown(None)
