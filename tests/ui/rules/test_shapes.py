"""The rule editor offers exactly what the engine reads: types, fields, codes, and texts for all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields as fields_of
from dataclasses import replace
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest

import promenade
from docs.app_files import app_files
from promenade.engine.benefits import registry as benefits
from promenade.engine.conditions import registry as conditions
from promenade.engine.definition import (
    ActionRow,
    ArticleRow,
    ComponentRow,
    ConditionRow,
    DefinitionError,
    ExclusionRow,
    LoyaltyRow,
    TierRow,
)
from promenade.model.codelists import code_list
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.model.texts.benefits import ACTIONS, LOYALTY_ACTIONS
from promenade.model.texts.conditions import CONDITIONS
from promenade.model.texts.rules import LANGUAGES
from promenade.store.promotions.condition_sentences import PARTS

APP = Path(promenade.__file__).parent / "web/ui/app"
TERMS = benefits.Terms(True, "ROUND_HALF_UP", None)
OF_NO_TYPE = {"id", "sequence", "connector", "condition_type", "action_type"}
CALLED = {
    "value": "values", "values": "values", "articles": "articleListItems", "components": "bundleComponents",
    "target_coupon_type_id": "targetCouponType_ID", "max_discount_hundredths": "maxDiscountAmount",
}  # fmt: skip


def table(name: str) -> Any:
    """Return the plain JSON that a generated script returns."""
    text = (APP / "rules" / f"{name}.js").read_text("utf-8")
    return json.loads(text[text.index("const made = ") + len("const made = ") : text.index("};") + 1])


def parts() -> dict[str, set[str]]:
    """Return the placeholders of sentences that the editor fills, by kind of rule."""
    text = (APP / "rules" / "Sentences.js").read_text("utf-8")
    table = text[text.index("    const PARTS = {") :]
    found: dict[str, set[str]] = {}
    for line in table[: table.index("\n    };")].splitlines()[1:]:
        if match := re.match(r" {6}(\w+): \{", line):
            found[match[1]] = kind = set()
        elif match := re.match(r" {8}(\w+): ", line):
            kind.add(match[1])
    return found


SHAPES, CODES = table("Shapes"), table("Codes")


def texts(language: str) -> dict[str, str]:
    lines = (APP / "i18n" / f"rules_{language}.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def wire(field: str) -> str:
    """Return the wire name of a field."""
    if field in CALLED:
        return CALLED[field]
    first, *rest = re.sub("_(hundredths|thousandths)$", "", field).split("_")
    return first + "".join(part.capitalize() for part in rest)


class Watched:
    """A row that records which of its fields were read."""

    def __init__(self, row: Any, seen: set[str]) -> None:
        self._row = row
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        self._seen.add(name)
        return getattr(self._row, name)


FILLED: dict[str, Any] = {
    "operator": "BETWEEN", "value": "1", "value_to": "2", "value_category": "LOYALTY_TIER", "article_number": "1",
    "article_group_id": "G", "include_sub_groups": True, "manufacturer": "M", "field_name": "points",
    "min_quantity_thousandths": 1000, "min_amount_hundredths": 100, "time_from": time(8), "time_to": time(9),
    "weekdays": "MON", "date_from": date(2026, 1, 1), "date_to": date(2026, 1, 2), "values": ("1",),
    "articles": (ArticleRow("1"),), "discount_type": "PERCENTAGE", "discount_value_hundredths": 100,
    "target_article_number": "1", "target_article_group_id": "G", "selection_type": "ALL",
    "application_quantity_mode": "LIMITED", "application_quantity_thousandths": 1000, "target_coupon_type_id": "1",
    "distribution_mode": "EQUAL", "max_bundles": 1, "free_item_article_number": "1",
    "free_item_quantity_thousandths": 1000, "free_item_reference_price_hundredths": 100,
    "max_free_units_thousandths": 1000, "restrict_to_one_per_basket": True, "target_article_list": True,
    "scaled_tiers": (TierRow(1, "PERCENTAGE", 100, threshold_hundredths=100),),
    "quantity_tiers": (TierRow(1, "PERCENTAGE", 100, min_quantity_thousandths=1000),),
    "components": (ComponentRow("1", 1, 1000, "1"),), "exclusions": (ExclusionRow("ARTICLE", "1"),),
    "points_hundredths": 100, "multiplier_thousandths": 2000, "currency_amount_hundredths": 100,
    "max_points_hundredths": 100, "target_scope": "ARTICLE_GROUP",
}  # fmt: skip


def variants(empty: Any) -> Iterator[Any]:
    """Yield an empty row, a full one, and all that differ from either in one field, for every scope."""
    names = [field.name for field in fields_of(empty) if field.name in FILLED]
    full = replace(empty, **{name: FILLED[name] for name in names})
    for row in (empty, replace(full, **({"max_discount_hundredths": None} if isinstance(full, ActionRow) else {}))):
        yield row
        for name in names:
            yield replace(row, **{name: FILLED[name] if row is empty else getattr(empty, name)})
        if isinstance(row, LoyaltyRow):
            yield from (replace(row, target_scope=scope) for scope in CODES["LoyaltyTargetScopes"])


def read_of(empty: Any, parse: Callable[[Any], Any]) -> set[str]:
    """Return the wire names of the fields that are read from rows of a type, without those that it refuses."""
    seen: set[str] = set()
    for row in variants(empty):
        try:
            parse(Watched(row, seen))
        except DefinitionError:
            continue
    return {wire(name) for name in seen - OF_NO_TYPE - refused(empty, parse)}


def refused(empty: Any, parse: Callable[[Any], Any]) -> set[str]:
    if not isinstance(empty, ActionRow) or empty.action_type != "FREE_ITEM":
        return set()
    with pytest.raises(DefinitionError) as told:
        parse(replace(empty, free_item_article_number="1", max_discount_hundredths=100))
    assert (told.value.target, told.value.code) == ("maxDiscountAmount", "NOT_ALLOWED")
    return {"max_discount_hundredths"}


def offered(shape: Mapping[str, list[str]]) -> set[str]:
    return {field for part in ("fields", "more", "also") for field in shape.get(part, [])}


@pytest.mark.parametrize("code", conditions.condition_codes())
def test_the_fields_of_a_condition_are_those_that_the_engine_reads(code: str) -> None:
    row = ConditionRow("1", 10, "AND", code)
    parse = conditions.condition_types()[code].parse
    assert offered(SHAPES["Conditions"][code]) == read_of(row, parse)


@pytest.mark.parametrize("code", benefits.benefit_codes())
def test_the_fields_of_an_action_are_those_that_the_engine_reads(code: str) -> None:
    parse = benefits.benefit_types()[code].parse
    assert offered(SHAPES["DiscountActions"][code]) == read_of(ActionRow("1", 10, code), lambda row: parse(row, TERMS))


@pytest.mark.parametrize("code", benefits.loyalty_codes())
def test_the_fields_of_points_are_those_that_the_engine_reads(code: str) -> None:
    parse = benefits.loyalty_types()[code].parse
    assert offered(SHAPES["LoyaltyActions"][code]) == read_of(LoyaltyRow("1", code), parse)


def test_all_types_are_offered() -> None:
    assert set(SHAPES["Conditions"]) == set(conditions.condition_codes())
    assert set(SHAPES["DiscountActions"]) == set(benefits.benefit_codes())
    assert set(SHAPES["LoyaltyActions"]) == set(benefits.loyalty_codes())


@pytest.mark.parametrize("name", sorted(CODES))
def test_the_codes_are_those_of_the_code_list(name: str) -> None:
    assert tuple(CODES[name]) == code_list(name).codes


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_every_field_is_one_of_the_entity(kind: str) -> None:
    edm = edm_for(Service.ADMIN)
    entity = edm.entity_types[edm.entity_sets[kind].entity_type]
    known = {one.name for one in (*entity.properties, *entity.navigations)}
    used = {field for shape in SHAPES[kind].values() for field in offered(shape)} - {"values"}
    assert used <= known


def places(sentences: str | tuple[str, ...]) -> list[list[str]]:
    """Return the placeholders of each sentence."""
    return [
        sorted(re.findall(r"\{(\w+)\}", one)) for one in ((sentences,) if isinstance(sentences, str) else sentences)
    ]


TYPES = [
    *(("Conditions", code) for code in conditions.condition_codes()),
    *(("DiscountActions", code) for code in benefits.benefit_codes()),
    *(("LoyaltyActions", code) for code in benefits.loyalty_codes()),
]
WORDS = {"Conditions": CONDITIONS, "DiscountActions": ACTIONS, "LoyaltyActions": LOYALTY_ACTIONS}


@pytest.mark.parametrize(("kind", "code"), TYPES)
def test_every_type_has_words_in_every_language(kind: str, code: str) -> None:
    words = WORDS[kind][code]
    assert words.description.endswith(".")
    for language in LANGUAGES:
        said = words.of(language)
        assert said.name
        assert said.help.endswith(".")
        assert said.says
        assert places(said.says) == places(words.en.says), f"{language} has other places than English"
        assert {place for one in places(said.says) for place in one} <= parts()[kind]
    if kind == "Conditions":
        assert {place for one in places(words.summary or words.en.says) for place in one} <= set(PARTS)


def test_descriptions_exist_only_for_existing_types() -> None:
    assert {(kind, code) for kind, words in WORDS.items() for code in words} == set(TYPES)


@pytest.mark.parametrize("path", app_files(), ids=lambda path: path.name)
def test_the_generated_files_of_the_app_match_the_declarations(path: Path) -> None:
    assert path.read_text("utf-8") == app_files()[path], "run: make docs"


@pytest.mark.parametrize("language", ["en", "de"])
def test_there_are_words_for_every_field_family_and_code(language: str) -> None:
    known = texts(language)
    wanted = {
        f"rules.field.{field}" for types in SHAPES.values() for shape in types.values() for field in offered(shape)
    } - {"rules.field.targetArticleList"}
    wanted |= {f"rules.family.{shape['family']}" for types in SHAPES.values() for shape in types.values()}
    wanted |= {f"rules.code.{name}.{code}" for name, codes in CODES.items() for code in codes} - {
        f"rules.code.LogicalConnectors.{code}" for code in CODES["LogicalConnectors"]
    }
    assert wanted <= set(known)
    assert not [key for key, text in known.items() if not text.strip()]


def test_both_languages_have_the_same_texts() -> None:
    assert set(texts("en")) == set(texts("de"))
