"""Conditions that can never hold: alone, together, or within the promotion's validity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from promenade.engine.conditions import parse_conditions
from promenade.engine.conditions.article import ArticleGroup, ArticleLines
from promenade.engine.conditions.time import TimePeriod, TimeWindow
from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.engine.inspection.finding import ERROR, WARNING, Finding, named
from promenade.engine.inspection.literals import Contradiction, Literal, contradictions
from promenade.engine.inspection.scene import Scene, is_dead
from promenade.engine.inspection.texts import Outlook
from promenade.engine.promotion import ALWAYS

SHOWN_MAX = 5  # conditions that one message lists


def check_conditions(scene: Scene) -> Iterator[Finding]:
    """Everything about the conditions themselves."""
    if scene.groups is None:
        yield from _unreadable(scene)
        return
    yield from _never(scene, scene.groups)
    yield from _unknown_articles(scene, scene.groups)


def _unreadable(scene: Scene) -> Iterator[Finding]:
    for row in scene.rows:
        try:
            parse_conditions((row,))
        except DefinitionError as error:
            field = error.target.split("/", 1)[-1]
            message = f"The condition {_called(row)} cannot be read: {error.message}"
            yield Finding(error.code, ERROR, message, f"Conditions/{field}", row.id)


# --- contradictions ---------------------------------------------------------------------------------------------------


def _never(scene: Scene, groups: Sequence[Sequence[Literal]]) -> Iterator[Finding]:
    found = scene.contradictions
    dead = [is_dead(each) for each in found]
    is_over = bool(groups) and all(dead)
    for number, each in enumerate(found):
        for clash in each:
            yield _of_contradiction(scene, clash, is_over, len(groups) > 1)
        if not dead[number]:
            yield from _no_more(scene, groups[number])
    if is_over and len(groups) > 1:
        message = "None of the alternatives that its conditions form can ever hold: the promotion never applies."
        yield Finding("NEVER_APPLIES", ERROR, message, "Conditions")


def _of_contradiction(scene: Scene, clash: Contradiction, is_over: bool, has_others: bool) -> Finding:
    literals = sorted(clash.literals, key=lambda one: one.place)
    last = scene.rows[literals[-1].place]
    is_time = any(isinstance(one.condition, TimePeriod | TimeWindow) for one in literals)
    alone = len(literals) == 1
    said = " and ".join([_quoted(scene, one) for one in literals[:SHOWN_MAX]])
    said += f" and {len(literals) - SHOWN_MAX} more" if len(literals) > SHOWN_MAX else ""
    target = f"Conditions/{_field(last)}"
    if clash.outlook is Outlook.UNLIKELY:
        what = "holds" if alone else "hold together"
        message = f"Likely wrong: {said} {what} only for text, never for a number."
        return Finding("CONDITION_UNLIKELY", WARNING, message, target, last.id)
    if is_time and _is_ever_alone(scene, literals):
        message = f"{said} never {'holds' if alone else 'hold together'} while the promotion is valid."
        code = "CONDITION_OUTSIDE_VALIDITY"
    elif alone:
        message, code = f"{said} can never hold.", "CONDITION_NEVER_HOLDS"
    else:
        message, code = f"{said} can never hold together.", "CONDITIONS_CONTRADICT"
    if is_over:
        return Finding(
            code, ERROR, message + (" The promotion never applies." if not has_others else ""), target, last.id
        )
    return Finding(code, WARNING, message + " Only the other alternatives (OR) can apply.", target, last.id)


def _is_ever_alone(scene: Scene, literals: Sequence[Literal]) -> bool:
    """Whether time conditions could hold at some other time: then the validity is what rules them out."""
    return not contradictions(literals, replace(scene.given, starts=-ALWAYS, ends=ALWAYS))


def _no_more(scene: Scene, group: Sequence[Literal]) -> Iterator[Finding]:
    """Time conditions that could have held before, but not from now on."""
    timed = [one for one in group if isinstance(one.condition, TimePeriod | TimeWindow)]
    if not timed or scene.now <= scene.starts or scene.now >= scene.ends:
        return
    for clash in contradictions(timed, replace(scene.given, starts=scene.now)):
        last = scene.rows[max(one.place for one in clash.literals)]
        said = " and ".join([_quoted(scene, one) for one in clash.literals[:SHOWN_MAX]])
        message = f"{said} will not hold again while the promotion is valid."
        severity = ERROR if scene.groups is not None and len(scene.groups) == 1 else WARNING
        yield Finding("CONDITION_NO_MORE", severity, message, f"Conditions/{_field(last)}", last.id)


# --- words ------------------------------------------------------------------------------------------------------------


def _quoted(scene: Scene, literal: Literal) -> str:
    row = scene.rows[literal.place]
    said = literal.condition.needs()
    said = said if len(said) <= 120 else said[:117] + "..."
    return f"{'NOT ' if literal.negated else ''}{row.condition_type} {row.sequence} ({said})"


def _called(row: ConditionRow) -> str:
    return f"{row.condition_type} {row.sequence}"


def _field(row: ConditionRow) -> str:
    """The property that holds the value compared with."""
    if row.condition_type == "TIME_WINDOW":
        return "weekdays" if row.time_from is None and row.time_to is None else "timeFrom"
    if row.condition_type == "TIME_PERIOD":
        return "dateFrom" if row.date_from is not None else "dateTo"
    if row.value is not None:
        return "value"
    if row.article_number is not None:
        return "articleNumber"
    if row.article_group_id is not None:
        return "articleGroupId"
    if row.manufacturer is not None:
        return "manufacturer"
    if row.articles:
        return "articleListItems"
    return "valueListItems" if row.values else "value"


# --- articles that nobody knows ---------------------------------------------------------------------------------------


def _unknown_articles(scene: Scene, groups: Sequence[Sequence[Literal]]) -> Iterator[Finding]:
    """Articles and groups missing from the master data; a till may sell them all the same, so this is only likely."""
    for group in groups:
        for one in group:
            condition = one.condition
            row = scene.rows[one.place]
            if one.negated:
                continue
            if isinstance(condition, ArticleLines):
                yield from _of_articles(scene, row, condition.numbers, condition.eans)
            elif isinstance(condition, ArticleGroup) and scene.tenant.tree.parents:
                unknown = [key for key in condition.groups if key not in scene.tenant.tree.parents]
                if unknown:
                    yield _unknown_group(row, unknown, len(unknown) == len(condition.groups))


def _unknown_group(row: ConditionRow, unknown: Sequence[str], is_all: bool) -> Finding:
    what = "Likely it never holds" if is_all else "These are likely misspelt"
    message = f"{_called(row)} names article groups that the master data do not hold: {named(list(unknown))}. {what}."
    return Finding("ARTICLE_GROUP_UNKNOWN", WARNING, message, "Conditions/articleGroupId", row.id)


def _of_articles(scene: Scene, row: ConditionRow, numbers: Sequence[str], eans: Sequence[str]) -> Iterator[Finding]:
    tenant = scene.tenant
    if not tenant.keeps_articles:
        return
    target = f"Conditions/{_field(row)}"
    unknown = [key for key in numbers if key not in tenant.articles] + [key for key in eans if key not in tenant.eans]
    if unknown:
        is_all = len(unknown) == len(numbers) + len(eans)
        what = "Likely it never holds" if is_all else "These are likely misspelt"
        message = f"{_called(row)} names articles that the master data do not hold: {named(unknown)}. {what}."
        yield Finding("ARTICLE_UNKNOWN", WARNING, message, target, row.id)
    retired = [key for key in numbers if key in tenant.articles and not tenant.articles[key].is_active]
    retired += [key for key in eans if key in tenant.eans and not tenant.eans[key].is_active]
    if retired:
        message = f"{_called(row)} names articles that are not sold any more: {named(retired)}."
        yield Finding("ARTICLE_INACTIVE", WARNING, message, target, row.id)
