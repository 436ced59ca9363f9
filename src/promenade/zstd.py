"""Zstandard frames, by the standard library where it has them (Python 3.14), else by its backport."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = [
    "Dictionary",
    "compressor",
    "decompress",
    "decompress_after",
    "decompressor_after",
    "dictionary_id",
    "following",
    "train",
]


class Dictionary:
    """What frames refer to instead of repeating it. ``id`` is in its content, and in each frame made with it."""

    __slots__ = ("content", "id", "loaded")

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.loaded = zstd.ZstdDict(content)
        self.id = self.loaded.dict_id


def train(samples: Sequence[bytes], size: int) -> Dictionary:
    """Make a dictionary of at most ``size`` bytes from what the samples have in common.

    The same samples give the same dictionary. Raises ValueError if they are too few or too short. Other threads run
    meanwhile.
    """
    try:
        return Dictionary(zstd.train_dict(samples, size).dict_content)
    except zstd.ZstdError as error:
        raise ValueError(str(error)) from error


def compressor(level: int, dictionary: Dictionary | None = None) -> Callable[[bytes], bytes]:
    """A function that makes one whole frame of what it is given. Of two threads that share it, one waits.

    Frames made with a dictionary contain a checksum, because another dictionary would decompress them to other bytes.
    """
    if dictionary is None:
        made = zstd.ZstdCompressor(level)
    else:
        parameter = zstd.CompressionParameter
        options: dict[int, int] = {parameter.compression_level: level, parameter.checksum_flag: 1}
        made = zstd.ZstdCompressor(options=options, zstd_dict=dictionary.loaded.as_digested_dict)
    return partial(made.compress, mode=zstd.ZstdCompressor.FLUSH_FRAME)


def decompress(frame: bytes, dictionary: Dictionary | None = None) -> bytes:
    """Return what the frame was made of; ``dictionary`` is the one it was made with, see `dictionary_id`."""
    return zstd.decompress(frame, None if dictionary is None else dictionary.loaded)


def following(level: int, before: bytes, content: bytes) -> bytes:
    """Make a frame of ``content`` that refers to ``before`` instead of repeating it. It contains a checksum."""
    parameter = zstd.CompressionParameter
    options: dict[int, int] = {parameter.compression_level: level, parameter.checksum_flag: 1}
    made = zstd.ZstdCompressor(options=options, zstd_dict=zstd.ZstdDict(before, is_raw=True).as_prefix)
    return made.compress(content, zstd.ZstdCompressor.FLUSH_FRAME)


def decompress_after(before: bytes, frame: bytes) -> bytes:
    """Return the content of a frame made by `following` with the same ``before``."""
    return decompressor_after(before)(frame)


def decompressor_after(before: bytes) -> Callable[[bytes], bytes]:
    """Return a function that is `decompress_after` of ``before``, prepared once for several frames."""
    prefix = zstd.ZstdDict(before, is_raw=True).as_prefix
    return lambda frame: zstd.decompress(frame, prefix)


def dictionary_id(frame: bytes) -> int:
    """Return the ID of the dictionary that the frame was made with; 0: none, or it is not a frame."""
    try:
        return zstd.get_frame_info(frame).dictionary_id
    except zstd.ZstdError:
        return 0
