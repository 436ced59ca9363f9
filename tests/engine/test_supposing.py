"""Advice costs no more than pricing does, however many promotions are nearly reached (section 10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from promenade.engine.basket import Basket, Facts, Settings
from promenade.engine.best_deal.search import GivenUp, Steps
from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import ActionRow, PromotionDefinition
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import Outcome
from promenade.engine.stacking import Pass
from promenade.engine.supposing import STEPS_MIN
from tests.engine.given import NOW, basket, line, promotion, row

LINES = 20


def offer(number: int, pieces: int, exclusivity: str = "NONE") -> PromotionDefinition:
    article = f"A{number % LINES}"
    action = ActionRow("a", 1, "ARTICLE", discount_type="PERCENTAGE", discount_value_hundredths=100 + 10 * number)
    wanted = row("ARTICLE", article_number=article, min_quantity_thousandths=1000 * pieces)
    return promotion(
        f"{number:03}", wanted, actions=(replace(action, target_article_number=article),), exclusivity=exclusivity
    )


def crowded(near: int, exclusivity: str = "NONE") -> tuple[Catalogue, Basket]:
    """A basket to which two promotions of each line apply, and which lacks a piece for so many more."""
    catalogue = Catalogue()
    applying = [offer(number, 1, exclusivity) for number in range(2 * LINES)]
    assert not catalogue.compile_all([*applying, *[offer(2 * LINES + number, 2) for number in range(near)]])
    return catalogue, basket(*[line(f"A{number}", price=f"{number + 5}") for number in range(LINES)])


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> Callable[[Catalogue, Basket, Settings], tuple[int, Outcome]]:
    """Price a basket, and count how often a promotion was tried."""
    count = 0

    def counted(owner: type, name: str, worth: Callable[..., int]) -> None:
        original = getattr(owner, name)

        def watched(self: Any, *arguments: Any) -> Any:
            nonlocal count
            count += worth(*arguments)
            return original(self, *arguments)

        monkeypatch.setattr(owner, name, watched)

    counted(Pass, "decide", lambda *_: 1)
    counted(Steps, "spend", lambda promotions: promotions)

    def price(catalogue: Catalogue, sale: Basket, settings: Settings) -> tuple[int, Outcome]:
        nonlocal count
        count = 0
        outcome = evaluate(catalogue, sale, Facts({}, {}), settings)
        return count, outcome

    return price


Tried = Callable[[Catalogue, Basket, Settings], tuple[int, Outcome]]


@pytest.mark.parametrize(
    ("strategy", "exclusivity", "near", "nudges"),
    [
        ("SEQUENTIAL", "NONE", 20, 1),
        ("SEQUENTIAL", "NONE", 400, 1),
        ("BEST_DEAL", "PROMOTION", 20, 1),
        ("BEST_DEAL", "PROMOTION", 400, 0),  # twenty for each line: a search that is given up
    ],
)
def test_what_is_supposed_tries_about_as_many_promotions_as_pricing(
    tried: Tried, strategy: str, exclusivity: str, near: int, nudges: int
) -> None:
    catalogue, sale = crowded(near, exclusivity)
    plain = Settings(now=NOW, strategy=strategy)
    pricing, _ = tried(catalogue, sale, plain)
    both, told = tried(catalogue, sale, replace(plain, nudges=True))
    assert len(told.nudges) == nudges
    candidates = 2 * LINES + (20 if strategy == "SEQUENTIAL" else near)  # the nearest, for the sake of advice
    assert both <= (pricing + candidates) * 5 // 2 + STEPS_MIN


def test_a_search_is_given_up_before_it_prices_more_than_it_may() -> None:
    steps = Steps(100, at_most=10)
    steps.spend(6)
    steps.spend(4)
    assert (steps.spent, steps.left, steps.nodes) == (10, 90, 2)
    with pytest.raises(GivenUp):
        steps.spend(1)
