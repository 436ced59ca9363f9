"""Every word that pages take from $metadata and code lists has a German translation. No browser is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib.resources import files
from typing import Any

import pytest

from odata_server.edm import Annotation, Record
from promenade.model.codelists import code_lists
from promenade.model.declare import ADMIN, REPORTING, Service
from promenade.model.edm import edm_for

_LABELS = {"TypeName", "TypeNamePlural", "Label"}


def _german() -> dict[str, str]:
    text = files("promenade.web").joinpath("ui/app/i18n/words_de.json").read_text("utf-8")
    words: dict[str, str] = json.loads(text)
    return words


def _annotations(value: Any) -> Iterator[Annotation]:
    """Yield all annotations in a schema, at any depth."""
    if isinstance(value, Annotation):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _annotations(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _annotations(getattr(value, field.name))


def _labels(value: Any) -> Iterator[str]:
    """Yield the labels in the value of an annotation."""
    if isinstance(value, Record):
        for name, inner in value.values.items():
            if name in _LABELS and isinstance(inner, str):
                yield inner
            else:
                yield from _labels(inner)
    elif isinstance(value, tuple):
        for one in value:
            yield from _labels(one)


def _words(service: Service) -> set[str]:
    found: set[str] = set()
    for annotation in _annotations(edm_for(service).schema):
        if annotation.term == "Common.Label":
            found.add(str(annotation.value))
        found.update(_labels(annotation.value))
    return found


@pytest.mark.parametrize("service", [ADMIN, REPORTING])
def test_every_label_has_a_german_word(service: Service) -> None:
    assert sorted(_words(service) - _german().keys()) == []


def test_every_name_of_a_code_has_a_german_word() -> None:
    names = {value.name for code_list in code_lists().values() for value in code_list.values}
    assert sorted(names - _german().keys()) == []


def test_no_german_word_is_left_over_or_empty() -> None:
    names = {value.name for code_list in code_lists().values() for value in code_list.values}
    known = _words(ADMIN) | _words(REPORTING) | names
    german = _german()
    assert sorted(german.keys() - known) == []
    assert [word for word, text in german.items() if not text.strip()] == []
