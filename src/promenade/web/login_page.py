"""The page on which a person logs in at the built-in token issuer: a form without a script, in two languages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

import msgspec

__all__ = ["language_of", "login_css", "login_form", "message_page"]

_LANGUAGES = ("en", "de")


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    """Language -> key -> HTML, with places for what `_text` puts in."""
    return msgspec.json.decode(_read("texts.json"), type=dict[str, dict[str, str]])


@cache
def _template(name: str) -> Template:
    return Template(_read(name).decode("utf-8"))


@cache
def login_css() -> bytes:
    """How the page looks."""
    return _read("page.css")


def _read(name: str) -> bytes:
    return files("promenade.web").joinpath("login", name).read_bytes()


def language_of(accepted: str) -> str:
    """German or English, whichever an Accept-Language header would rather have; English when it has neither."""
    best, found = 0.0, _LANGUAGES[0]
    for part in accepted.lower()[:1000].split(","):
        name, _, weight = part.partition(";")
        try:
            wanted = float(weight.replace(" ", "").removeprefix("q=") or 1)
        except ValueError:
            continue
        language = name.strip().partition("-")[0]
        if language in _LANGUAGES and wanted > best:
            best, found = wanted, language
    return found


def _text(language: str, key: str, **values: str) -> str:
    """A text as HTML; ``values`` are escaped."""
    return _texts()[language][key].format(**{name: escape(value) for name, value in values.items()})


def login_form(
    language: str, *, icon: str, action: str, typed: str = "", fault: tuple[str, Mapping[str, str]] | None = None
) -> bytes:
    """The form, with what went wrong the time before: a key of the texts and its values."""
    words = (
        ""
        if fault is None
        else f'    <p class="fault" id="fault" role="alert">{_text(language, fault[0], **fault[1])}</p>'
    )
    described = "" if fault is None else ' aria-describedby="fault"'
    content = _template("form.html").substitute(
        {name: _text(language, name) for name in ("lead", "client", "secret", "submit", "hint")},
        action=escape(action),
        typed=escape(typed),
        fault=words,
        described=described + (' aria-invalid="true"' if fault is not None and fault[0] == "wrong" else ""),
        focus_client="" if typed else " autofocus",
        focus_secret=" autofocus" if typed else "",
    )
    return _page(language, "title", icon, content)


def message_page(language: str, key: str, *, icon: str, **values: str) -> bytes:
    """A page that says why there is no form."""
    content = f'    <p class="fault" role="alert">{_text(language, key, **values)}</p>'
    return _page(language, "failed", icon, content)


def _page(language: str, title: str, icon: str, content: str) -> bytes:
    page = _template("page.html").substitute(
        language=language, title=_text(language, title), icon=escape(icon), content=content
    )
    return page.encode()
