"""The cost of an evaluation in-process, and how it grows with the catalogue."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from benchmarks.bar import Bar, ThresholdBar
from benchmarks.measure import Timing, milliseconds, show, time_each
from benchmarks.scale import Scale
from benchmarks.synthetic import (
    SETTINGS,
    Assortment,
    basket,
    catalogue,
    facts,
    make_assortment,
    out_of_reach,
    with_thresholds,
)
from promenade.engine.basket import Basket, Facts
from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import PromotionDefinition
from promenade.engine.evaluation import evaluate

__all__ = ["run"]

SEED = 1
SIZES = (100, 1_000, 10_000, 100_000)
LINES = (5, 20, 60)
BASKETS = 8  # a matching promotion is about one line of each of them

Case = tuple[Basket, Facts]


def run(scale: Scale) -> None:
    """Print every table of this part."""
    seconds = scale.of(1.5, 0.2, 0.01)
    assortment = make_assortment(SEED, groups=scale.of(200, 200, 40))
    large = scale.of(10_000, 10_000, 300)
    first_compile(assortment, large)
    same_candidates(assortment, scale.of(SIZES, SIZES[:3], SIZES[:1]), seconds)
    more_candidates(assortment, large, seconds)
    missed_thresholds(assortment, scale.of((1, 10, 100), (1, 10, 100), (10, 100)), seconds)
    missed_amounts(assortment, large, seconds)


def compiled(assortment: Assortment, definitions: Iterable[PromotionDefinition]) -> Catalogue:
    """Return a catalogue with these promotions."""
    made = Catalogue(assortment.groups)
    refused = made.compile_all(definitions)
    if refused:
        raise SystemExit(f"the synthetic catalogue does not compile: {next(iter(refused.values()))}")
    return made


def cases(assortment: Assortment, lines: int) -> list[Case]:
    """Return baskets with the facts about their articles."""
    bought = [basket(assortment, lines, number) for number in range(BASKETS)]
    return [(one, facts(assortment, one)) for one in bought]


def first_compile(assortment: Assortment, size: int) -> None:
    """Measure compiling so many promotions into a catalogue, and replacing one of them."""
    definitions = list(catalogue(assortment, (basket(assortment, 20, 0),), size, 25))
    start = time.perf_counter_ns()
    made = compiled(assortment, definitions)
    taken = time.perf_counter_ns() - start
    replaced = time_each(made.put, definitions[:200], 0.2)
    show(
        "Compiling",
        ("", "ms"),
        [
            (f"{size:,} promotions, first time", milliseconds(taken)),
            ("one promotion, replaced", milliseconds(replaced.p50)),
        ],
    )


def same_candidates(assortment: Assortment, sizes: tuple[int, ...], seconds: float) -> None:
    """Increase the number of active promotions while the same 25 match the basket."""
    rows = []
    at_hundred: dict[int, int] = {}
    inputs = {lines: cases(assortment, lines) for lines in LINES}
    shortest = tuple(bought for bought, _ in inputs[LINES[0]])  # promotions that match these also match the longer ones
    for size in sizes:
        made = compiled(assortment, catalogue(assortment, shortest, size, 25))
        for lines in LINES:
            timing = price(made, inputs[lines], seconds)
            at_hundred.setdefault(lines, timing.p50)
            growth = f"{timing.p50 / at_hundred[lines]:.2f}"
            rows.append((f"{size:,}", lines, milliseconds(timing.p50), milliseconds(timing.p99), growth))
    show(
        "Evaluation in-process, 25 promotions match: ms per basket",
        ("active promotions", "lines", "p50", "p99", "p50 against 100 active"),
        rows,
    )


def more_candidates(assortment: Assortment, size: int, seconds: float) -> None:
    """Price a basket of 20 lines with none, 25 and 250 matching promotions; compared with the baseline."""
    rows = []
    inputs = cases(assortment, 20)
    bought = tuple(one for one, _ in inputs)
    for matching in (0, 25, 250):
        definitions = list(catalogue(assortment, bought, size, matching))
        made = compiled(assortment, definitions)
        timing = price(made, inputs, seconds)
        applied = len(evaluate(made, *inputs[0], SETTINGS).applied)
        least = time_each(Bar(definitions).price, bought, seconds / 3)
        ratio = f"{timing.p50 / least.p50:.1f}"
        times = [milliseconds(time) for time in (timing.p50, timing.p99, least.p50)]
        rows.append((matching, applied, *times, ratio))
    show(
        f"Evaluation in-process, 20 lines, {size:,} active promotions: ms per basket",
        ("matching", "applied", "p50", "p99", "bar p50", "engine / bar"),
        rows,
        "bar: dict lookups and stacking only, sixty lines of Python, no explanations",
    )


def missed_thresholds(assortment: Assortment, parts: tuple[int, ...], seconds: float) -> None:
    """Let most of the promotions that touch a basket of 20 lines miss a threshold; the rest apply and stack."""
    rows = []
    bought = basket(assortment, 20, 0)
    inputs = [(bought, facts(assortment, bought))]
    for part in parts:
        active, touching, applying = 10_000 // part, 1_300 // part, 240 // part
        definitions = list(with_thresholds(assortment, bought, active, touching, applying))
        made = compiled(assortment, definitions)
        timing = price(made, inputs, seconds)
        applied = len(evaluate(made, *inputs[0], SETTINGS).applied)
        least = time_each(ThresholdBar(definitions).price, [bought], seconds / 3)
        times = [milliseconds(time) for time in (timing.p50, timing.p99, least.p50)]
        rows.append((f"{active:,}", touching, applied, *times, f"{timing.p50 / least.p50:.1f}"))
    show(
        "Evaluation in-process, 20 lines, most promotions miss a quantity or an amount: ms per basket",
        ("active promotions", "touching", "applied", "p50", "p99", "bar p50", "engine / bar"),
        rows,
        "bar: a loop over what the lines lead to, in order, no explanations",
    )


def missed_amounts(assortment: Assortment, size: int, seconds: float) -> None:
    """Price a basket that nothing applies to, without and with promotions for much larger purchases."""
    rows = []
    bought = basket(assortment, 20, 0)
    inputs = [(bought, facts(assortment, bought))]
    others = list(catalogue(assortment, (bought,), size, 0))
    for missed, mode in ((0, "ADDITIVE"), (size // 10, "ADDITIVE"), (size // 10, "MULTIPLICATIVE")):
        larger = [replace(one, calculation_mode=mode) for one in out_of_reach(bought, missed, size)]
        made = compiled(assortment, [*others[missed:], *larger])
        timing = price(made, inputs, seconds)
        rows.append((missed, mode, milliseconds(timing.p50), milliseconds(timing.p99)))
    show(
        f"Evaluation in-process, 20 lines, {size:,} active promotions, none applies: ms per basket",
        ("for larger purchases", "mode", "p50", "p99"),
        rows,
    )


def price(made: Catalogue, inputs: list[Case], seconds: float) -> Timing:
    """Time ``evaluate`` over the inputs."""
    return time_each(lambda case: evaluate(made, case[0], case[1], SETTINGS), inputs, seconds)
