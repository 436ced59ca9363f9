"""Compressed columns: frames as every Zstandard makes them, those that another library has stored included."""

from __future__ import annotations

import random

import pytest

from promenade.zstd import compressor, decompress

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
