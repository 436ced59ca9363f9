"""All tools."""

from __future__ import annotations

from promenade.web.agents.drafting import DRAFTING
from promenade.web.agents.pricing import PRICING
from promenade.web.agents.reading import READING
from promenade.web.agents.tool import Tool

__all__ = ["TOOLS"]

TOOLS: dict[str, Tool] = {one.name: one for one in (*READING, *PRICING, *DRAFTING)}
