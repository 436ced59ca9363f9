"""The words that a user interface shows for the names of the model."""

from __future__ import annotations

import re

__all__ = ["label", "label_of_action", "plural", "singular"]

_WORDS = {
    "pos": "POS",
    "id": "ID",
    "ids": "IDs",
    "ean": "EAN",
    "url": "URL",
    "http": "HTTP",
    "ics": "ICS",
    "config": "configuration",
    "configs": "configurations",
    "email": "e-mail",
}
_CAPITALIZED = re.compile(r"(?<!^)(?=[A-Z])")


def label(text: str) -> str:
    """``Pos group`` -> ``POS group``, ``Is active`` -> ``Active``, ``Email`` -> ``E-mail``."""
    words = text.split(" ")
    if len(words) > 1 and words[0] == "Is":
        words = words[1:]
    words = [_WORDS.get(word.lower(), word) for word in words]
    return " ".join((words[0][:1].upper() + words[0][1:], *words[1:]))


def plural(set_name: str) -> str:
    """``PromotionPosGroups`` -> ``Promotion POS groups``."""
    return label(_CAPITALIZED.sub(" ", set_name).capitalize())


def singular(set_name: str) -> str:
    """``PromotionPosGroups`` -> ``Promotion POS group``; names that are no plural stay as they are."""
    text = plural(set_name)
    if text.endswith("ies"):
        return f"{text[:-3]}y"
    if text.endswith(("ches", "sses", "xes", "tuses")):
        return text[:-2]
    return text[:-1] if text.endswith("s") and not text.endswith("ss") else text


def label_of_action(name: str) -> str:
    """``promoteToActive`` -> ``Promote to active``."""
    return label(_CAPITALIZED.sub(" ", name).capitalize())
