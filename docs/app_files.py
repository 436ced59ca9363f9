"""Generates the back office's data on rule types, codes and events: scripts, and some of its texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import promenade.engine.catalogue  # registers every rule type
from promenade.engine.benefits.registry import benefit_forms, loyalty_forms
from promenade.engine.conditions import condition_types
from promenade.engine.forms import Form, in_order
from promenade.events import events, subscribable_kinds
from promenade.model.codelists import code_list
from promenade.model.texts.benefits import ACTIONS, LOYALTY_ACTIONS
from promenade.model.texts.conditions import CONDITIONS
from promenade.model.texts.rules import LANGUAGES, RuleTexts, RuleWords

__all__ = ["app_files", "shapes"]

APP = Path(promenade.__file__).parent / "web" / "ui" / "app"
WORDS = APP / "i18n" / "words_de.json"
RESOURCES = APP / "i18n" / "resources"
EVERY_EVENT = "resources.event.*="
NOTICE = "// Generated from the code by `make docs`. Change the code, not this file."
SCRIPT_LINES_MAX = 399  # the limit in eslint.config.mjs, without the line that disables it
CODES = (
    "LogicalConnectors",
    "ComparisonOperators",
    "ConditionValueCategories",
    "DiscountTypes",
    "SelectionTypes",
    "ApplicationQuantityModes",
    "DistributionModes",
    "ExclusionTypes",
    "LoyaltyTargetScopes",
)


def app_files() -> dict[Path, str]:
    """Return the back office's generated files with their contents."""
    return {
        APP / "rules" / "Shapes.js": _script("How each type of rule is entered and said, by kind and code.", shapes()),
        APP / "rules" / "Codes.js": _script(
            "Codes that the editor offers, in the order of the service's code lists.",
            {name: list(code_list(name).codes) for name in CODES},
        ),
        APP / "resources" / "eventKinds.js": _event_kinds(),
        WORDS: _words(),
        **{RESOURCES.with_name(f"resources_{language}.properties"): _event_texts(language) for language in LANGUAGES},
    }


def shapes() -> dict[str, dict[str, Any]]:
    """Return the types of each kind of rule, in the editor's order."""
    kinds: tuple[tuple[str, dict[str, Form], Mapping[str, RuleWords]], ...] = (
        ("Conditions", {code: one.form for code, one in condition_types().items()}, CONDITIONS),
        ("DiscountActions", dict(benefit_forms()), ACTIONS),
        ("LoyaltyActions", dict(loyalty_forms()), LOYALTY_ACTIONS),
    )
    return {
        kind: {code: _shape(form, words[code]) for code, form in in_order(forms).items()}
        for kind, forms, words in kinds
    }


def _shape(form: Form, words: RuleWords) -> dict[str, Any]:
    always = {"family": form.family, "icon": form.icon, "fields": form.fields, "needs": form.needs}
    sometimes = {
        "more": form.more,
        "also": form.also,
        "values": form.values,
        "isNumeric": form.is_numeric,
        "isAboutLines": form.is_about_lines,
        "category": form.category,
        "discountTypes": form.discount_types,
        "begin": dict(form.begin),
    }
    said = {language: _said(words.of(language)) for language in LANGUAGES}
    return always | {name: one for name, one in sometimes.items() if one} | {"words": said}


def _said(said: RuleTexts) -> dict[str, Any]:
    return {"name": said.name, "help": said.help, "says": [said.says] if isinstance(said.says, str) else said.says}


def _script(doc: str, members: Mapping[str, Any]) -> str:
    """Return an OpenUI5 module that returns plain JSON."""
    head = ["sap.ui.define([], function () {", '  "use strict";', "", f"  {NOTICE}", f"  /** {doc} */"]
    body = ["  // prettier-ignore", "  const made = {", *_members(members, "    ", 4), "  };"]
    lines = [*head, *body, "", "  return made;", "});"]
    rules = "max-len, max-lines" if len(lines) > SCRIPT_LINES_MAX else "max-len"
    return "\n".join([f"/* eslint-disable {rules} -- generated */", *lines]) + "\n"


def _members(value: Mapping[str, Any], indent: str, depth: int) -> list[str]:
    lines: list[str] = []
    for name, one in value.items():
        if depth > 1 and isinstance(one, dict) and one:
            lines += [f'{indent}"{name}": {{', *_members(one, f"{indent}  ", depth - 1), f"{indent}}},"]
        else:
            lines.append(f'{indent}"{name}": {json.dumps(one, ensure_ascii=False)},')
    return [*lines[:-1], lines[-1].removesuffix(",")]


def _event_kinds() -> str:
    kinds = ",\n".join(f'    "{kind}"' for kind in subscribable_kinds())
    doc = "/** Kinds of events that can be subscribed to; each has a sentence `resources.event.<kind>`. */"
    head = f'sap.ui.define([], function () {{\n  "use strict";\n\n  {NOTICE}\n  {doc}\n'
    return f"{head}  return [\n{kinds}\n  ];\n}});\n"


def _event_texts(language: str) -> str:
    """Return the bundle with the generated sentences of the events, placed before the one for all events."""
    lines = RESOURCES.with_name(f"resources_{language}.properties").read_text("utf-8").splitlines()
    others = [line for line in lines if line.startswith(EVERY_EVENT) or not line.startswith("resources.event.")]
    (at,) = [place for place, line in enumerate(others) if line.startswith(EVERY_EVENT)]
    made = [f"resources.event.{kind}={event.sentences[language]}" for kind, event in events().items()]
    return "\n".join([*others[:at], *made, *others[at:]]) + "\n"


def _words() -> str:
    """Return the German words with the rule type names of the code lists. Raise ValueError if two types disagree."""
    made: dict[str, str] = {}
    for set_name, texts in (
        ("ConditionTypes", CONDITIONS),
        ("ActionTypes", ACTIONS),
        ("LoyaltyActionTypes", LOYALTY_ACTIONS),
    ):
        for code in code_list(set_name).values:
            german = texts[code.code].de
            name = german.code or german.name
            if made.setdefault(code.name, name) != name:
                raise ValueError(f"{code.name} has two German names: {made[code.name]} and {name}")
    words = json.loads(WORDS.read_text("utf-8"))
    return json.dumps(dict(sorted({**words, **made}.items())), ensure_ascii=False, indent=2) + "\n"
