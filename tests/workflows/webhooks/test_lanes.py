"""The concurrency of a lane: more with each success, one after a failure (reliability W3)."""

from __future__ import annotations

from promenade.worker.lanes import LANE_MAX, Lane


def test_a_successful_lane_gets_more_concurrency() -> None:
    lane = Lane("new")
    limits = []
    for _ in range(5):
        limits.append(lane.limit)
        lane.succeeded()
    assert limits == [1, 2, 4, 8, LANE_MAX]


def test_a_failing_lane_has_one_attempt_at_a_time_and_doubles_its_pause() -> None:
    lane = Lane("new", limit=LANE_MAX)
    rests = []
    for _ in range(8):
        lane.failed(100.0, rest_seconds_max=1.0)
        rests.append(round(lane.rests_until - 100.0, 2))
    assert rests == [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0, 1.0]
    assert (lane.limit, lane.demand(), lane.demand_ahead()) == (1, 1, 0)
    lane.succeeded()
    assert (lane.limit, lane.failures) == (2, 0)
    lane.failed(200.0, rest_seconds_max=1.0)
    assert round(lane.rests_until - 200.0, 2) == 0.02
