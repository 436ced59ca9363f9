"""The number of examples per property test in each tier: HYPOTHESIS_PROFILE is `quick`, `default` or `thorough`."""

from __future__ import annotations

import os

__all__ = ["PROFILE", "examples"]

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")


def examples(number: int, *, thorough: int | None = None) -> int:
    """Return ``number`` in `make check`, a quarter of it in `make test`, and ten times as many, or ``thorough``, in
    a soak.
    """
    if PROFILE == "quick":
        return max(1, number // 4)
    if PROFILE == "thorough":
        return number * 10 if thorough is None else thorough
    return number
