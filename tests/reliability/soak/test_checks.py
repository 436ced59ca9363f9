"""The soak's own checks: what a crash of the database explains, and what nothing explains."""

from __future__ import annotations

import pytest

from tests.reliability.soak.check_sales import lost_by_crash
from tests.reliability.soak.history import History, Priced


def _priced(began: float, ended: float) -> Priced:
    return Priced("west", "west-1", 1, "BERLIN", (), (), began, ended)


@pytest.mark.parametrize(
    ("earlier", "later", "is_lost"),
    [
        ((99.5, 99.8), (103.0, 103.1), True),
        ((99.9, 102.5), (103.0, 103.1), True),  # stored before the crash, read by a slow till after it
        ((97.0, 98.0), (103.0, 103.1), False),  # long synced
        ((102.5, 102.6), (103.0, 103.1), False),  # both after it
        ((99.5, 99.6), (99.7, 99.8), False),  # both before it
    ],
)
def test_only_a_crash_just_after_an_evaluation_frees_its_counter(
    earlier: tuple[float, float], later: tuple[float, float], is_lost: bool
) -> None:
    history = History(database_crashes=[(100.0, 102.0)])
    assert lost_by_crash(history, _priced(*earlier), _priced(*later)) is is_lost
    assert not lost_by_crash(History(), _priced(*earlier), _priced(*later))
