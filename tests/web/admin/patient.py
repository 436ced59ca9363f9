"""The command `promenade`, whose short forecasts may take as long as a busy machine takes:
`python -m tests.web.admin.patient serve ...`.

A forecast that is not done within a second goes on in the background, as it should; which of them do is not what a
test of their answers is about.
"""

from __future__ import annotations

from promenade.cli import main
from promenade.workflows import forecast

usual = forecast.prepare_forecast.__kwdefaults__
assert usual is not None
assert usual["seconds_max"] == forecast.SECONDS_AT_ONCE
usual["seconds_max"] = 60.0

if __name__ == "__main__":
    main()
