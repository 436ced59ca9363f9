"""A start for the best deal where exclusive offers compete for units, from the best assignment of them (section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from promenade.engine.benefits.bundle import BundleDiscount
from promenade.engine.benefits.registry import REWARDS_ONLY
from promenade.engine.best_deal.assignment import BundleOffer, Offer, assign, place_bundles
from promenade.engine.best_deal.ceilings import FINE
from promenade.engine.best_deal.contenders import Contender
from promenade.engine.leaving import Units
from promenade.engine.ledger import Ledger
from promenade.engine.money import rounding_step

_TRIES_MAX = 16  # assignments with another winner of a priority group


def bound_by_units(ledger: Ledger, members: Sequence[Contender]) -> int:
    """An upper bound of what all give together, in minor units times FINE: each unit goes to one exclusive offer or to
    all others.
    """
    offers: list[Offer] = []
    stacking: list[Contender] = []
    constant = 0
    for member in members:
        ceiling = member.ceiling
        bundle = None if ceiling.rates is not None else _bundle_of(ledger, member)
        if bundle is not None and member.candidate.promotion.is_unit_exclusive:
            offers.append(bundle.as_offer())
            constant += _most_by_rounding(member, ledger.view.exponent)
        elif ceiling.rates is None:
            constant += member.most
        elif member.candidate.promotion.is_unit_exclusive:
            offers.append(Offer(ceiling.rates, ceiling.capacity))
        else:
            stacking.append(member)
    worths = ledger.unit_worths
    most = {line: -(-worths[line] * FINE // ledger.scale) for line in range(len(worths))}
    offers.append(Offer({line: min(rate, most[line]) for line, rate in _most_together(stacking).items()}, None))
    return assign(offers, _units_of(ledger, members)).value + constant * FINE


class Start:
    """By ordinal, what every exclusive offer that takes part leaves to others; and the ``rivals`` that do not take
    part, because another of their priority group does. ``value``: what the assignment promises, times FINE.
    """

    __slots__ = ("left", "rivals", "value")

    def __init__(self, left: dict[int, Units], rivals: frozenset[int], value: int) -> None:
        self.left = left
        self.rivals = rivals
        self.value = value


def start_of(ledger: Ledger, members: Sequence[Contender]) -> Start | None:
    """The best assignment that is found; None if fewer than two offers compete for units."""
    eligible = _one_of_each_group(members)
    groups = _alternatives(eligible)
    rivals: dict[str, frozenset[int]] = {}
    for group, alternatives in groups.items():
        strongest = max(alternatives, key=lambda some: sum([one.most for one in some]))
        rivals[group] = _all_others(alternatives, strongest)
    best = _assigned(ledger, eligible, frozenset().union(*rivals.values()))
    tries = _TRIES_MAX
    for group, alternatives in groups.items():
        for alternative in alternatives:
            other = rivals | {group: _all_others(alternatives, alternative)}
            tries -= 1
            if best is None or tries < 0 or other == rivals:
                continue
            found = _assigned(ledger, eligible, frozenset().union(*other.values()))
            if found is not None and found.value > best.value:
                best, rivals = found, other
    return best


def _alternatives(members: Sequence[Contender]) -> dict[str, list[list[Contender]]]:
    """By priority group of which one excludes the others: those that do, each alone, and the rest together."""
    groups: dict[str, list[Contender]] = {}
    for member in members:
        groups.setdefault(member.candidate.group_id or "", []).append(member)
    found: dict[str, list[list[Contender]]] = {}
    for group, all_of_it in groups.items():
        alone = [[one] for one in all_of_it if one.candidate.promotion.is_group_exclusive]
        together = [one for one in all_of_it if not one.candidate.promotion.is_group_exclusive]
        if group and alone:
            found[group] = [*alone, together] if together else alone
    return found


def _all_others(alternatives: Sequence[Sequence[Contender]], chosen: Sequence[Contender]) -> frozenset[int]:
    return frozenset([one.ordinal for some in alternatives if some is not chosen for one in some])


def _assigned(ledger: Ledger, members: Sequence[Contender], rivals: frozenset[int]) -> Start | None:
    eligible = [one for one in members if one.ordinal not in rivals]
    exclusive = [one for one in eligible if one.candidate.promotion.is_unit_exclusive]
    bundles = [(one, bundle) for one in exclusive if (bundle := _bundle_of(ledger, one)) is not None]
    singles = [(one, rates) for one in exclusive if (rates := one.ceiling.rates) is not None]
    if len(singles) + len(bundles) < 2:
        return None
    offers = [Offer(rates, member.ceiling.capacity) for member, rates in singles]
    offers.append(Offer(_together([one for one in eligible if one not in exclusive]), None))
    units = _units_of(ledger, members)
    rest, placed = place_bundles(offers, [bundle for _, bundle in bundles], units)
    value = rest.value
    flows = {member.ordinal: flow for (member, _), flow in zip(singles, rest.flows, strict=False)}
    for (member, bundle), sets in zip(bundles, placed, strict=True):
        flows[member.ordinal] = dict(sum([Counter(one) for one in sets], Counter()))
        value += sum([bundle.value(one) for one in sets])
    used = dict.fromkeys(units, 0)
    left: dict[int, Units] = {}
    for member in exclusive:
        flow = {line: count for line, count in flows.get(member.ordinal, {}).items() if count > 0}
        if flow:
            left[member.ordinal] = _all_but(flow, used, units, member)
            for line, count in flow.items():
                used[line] += count
    return Start(left, rivals, value)


def _most_together(members: Sequence[Contender]) -> dict[int, int]:
    """At most what offers that are not exclusive give together per unit."""
    groups = _alternatives(members)
    together = _together([one for one in members if one.candidate.group_id not in groups])
    for alternatives in groups.values():
        most: dict[int, int] = {}
        for some in alternatives:
            for line, rate in _together(some).items():
                most[line] = max(most.get(line, 0), rate)
        for line, rate in most.items():
            together[line] = together.get(line, 0) + rate
    return together


def _together(members: Sequence[Contender]) -> dict[int, int]:
    """What offers that are not exclusive give together per unit."""
    together: dict[int, int] = {}
    for member in members:
        for line, rate in (member.ceiling.rates or {}).items():
            together[line] = together.get(line, 0) + rate
    return together


def _all_but(flow: Mapping[int, int], used: Mapping[int, int], units: Mapping[int, int], member: Contender) -> Units:
    """The units of its lines that are not assigned to it; assigned ones follow those assigned before."""
    left: dict[int, list[tuple[int, int]]] = {}
    for line in sorted(member.lines):
        first = used[line]
        last = first + flow.get(line, 0)
        left[line] = [(unit, 1) for unit in range(units[line]) if not first <= unit < last]
    return {line: runs for line, runs in left.items() if runs}


def _units_of(ledger: Ledger, members: Sequence[Contender]) -> dict[int, int]:
    return {line: ledger.units[line] for line in sorted({line for member in members for line in member.lines})}


def _one_of_each_group(members: Sequence[Contender]) -> list[Contender]:
    """Of an exclusion group only the member that can give most."""
    best: dict[str, Contender] = {}
    for member in members:
        group = member.candidate.exclusion_id
        if group is not None and (group not in best or member.most > best[group].most):
            best[group] = member
    return [one for one in members if one.candidate.exclusion_id is None or best[one.candidate.exclusion_id] is one]


def _most_by_rounding(member: Contender, exponent: int) -> int:
    definition = member.candidate.promotion.definition
    precision = None if definition.rounding == "NONE" else definition.precision
    return 1 if precision is None else rounding_step(precision, exponent)


def _bundle_of(ledger: Ledger, member: Contender) -> BundleOffer | None:
    benefits = [one for one in member.candidate.promotion.benefits if one.stage != REWARDS_ONLY]
    turn = member.alone
    if len(benefits) != 1 or turn is None:
        return None
    (bundle,) = benefits
    if not isinstance(bundle, BundleDiscount):
        return None
    lines: dict[int, None] = {}
    quantity = 0
    for component in bundle.components:
        if component.discounted:
            lines.update(dict.fromkeys(bundle.lines_of(turn, component)))
            quantity += component.quantity
    kind, value = bundle.shown
    whole = all(component.discounted for component in bundle.components)
    if bundle.mode is not None or not bundle.choice.is_all or not (whole or kind != "UNIT_PRICE"):
        return None
    scale = ledger.scale
    worths = {line: ledger.unit_worths[line] * FINE // scale for line in lines}
    times = turn.applications if turn.repeats else 1
    if kind == "PERCENTAGE":
        return BundleOffer({line: worth * value // 10_000 for line, worth in worths.items()}, quantity, times, 0, None)
    face = value * ledger.factor * FINE // scale
    if kind == "ABSOLUTE":
        return BundleOffer(worths, quantity, times, 0, face)
    return BundleOffer(worths, quantity, times, face, None)
