"""The tier of each test: `make test` in minutes, `make check` before a merge, `make soak` at full size.

`TIERS` names the tier of every folder and file of tests; the longest matching path decides. From this table, the
marks of single tests and the session's seed, each test gets the mark `check`, the mark `soak` or none, and each
command of the Makefile deselects by mark. tests/README.md says what each tier proves.

- A test marked `smoke` runs in `make test` although its folder belongs to `make check`.
- A test marked `check`, `soak` or `alone` is deferred although its folder is not.
- Of a test marked `sampled(test=8)` an eighth of the cases runs in `make test`, selected by the seed. With
  `sampled(test=8, check=2)` three eighths of the cases run in `make check` and the rest in `make soak`.
- Of the tests of a file in `TWINS` that run on PostgreSQL, `make test` and `make check` run only a part there, drawn in
  the same way.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Literal, TypeVar

import pytest

__all__ = ["TIERS", "TWINS", "Tier", "misplaced", "sort_into_tiers", "tier_of"]

Tier = Literal["test", "check"]
Key = TypeVar("Key", bound=Hashable)

TIERS: dict[str, Tier] = {
    "tests/cli": "test",
    "tests/benchmarks": "check",
    "tests/clients": "check",
    "tests/clients/python_sdk": "test",
    "tests/clients/python_sdk/test_readme.py": "check",
    "tests/clients/python_sdk/test_killed.py": "check",
    "tests/clients/typescript_sdk": "check",
    "tests/contract": "test",
    "tests/demo": "check",
    "tests/demo/test_keeping.py": "test",
    "tests/demo/test_retailer.py": "test",
    "tests/deploy": "test",
    "tests/deploy/test_image.py": "check",
    "tests/deploy/test_neighbours.py": "check",
    "tests/deploy/test_release.py": "check",
    "tests/docs": "test",
    "tests/docs/test_generated_clients.py": "check",
    "tests/docs/test_languages.py": "check",
    "tests/docs/test_agents.py": "check",
    "tests/docs/test_master_data.py": "check",
    "tests/docs/test_python_client.py": "check",
    "tests/docs/test_samples.py": "check",
    "tests/docs/test_typescript_client.py": "check",
    "tests/docs/test_webhooks.py": "check",
    "tests/web/drafts": "test",
    "tests/doctor": "test",
    "tests/engine": "test",
    "tests/model": "test",
    "tests/odata_server": "test",
    "tests/odata_server/test_package.py": "check",
    "tests/reliability": "test",
    "tests/reliability/fights": "check",
    "tests/reliability/fights/test_explaining.py": "test",
    "tests/reliability/imports": "check",
    "tests/reliability/imports/test_import_pace.py": "test",
    "tests/reliability/offline": "check",
    "tests/reliability/processes": "check",
    "tests/reliability/soak": "check",
    "tests/reliability/tenants": "check",
    "tests/reliability/test_availability.py": "check",
    "tests/reliability/test_brokers.py": "check",
    "tests/reliability/test_reporting_replica.py": "check",
    "tests/reliability/test_crashes.py": "check",
    "tests/reliability/test_draft_crashes.py": "check",
    "tests/reliability/test_durability.py": "check",
    "tests/reliability/test_postgresql_restarts.py": "check",
    "tests/reliability/test_worker_stops.py": "check",
    "tests/schemas": "check",
    "tests/snapshots": "test",
    "tests/store": "test",
    "tests/test_broker_settings.py": "test",
    "tests/test_kit.py": "test",
    "tests/test_starting.py": "test",
    "tests/test_tidy.py": "test",
    "tests/ui": "check",
    "tests/ui_unit": "test",
    "tests/ui/rules/test_shapes.py": "test",
    "tests/ui/test_texts.py": "test",
    "tests/ui/test_words.py": "test",
    "tests/web": "test",
    "tests/web/http/test_several_processes.py": "check",
    "tests/workflows": "test",
    "tests/workflows/clockwork/coupons/test_dying.py": "check",
    "tests/workflows/promotions/lifecycle/test_killed_workers.py": "check",
    "tests/workflows/forecasts/test_killed.py": "check",
}
"""By path. A path that is not there, and a file of tests that no path fits, are errors: what moves is placed anew."""

TWINS: dict[str, int] = {
    "tests/contract": 4,
    "tests/web/drafts": 4,
    "tests/odata_server": 4,
    "tests/web": 4,
    "tests/workflows": 3,
}
"""Of the tests of a file in these folders that run on PostgreSQL one in so many does in `make test`, and one in
`TWINS_IN_CHECK` in `make check`. Those of `tests/store`, which are about the statements themselves, all do."""
TWINS_IN_CHECK = 2

ROOT = Path(__file__).parent.parent.parent


def tier_of(path: str) -> Tier:
    """Return the tier of the test file at ``path``, relative to the repository; raise KeyError if no entry matches."""
    if entry := _longest(path, TIERS):
        return TIERS[entry]
    raise KeyError(f"{path} has no tier: tests/kit/tiers.py names one for each folder of tests")


def _longest(path: str, table: Iterable[str]) -> str:
    return max((entry for entry in table if path == entry or path.startswith(f"{entry}/")), key=len, default="")


def misplaced(root: Path = ROOT) -> list[str]:
    """Return the paths in the tables that do not exist."""
    return [path for path in itertools.chain(TIERS, TWINS) if not (root / path).exists()]


def sort_into_tiers(items: Iterable[pytest.Item], seed: int) -> None:
    """Mark each of ``items`` that belongs to a later tier; the same ``seed`` marks the same ones."""
    if names := misplaced():
        raise pytest.UsageError(f"tests/kit/tiers.py names what is not there: {', '.join(names)}")
    for path, tests in _by(items, lambda item: item.nodeid.partition("::")[0]).items():
        try:
            waits = tier_of(path) == "check"
        except KeyError as error:
            raise pytest.UsageError(error.args[0]) from None
        for test in tests if waits else ():
            if test.get_closest_marker("smoke") is None:
                test.add_marker("check")
        if folder := _longest(path, TWINS):
            twins = [test for test in tests if _is_on_postgresql(test)]
            _sample(twins, f"{seed} {path}", test=TWINS[folder], check=TWINS_IN_CHECK)
        for function, cases in _by(tests, lambda item: item.nodeid.partition("[")[0]).items():
            if sampled := cases[0].get_closest_marker("sampled"):
                for kind, parts in _by(cases, _is_on_postgresql).items():  # so that each database is sampled
                    _sample(parts, f"{seed} {function} {kind}", **sampled.kwargs)


def _by(items: Iterable[pytest.Item], key: Callable[[pytest.Item], Key]) -> dict[Key, list[pytest.Item]]:
    found: defaultdict[Key, list[pytest.Item]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return found


def _is_on_postgresql(case: pytest.Item) -> bool:
    parameters = getattr(case, "callspec", None)
    return parameters is not None and any(
        isinstance(value, str) and value == "postgresql" for value in parameters.params.values()
    )


def _sample(cases: list[pytest.Item], luck: str, *, test: int, check: int = 1) -> None:
    """Assign one in ``test`` cases to `make test` (at least one), up to one in ``check`` to `make check`, the rest
    to the soak.
    """
    drawn = cases[:]
    random.Random(luck).shuffle(drawn)
    in_test, in_check = (-(-len(cases) // one_in) for one_in in (test, check))
    for case in drawn[in_test:in_check]:
        case.add_marker("check")
    for case in drawn[in_check:]:
        case.add_marker("soak")
