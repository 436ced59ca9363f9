"""The cost of a test run by folder: wall time, processor time, services and databases created; and its slowest tests.

Each test process measures its tests and attaches the figures to their reports; the controlling process adds them up and
prints them at the end. `PROMENADE_TEST_PROFILE=build/test-profile.txt` also writes them to a file, as `make
test-profile` does. The cost of a shared fixture is counted with the first test that needs it.
"""

from __future__ import annotations

import os
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

__all__ = ["Measuring", "Profile", "made", "processor_seconds"]

SPENT = "spent"
SLOWEST = 10
FOLDER_PARTS = 3  # tests/web/services/admin

_made: Counter[str] = Counter()


def made(what: str) -> None:
    """Count a service or a database created by a test or its fixture."""
    _made[what] += 1


@dataclass
class Cost:
    """Seconds and counts of one test, or of many."""

    tests: int = 0
    wall: float = 0.0
    own_cpu: float = 0.0
    child_cpu: float = 0.0
    made: Counter[str] = field(default_factory=Counter)

    def add(self, other: Cost) -> None:
        self.tests += other.tests
        self.wall += other.wall
        self.own_cpu += other.own_cpu
        self.child_cpu += other.child_cpu
        self.made.update(other.made)


class Measuring:
    """Measures, in each test process, the cost of every test phase."""

    def __init__(self) -> None:
        self._before = _now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = _now()
        spent = {name: round(value - self._before.get(name, 0), 4) for name, value in now.items()}
        self._before = now
        # The reports of one test share this list, so replace it: each report must have the cost of its own phase.
        report.user_properties = [*(one for one in report.user_properties if one[0] != SPENT), (SPENT, spent)]
        return report


def _now() -> dict[str, float]:
    """Return the processor seconds of this process and of its ended children, and the counts so far."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"own": time.process_time(), "children": children.ru_utime + children.ru_stime, **_made}


class Profile:
    """Sums up all reports in the process that prints them."""

    def __init__(self, servers: Callable[[], Mapping[str, float]], file: str = "") -> None:
        """``servers`` returns the processor seconds of the shared servers; ``file``: an additional output."""
        self._servers = servers
        self._file = file
        self._tests: defaultdict[str, Cost] = defaultdict(Cost)
        self._began = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent = dict(dict(report.user_properties).get(SPENT, {}))  # type: ignore[call-overload]
        cost = Cost(
            report.when == "setup", report.duration, spent.pop("own", 0.0), spent.pop("children", 0.0), Counter(spent)
        )
        self._tests[report.nodeid].add(cost)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        lines = list(self.lines())
        if len(self._folders()) > 1:
            terminalreporter.section("what it cost")
            for line in lines:
                terminalreporter.write_line(line)
        if self._file:
            path = Path(self._file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n")

    def _folders(self) -> dict[str, Cost]:
        folders: defaultdict[str, Cost] = defaultdict(Cost)
        for nodeid, cost in self._tests.items():
            folders[_folder(nodeid)].add(cost)
        return dict(sorted(folders.items(), key=lambda entry: -entry[1].wall))

    def lines(self) -> Iterator[str]:
        """Return the lines of the printout."""
        yield f"{'tests':>6} {'wall s':>8} {'CPU s':>8} {'children':>8} {'services':>8} {'databases':>9}"
        total = Cost()
        for folder, cost in self._folders().items():
            total.add(cost)
            yield _row(cost, folder)
        yield _row(total, f"all, within {(time.monotonic() - self._began) / 60:.1f} minutes")
        yield "Children are counted once they have ended. Servers of all tests: " + ", ".join(
            f"{name} {seconds:.0f} s of CPU" for name, seconds in self._servers().items()
        )
        yield ""
        yield f"the {SLOWEST} slowest tests, with what was set up for them first"
        for nodeid, cost in sorted(self._tests.items(), key=lambda entry: -entry[1].wall)[:SLOWEST]:
            yield f"{cost.wall:8.1f} s  {nodeid}"


def _folder(nodeid: str) -> str:
    return "/".join(nodeid.partition("::")[0].split("/")[:-1][:FOLDER_PARTS])


def _row(cost: Cost, name: str) -> str:
    figures = f"{cost.tests:6} {cost.wall:8.1f} {cost.own_cpu:8.1f} {cost.child_cpu:8.1f}"
    return f"{figures} {cost.made['services']:8.0f} {cost.made['databases']:9.0f}  {name}"


def processor_seconds(pid: int | None) -> float:
    """Return the processor seconds of a process and its ended children; 0 where they are unknown (not Linux)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
