"""A stored price says by which rules it was priced; prices of one transaction are read as each alone."""

from __future__ import annotations

import random
from dataclasses import fields
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import msgspec

from promenade.engine.basket import FIRST_RULES, RULES, Basket, Facts, PosGroupFact, Settings
from promenade.engine.catalogue import RecordedCatalogue
from promenade.engine.evaluation import evaluate
from promenade.store.pricing.iterations import decode_record
from promenade.store.pricing.packing import PackedRecord, unpacked
from promenade.zstd import compressor, following

BASKET = Basket("t", (), PosGroupFact("p", "BERLIN", "EUR"))


def record_of(settings: Any) -> PackedRecord:
    """Return the stored form of a price of an empty basket."""
    outcome = evaluate(RecordedCatalogue({}), BASKET, Facts(), Settings(now=datetime(2026, 11, 1, tzinfo=UTC)))
    record = msgspec.msgpack.encode((BASKET, settings, Facts(), "0" * 64, outcome))
    return PackedRecord(compressor(1)(record), None)


def test_a_record_keeps_the_number_of_its_rules() -> None:
    settings = Settings(now=datetime(2026, 11, 1, tzinfo=UTC))
    assert decode_record(record_of(settings)).settings.rules == RULES


def test_a_record_from_before_rules_were_numbered_is_of_the_first_rules() -> None:
    settings = Settings(now=datetime(2026, 11, 1, tzinfo=UTC))
    before = {one.name: getattr(settings, one.name) for one in fields(settings) if one.name != "rules"}
    assert decode_record(record_of(before)).settings.rules == FIRST_RULES


def test_records_of_one_base_are_unpacked_one_after_the_other_as_each_alone() -> None:
    """In whatever order they come, with bases among them and with none."""
    texts = [random.Random(number).randbytes(1000) for number in range(3)]
    bases = [PackedRecord(compressor(1)(text), None) for text in texts]
    later = [
        PackedRecord(following(1, texts[at], texts[at] + more), None, base)
        for at, base in enumerate(bases)
        for more in (b"a", b"b" * 300)
    ]
    for records in permutations([*bases[:2], *later[1:5]]):
        assert list(unpacked(records)) == [one.unpack() for one in records]
