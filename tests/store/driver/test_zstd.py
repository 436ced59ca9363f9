"""Compressed columns: frames as every Zstandard makes them, those that another library has stored included."""

from __future__ import annotations

import random

import pytest

from promenade.zstd import compressor, decompress, decompress_after, dictionary_id, following, train

STORED = bytes.fromhex(
    "28b52ffd60100155010014027b2261727469636c65223a22313030303738222c227175616e74697479223a327d01006127aa7a02"
)
"""`{"article":"100078","quantity":2}` sixteen times, as python-zstandard 0.25 stored it."""


def test_data_compressed_by_another_library_can_be_read() -> None:
    assert decompress(STORED) == b'{"article":"100078","quantity":2}' * 16


@pytest.mark.parametrize("size", [0, 1, 100, 200_000])
def test_a_reused_compressor_makes_a_complete_frame_of_each_text(size: int) -> None:
    compress = compressor(1)
    texts = [random.Random(number).randbytes(size) * 2 for number in range(3)]
    assert [decompress(compress(text)) for text in texts] == texts


def samples(topic: str, count: int = 60) -> list[bytes]:
    """Return texts of one kind that have much in common."""
    draw = random.Random(topic)
    words = [f"{topic}-{draw.randrange(10**9)}" for _ in range(60)]
    return [" ".join(draw.choices(words, k=40)).encode() for _ in range(count)]


def test_a_frame_names_its_dictionary_and_is_read_with_no_other() -> None:
    *known, new = samples("bread")
    mine, other = train(known, 2_000), train(samples("wine"), 2_000)
    frame = compressor(3, mine)(new)
    assert decompress(frame, mine) == new
    assert len(frame) * 2 < len(compressor(3)(new))
    assert dictionary_id(frame) == mine.id != other.id
    assert dictionary_id(compressor(3)(new)) == dictionary_id(b"no frame") == 0
    for wrong in (None, other):
        with pytest.raises(Exception, match=r"[Dd]ictionary"):
            decompress(frame, wrong)


def test_the_same_samples_make_the_same_dictionary() -> None:
    assert train(samples("bread"), 2_000).content == train(samples("bread"), 2_000).content
    with pytest.raises(ValueError, match=r"."):
        train([b"too", b"little"], 2_000)


def test_a_difference_is_read_with_what_it_differs_from() -> None:
    before = random.Random(5).randbytes(30_000)
    content = before[:10_000] + b"something else" + before[10_500:]
    frame = following(1, before, content)
    assert decompress_after(before, frame) == content
    assert len(frame) < 100
    with pytest.raises(Exception, match=r"[Cc]hecksum"):
        decompress_after(before[::-1], frame)
