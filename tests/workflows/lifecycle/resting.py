"""The command `promenade`, whose worker takes each portion of coupon codes for the last:
`python -m tests.workflows.lifecycle.resting worker ...`.

It looks again for work after a while only, as it always does when there was none.

For workers that are to be killed in the middle of a batch, however busy the machine is that watches how far they are.
"""

from __future__ import annotations

from promenade.cli import main
from promenade.worker import rounds
from promenade.workflows.context import Context
from promenade.workflows.coupon_generation import work_on_a_batch
from promenade.workflows.side_effects import Draw

POLL_SECONDS = 0.3


async def one_portion(context: Context, draw: Draw) -> int:
    """A portion, after which nothing is said to be left."""
    await work_on_a_batch(context, draw)
    return 0


if __name__ == "__main__":
    vars(rounds)["work_on_a_batch"] = one_portion
    usual = rounds.Worker.__init__.__kwdefaults__
    assert usual is not None
    usual["poll_seconds"] = POLL_SECONDS
    main()
