"""Every text of the back office exists in both languages, and every text that is used exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from promenade.store.authoring.trail import Action
from promenade.workflows.authoring.unit import Verb, action_of

APP = Path(__file__).parent.parent.parent / "src" / "promenade" / "web" / "ui" / "app"
AREAS = sorted({path.stem.rpartition("_")[0] for path in (APP / "i18n").glob("*.properties")})
# A binding, a call, or a key that a module passes on; composed keys end in a dot or a dash there.
_ASKED = re.compile(r"""i18n>([\w./-]+)|getText\(\s*["']([\w./-]+)["']""")


def texts(area: str, language: str) -> dict[str, str]:
    """Return the keys and values of a bundle."""
    found = {}
    for line in (APP / "i18n" / f"{area}_{language}.properties").read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            key, equals, value = line.partition("=")
            assert equals, f"{area}_{language}: {line}"
            assert key.strip() not in found, f"{area}_{language} says {key.strip()} twice"
            found[key.strip()] = value.strip()
    return found


@pytest.mark.parametrize("area", AREAS)
def test_every_text_exists_in_both_languages_with_the_same_placeholders(area: str) -> None:
    english, german = texts(area, "en"), texts(area, "de")
    assert english.keys() == german.keys()
    for key, value in english.items():
        assert german[key], f"{key} is empty in German"
        assert value, f"{key} is empty in English"
        gaps = [set(re.findall(r"\{\d+\}", one)) for one in (value, german[key])]
        assert gaps[0] == gaps[1], f"{key} is given other values in German"


def test_every_text_that_is_used_exists() -> None:
    known = {key for area in AREAS for key in texts(area, "en")}
    missing = []
    for path in [*APP.rglob("*.js"), *APP.rglob("*.xml")]:
        for match in _ASKED.finditer(path.read_text("utf-8")):
            key = match[1] or match[2]
            if not key.endswith((".", "-", "/")) and key not in known:
                missing.append(f"{path.relative_to(APP)}: {key}")
    assert not missing, "\n".join(missing)


def test_everything_that_the_audit_trail_tells_of_has_words() -> None:
    actions = set(get_args(Action))
    assert {action_of(verb) for verb in get_args(Verb)} <= actions
    worded = {key.removeprefix("generic.verb.") for key in texts("generic", "en") if key.startswith("generic.verb.")}
    assert {one for one in worded if "." not in one} == actions
