"""The view of a basket for conditions and benefits: effective master data, units, positions, the local clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from promenade.engine.view import ArticleGroups
from tests.engine.given import article, line, view


def test_a_lines_own_group_and_manufacturer_come_before_the_articles() -> None:
    seen = view(
        line("A", group="own", maker="own"),
        line("B"),
        line("X", ean="40"),
        articles=(
            article("A", article_group_id="master", manufacturer_id="master"),
            article("B", article_group_id="master", manufacturer_id="master", ean="41"),
            article("C", article_group_id="by-ean", ean="40"),
        ),
    )
    assert [one.article_group_id for one in seen.lines] == ["own", "master", "by-ean"]
    assert [one.manufacturer_id for one in seen.lines] == ["own", "master", None]
    assert seen.by_ean == {"41": [1], "40": [2]}


def test_the_article_number_is_looked_up_before_the_ean() -> None:
    seen = view(
        line("A", ean="40"), articles=(article("A", article_group_id="a"), article("C", ean="40", article_group_id="c"))
    )
    assert seen.lines[0].article_group_id == "a"


@pytest.mark.parametrize(
    ("unit", "quantity", "weighed", "units"),
    [
        ("PCE", "3", False, 3),
        ("KGM", "3", True, 1),
        ("kgm", "1.5", True, 1),
        ("Kg", "3", True, 1),
        ("LTR", "2", True, 1),
        (None, "3", False, 3),
        (None, "1.5", True, 1),
        ("PCE", "2.5", True, 1),
        ("PCE", "-2", False, 0),
    ],
)
def test_a_measured_line_is_one_unit(unit: str | None, quantity: str, weighed: bool, units: int) -> None:
    (seen,) = view(line("A", quantity), articles=(article("A", unit=unit),)).lines
    assert (seen.weighed, seen.units) == (weighed, units)


def test_the_unit_shown_defaults_to_pieces() -> None:
    seen = view(line("A"), line("B"), articles=(article("B", unit="KGM"),))
    assert [one.unit for one in seen.lines] == ["PCE", "KGM"]


def test_returned_lines_count_in_no_map_and_no_sale_amount() -> None:
    seen = view(line("A", "2", "5.00", group="g"), line("A", "-1", "5.00", group="g"))
    assert seen.sale == (0,)
    assert seen.by_article == {"A": [0]}
    assert seen.by_group == {"g": [0]}
    assert (seen.sale_total_minor, seen.sale_quantity_thousandths) == (1000, 2000)
    assert seen.lines[1].total_minor == -500


def test_a_group_is_known_by_all_its_ancestors() -> None:
    seen = view(line("A", group="apples"), line("B", group="food"), groups={"apples": "fruit", "fruit": "food"})
    assert seen.by_group == {"apples": [0], "food": [1]}
    assert seen.by_tree == {"apples": [0], "fruit": [0], "food": [0, 1]}


def test_a_cycle_in_the_group_tree_ends() -> None:
    assert ArticleGroups({"a": "b", "b": "c", "c": "a"}).path("a") == ("a", "b", "c")


def test_amounts_follow_the_currency() -> None:
    assert view(line("A", "3", "10.50"), currency="JPY").sale_total_minor == 32
    assert view(line("A", "1", "10.50"), currency="KWD").sale_total_minor == 10500


def test_the_local_time_is_that_of_the_pos_group() -> None:
    noon = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
    local = view(line(), zone="Europe/Berlin", now=noon).local_time
    assert local is not None
    assert local.isoformat() == "2026-07-01T14:00:00+02:00"


@pytest.mark.parametrize("zone", ["Atlantis/Capital", "../etc/passwd", ""])
def test_an_unknown_time_zone_is_an_unknown_time(zone: str) -> None:
    assert view(line(), zone=zone).local_time is None


def test_more_of_a_line_and_more_lines_are_seen_with_the_same_master_data() -> None:
    seen = view(line("A"), line("C", "-1"), articles=(article("A", article_group_id="g"),))
    assert seen.by_group == {"g": [0]}
    more = seen.with_lines({0: line("A", "3")}, ())
    assert (more.sale_total_minor, more.sale_quantity_thousandths, more.by_group) == (3000, 3000, {"g": [0]})
    longer = seen.with_lines({}, (line("A", "2", "7"),))
    assert (longer.sale_total_minor, longer.sale, longer.by_group) == (2400, (0, 2), {"g": [0, 2]})
    assert (seen.sale_total_minor, seen.sale) == (1000, (0,))
