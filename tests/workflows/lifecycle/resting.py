"""The command `promenade`, which rests after each portion of coupon codes: `python -m tests.workflows.lifecycle.resting
worker ...`.

For workers that are to be killed in the middle of a batch, however busy the machine is that watches how far they are.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from promenade.cli import main
from promenade.worker import rounds
from promenade.workflows.context import Context
from promenade.workflows.coupon_generation import work_on_a_batch

REST_SECONDS = 0.3


async def slowly(context: Context, draw: object) -> int:
    """A portion, and a rest after it."""
    done = await work_on_a_batch(context, draw)  # type: ignore[arg-type]
    with suppress(TimeoutError):
        async with asyncio.timeout(REST_SECONDS):
            await asyncio.Event().wait()
    return done


if __name__ == "__main__":
    vars(rounds)["work_on_a_batch"] = slowly
    main()
