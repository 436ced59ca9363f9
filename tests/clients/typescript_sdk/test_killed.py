"""A till that is killed at any step of its queue has its sale confirmed once it is back, or had not taken it yet."""

from __future__ import annotations

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.clients.python_sdk.conftest import Served
from tests.clients.typescript_sdk.conftest import Project

AT_ONCE = 4
STEPS_MAX = 200
CONTENT = ["file writeFile", "file sync", "file close"]
NAME = ["open", "file sync", "file close"]


def test_a_till_killed_at_any_step_of_the_queue_loses_no_sale(project: Project, served: Served, tmp_path: Path) -> None:
    def killed(number: int) -> str:
        """Return what a till says that lives to the end, else nothing."""
        done = project.run("killed.mjs", str(tmp_path), str(number), served=served)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.stdout

    last, said = 0, ""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for first in range(1, STEPS_MAX, AT_ONCE):
            said = next(filter(None, pool.map(killed, range(first, first + AT_ONCE))), "")
            last = first + AT_ONCE - 1
            if said:
                break
    outcome = json.loads(said)
    assert outcome["confirmed"] is True
    assert 30 < len(outcome["steps"]) < last
    kept = [step for step in outcome["steps"][: outcome["steps"].index("send")] if not step.endswith("done")]
    writing = kept.index("file writeFile")  # the content is on the disk before it has its name, and the name after it
    assert kept[writing : writing + 7] == [*CONTENT, "rename", *NAME]
    done = project.run("revived.mjs", str(tmp_path), str(last), served=served)
    assert done.returncode == 0, done.stderr
    tills = json.loads(done.stdout)
    is_taken = False
    for number, till in enumerate(tills, 1):
        is_taken = is_taken or bool(till["kept"])
        assert till["kept"] or till["before"] or not is_taken, f"killed at step {number}, the sale is lost"
        assert (till["delivered"], till["refused"], till["waiting"]) == (till["kept"], 0, 0)
        assert till["confirmed"] == bool(till["kept"] or till["before"])
    kept = sum(till["kept"] for till in tills)
    assert 15 < kept < last
    sales = served.sales("KILLED-")
    assert len(sales) == len(set(sales)), "a sale was counted twice"
    assert kept <= len(sales) <= last
