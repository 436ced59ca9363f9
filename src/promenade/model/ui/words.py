"""The labels that a user interface shows for the names of the model."""

from __future__ import annotations

import re

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
    """Convert ``Pos group`` to ``POS group``, ``Is active`` to ``Active``, ``Email`` to ``E-mail``."""
    words = text.split(" ")
    if len(words) > 1 and words[0] == "Is":
        words = words[1:]
    words = [_WORDS.get(word.lower(), word) for word in words]
    return " ".join((words[0][:1].upper() + words[0][1:], *words[1:]))


def plural(set_name: str) -> str:
    """Convert ``PromotionPosGroups`` to ``Promotion POS groups``."""
    return label(_CAPITALIZED.sub(" ", set_name).capitalize())


def singular(set_name: str) -> str:
    """Convert ``PromotionPosGroups`` to ``Promotion POS group``; names that are not plural stay as they are."""
    text = plural(set_name)
    if text == "People":
        return "Person"
    if text.endswith("ies"):
        return f"{text[:-3]}y"
    if text.endswith(("ches", "sses", "xes", "tuses")):
        return text[:-2]
    return text[:-1] if text.endswith("s") and not text.endswith("ss") else text


def label_of_action(name: str) -> str:
    """Convert ``promoteToActive`` to ``Promote to active``."""
    return label(_CAPITALIZED.sub(" ", name).capitalize())
