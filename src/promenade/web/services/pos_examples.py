"""Requests of tills and their answers as examples in the OpenAPI document, recorded from a demo.

A test plays them against the service: each request succeeds, and its answer has the members that the example has.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import msgspec

__all__ = ["pos_examples"]


def pos_examples() -> Mapping[str, Mapping[str, Any]]:
    """Return operation -> ``request``, if it has a body, and ``answer``; in the order in which a till sends them."""
    text = files("promenade.web.services").joinpath("pos_examples.json").read_bytes()
    found: dict[str, dict[str, Any]] = msgspec.json.decode(text)
    return found
