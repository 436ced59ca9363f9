"""The command `promenade` with a worker that pauses after each portion of coupon codes:
`python -m tests.workflows.promotions.lifecycle.resting worker ...`.

As always when no work was left, it waits before it looks for work again.

For workers that must be killed in the middle of a batch, however busy the machine that watches their progress is.
"""

from __future__ import annotations

from promenade.cli import main
from promenade.worker import rounds
from promenade.workflows.context import Context
from promenade.workflows.coupons.generation import process_batch
from promenade.workflows.sales.side_effects import Draw

POLL_SECONDS = 0.3


async def one_portion(context: Context, draw: Draw) -> int:
    """Work on one portion, then report that no work is left."""
    await process_batch(context, draw)
    return 0


if __name__ == "__main__":
    vars(rounds)["process_batch"] = one_portion
    usual = rounds.Worker.__init__.__kwdefaults__
    assert usual is not None
    usual["poll_seconds"] = POLL_SECONDS
    main()
