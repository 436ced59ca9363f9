"""The command `promenade` with time for every query: `python -m tests.kit.patient serve ...`.

For tests of what people see of answers, on machines where queries take longer than users would be made to wait.
"""

from __future__ import annotations

import sys

from promenade.cli import main
from promenade.web import odata

__all__ = ["PATIENT"]

PATIENT = (sys.executable, "-m", "tests.kit.patient")
_QUERY_SECONDS = 60.0

if __name__ == "__main__":
    vars(odata)["QUERY_SECONDS"] = _QUERY_SECONDS
    main()
