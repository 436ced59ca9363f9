"""What a till may claim about a priced iteration (pricing semantics, section 11)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from promenade.engine.basket import PosGroupFact
from promenade.errors import Invalid
from promenade.workflows.settlement.rules import (
    ConfirmCommand,
    ConfirmedItem,
    ConfirmedPromotion,
    PointsEntry,
    check_pos_group,
    settle,
)
from tests.workflows.outcomes import applied, discount, line, outcome

# Three coffees at 5.00 and a cake at 8.00: 10 % off the coffees (1.50), 2.00 off the receipt as 1.30 and 0.70.
PRICED = outcome(
    (
        line("1", 3000, 1500, discount("ten", ((3, 50),)), discount("two", ((1, 44), (2, 43)))),
        line("2", 1000, 800, discount("two", ((1, 70),), "SAVE2")),
    ),
    (
        applied("ten", 150, points=10),
        applied("two", 200, coupon_code="SAVE2"),
        applied("stamps", points=7, coupon_type_ids=("next-time",)),
    ),
    base_points=20,
)


def command(*promotions: ConfirmedPromotion, items: tuple[ConfirmedItem, ...] | None = None) -> ConfirmCommand:
    return ConfirmCommand("T1", 1, promotions, b"", items=items)


def refusal(*promotions: ConfirmedPromotion) -> tuple[str, str | None]:
    with pytest.raises(Invalid) as caught:
        settle(PRICED, command(*promotions))
    return caught.value.code, caught.value.target


def test_naming_every_promotion_books_what_was_evaluated() -> None:
    settled = settle(PRICED, command(ConfirmedPromotion("ten"), ConfirmedPromotion("two")))
    assert settled.discount_minor == 350
    assert settled.grand_total_minor == 2300 - 350
    assert [one.discount_minor for one in settled.lines] == [280, 70]
    assert [one.net_minor for one in settled.lines] == [1220, 730]
    assert settled.coupon_codes == ("SAVE2",)
    assert not settled.is_discrepant


def test_a_discount_that_is_not_named_was_withdrawn_with_its_points_and_coupon() -> None:
    settled = settle(PRICED, command(ConfirmedPromotion("ten")))
    assert [one.applied.promotion_id for one in settled.promotions] == ["ten", "stamps"]
    assert settled.coupon_codes == ()
    assert settled.grand_total_minor == 2150
    assert settled.points == (PointsEntry(None, 20), PointsEntry("ten", 10), PointsEntry("stamps", 7))


def test_rewards_only_promotions_are_carried_out_although_nothing_is_named() -> None:
    settled = settle(PRICED, command())
    assert [one.applied.promotion_id for one in settled.promotions] == ["stamps"]
    assert sum(entry.points for entry in settled.points) == 27
    assert not settled.is_discrepant


def test_a_free_item_that_is_not_named_was_not_handed_out() -> None:
    priced = outcome((line("1", 1000, 500),), (applied("gift", give_away_minor=300),))
    assert settle(priced, command()).promotions == ()


@pytest.mark.parametrize(
    ("entries", "code", "target"),
    [
        ((ConfirmedPromotion("ten"), ConfirmedPromotion("other")), "UNKNOWN_PROMOTION", "[1].promotionId"),
        ((ConfirmedPromotion("ten"), ConfirmedPromotion("ten")), "DUPLICATE_PROMOTION", "[1].promotionId"),
        ((ConfirmedPromotion("ten", amount=Decimal("-0.01")),), "INVALID_AMOUNT", "[0].totalDiscount"),
        ((ConfirmedPromotion("ten", amount=Decimal("-1"), currency="EUR"),), "INVALID_AMOUNT", "[0].discountAmount"),
        ((ConfirmedPromotion("ten", amount=Decimal("NaN")),), "INVALID_AMOUNT", "[0].totalDiscount"),
        ((ConfirmedPromotion("ten", amount=Decimal("Infinity")),), "INVALID_AMOUNT", "[0].totalDiscount"),
        ((ConfirmedPromotion("ten", amount=Decimal("1e400")),), "INVALID_AMOUNT", "[0].totalDiscount"),
        (
            (ConfirmedPromotion("ten", amount=Decimal("1.50"), currency="USD"),),
            "CURRENCY_MISMATCH",
            "[0].discountAmount.currency",
        ),
    ],
)
def test_an_entry_that_cannot_be_is_refused_by_its_path(
    entries: tuple[ConfirmedPromotion, ...], code: str, target: str
) -> None:
    assert refusal(*entries) == (code, f"appliedPromotions{target}")


def test_every_faulty_entry_is_reported() -> None:
    with pytest.raises(Invalid) as caught:
        settle(PRICED, command(ConfirmedPromotion("a"), ConfirmedPromotion("ten", amount=Decimal(-1))))
    assert [detail.target for detail in caught.value.details] == [
        "appliedPromotions[0].promotionId",
        "appliedPromotions[1].totalDiscount",
    ]


@pytest.mark.parametrize(
    ("amount", "booked"), [("3.50", 150), ("1.50", 150), ("1.49", 149), ("0", 0), ("9999999999999.99", 150)]
)
def test_never_more_than_evaluated_is_booked_and_the_difference_is_marked(amount: str, booked: int) -> None:
    settled = settle(PRICED, command(ConfirmedPromotion("ten", amount=Decimal(amount))))
    assert settled.discount_minor == booked
    assert settled.promotions[0].confirmed == Decimal(amount)
    assert settled.is_discrepant == (amount != "1.50")


def test_a_smaller_amount_shrinks_its_lines_in_proportion() -> None:
    # 2.00 was 1.30 and 0.70; for 1.00 that is 0.65 and 0.35.
    settled = settle(PRICED, command(ConfirmedPromotion("two", amount=Decimal(1), currency="EUR")))
    assert [one.discount_minor for one in settled.lines] == [65, 35]


def test_a_coupon_that_did_not_trigger_the_promotion_is_marked() -> None:
    assert settle(PRICED, command(ConfirmedPromotion("two", "OTHER"))).is_discrepant
    assert not settle(PRICED, command(ConfirmedPromotion("two", "SAVE2"))).is_discrepant


def test_points_of_a_sale_never_go_below_zero_when_their_source_is_withdrawn() -> None:
    priced = outcome(
        (line("1", 1000, 500, discount("gain", ((1, 100),))),),
        (applied("gain", 100, points=50), applied("burn", points=-30)),
    )
    assert settle(priced, command()).points == ()


def test_items_with_another_price_are_marked_and_change_nothing() -> None:
    def items(net: str) -> tuple[ConfirmedItem, ...]:
        return (
            ConfirmedItem("1", "A-1", Decimal(3), Decimal("5.00"), Decimal("1.50"), Decimal("13.50")),
            ConfirmedItem(None, "A-2", Decimal("1.000"), Decimal(8), None, Decimal(net)),
        )

    agreed = settle(PRICED, command(ConfirmedPromotion("ten"), items=items("8.00")))
    differs = settle(PRICED, command(ConfirmedPromotion("ten"), items=items("7.99")))
    assert (agreed.is_discrepant, differs.is_discrepant) == (False, True)
    assert agreed.lines == differs.lines


def test_yen_and_dinar_amounts_are_booked_in_their_own_minor_unit() -> None:
    yen = outcome((line("1", 1000, 500, discount("p", ((1, 120),))),), (applied("p", 120),), currency="JPY", exponent=0)
    assert settle(yen, command(ConfirmedPromotion("p", amount=Decimal("119.50")))).discount_minor == 119
    dinar = outcome(
        (line("1", 1000, 500, discount("p", ((1, 120),))),), (applied("p", 120),), currency="KWD", exponent=3
    )
    assert settle(dinar, command(ConfirmedPromotion("p", amount=Decimal("0.119")))).discount_minor == 119


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ({"pos_group_id": "B"}, "posGroupId"),
        ({"pos_group_code": "OTHER"}, "posGroupCode"),
        ({"pos_group_id": "G1", "pos_group_code": "OTHER"}, "posGroupCode"),
    ],
)
def test_another_pos_group_than_the_iteration_is_refused(given: dict[str, str], target: str) -> None:
    priced_for = PosGroupFact("g1", "SHOP", "EUR")
    check_pos_group(ConfirmCommand("T1", 1, (), b"", pos_group_id="G1", pos_group_code="SHOP"), priced_for)
    with pytest.raises(Invalid) as caught:
        check_pos_group(ConfirmCommand("T1", 1, (), b"", **given), priced_for)  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.target) == ("POS_GROUP_MISMATCH", target)
