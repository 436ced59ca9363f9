"""Zstandard frames, by the standard library where it has them (Python 3.14), else by its backport."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdCompressor, decompress
else:
    from backports.zstd import ZstdCompressor, decompress

__all__ = ["compressor", "decompress"]


def compressor(level: int) -> Callable[[bytes], bytes]:
    """A function that makes one whole frame of what it is given. Of two threads that share it, one waits."""
    return partial(ZstdCompressor(level).compress, mode=ZstdCompressor.FLUSH_FRAME)
