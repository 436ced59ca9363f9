"""The minor versions of the public interfaces, defined here and nowhere else."""

from __future__ import annotations

MINOR_VERSION = 13
"""Of the public API and of every event: fields are added, never changed."""

POS_MINOR_VERSION = 8
"""Of the contract between tills and the evaluation."""
