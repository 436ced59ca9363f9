"""What the site of the documentation needs beyond mkdocs: pages from outside ``docs``, their links, and ``llms.txt``.

The pages are written for the repository, so their links are paths of it. On the site they lead to pages; what has no
page there, such as a source file, is named without a link. Blocks of code with titles that follow each other, such as
the same request in three languages, are tabs on the site. `mkdocs.yml` uses this module as a hook.
"""

from __future__ import annotations

import posixpath
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

__all__ = ["OUTSIDE", "linked", "on_config", "on_files", "on_page_markdown", "on_post_build", "page_of", "tabbed"]

ROOT = Path(__file__).parent.parent
OUTSIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contribute.md",
    "CHANGELOG.md": "changelog.md",
    "deploy/README.md": "deploy.md",
    "tests/README.md": "tests.md",
}
"""Pages that lie outside ``docs``, and what they are called on the site."""

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
_TITLED = r'^```\w+ title="([^"\n]+)"\n.*?^```$'
_TABS = re.compile(rf"(?:{_TITLED}\n*){{2,}}", re.MULTILINE | re.DOTALL)
_TAB = re.compile(_TITLED, re.MULTILINE | re.DOTALL)
_ELSEWHERE = re.compile(r"^([a-z]+:|#|/)")


class _File(Protocol):
    src_uri: str
    url: str


class _Page(Protocol):
    title: str
    file: _File


def page_of(path: str) -> str | None:
    """Return the page of the site that shows a file of the repository; None: there is none."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    is_shown = path.startswith("docs/") and not path.endswith((".py", "/")) and (ROOT / path).is_file()
    return path.removeprefix("docs/") if is_shown else None


def _path_of(page: str) -> str:
    outside = {shown: path for path, shown in OUTSIDE.items()}
    return outside.get(page, f"docs/{page}")


def linked(text: str, page: str) -> str:
    """Return the text of a page of the site with links that lead to pages of the site."""
    folder = posixpath.dirname(_path_of(page))

    def moved(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        if _ELSEWHERE.match(target):
            return match[0]
        path, sharp, anchor = target.partition("#")
        shown = page_of(posixpath.normpath(posixpath.join(folder, path)))
        if shown is None:
            return words
        return f"{mark}[{words}]({posixpath.relpath(shown, posixpath.dirname(page) or '.')}{sharp}{anchor})"

    return "".join(part if part.startswith("```") else _LINK.sub(moved, part) for part in _FENCE.split(text))


def tabbed(text: str) -> str:
    """Return the text of a page with a tab for each of the titled blocks of code that follow each other."""

    def tab(block: re.Match[str]) -> str:
        language, _, code = block[0].partition("\n")
        shown = f"{language.split()[0]}\n{code}"
        return f'=== "{block[1]}"\n\n{textwrap.indent(shown, "    ")}'

    return _TABS.sub(lambda blocks: "\n\n".join(map(tab, _TAB.finditer(blocks[0]))) + "\n\n", text)


def _pages_in(folder: str) -> list[str]:
    names = sorted(path.name for path in (ROOT / "docs" / folder).glob("*.md"))
    return [f"{folder}/{name}" for name in sorted(names, key=lambda name: name != "README.md")]


def _spread(nav: list[Any]) -> Iterator[Any]:
    """Put the pages of a folder where it is named."""
    for one in nav:
        if isinstance(one, str) and not one.endswith(".md"):
            yield from _pages_in(one)
        elif isinstance(one, dict):
            ((title, under),) = one.items()
            is_page = isinstance(under, str) and under.endswith(".md")
            yield {title: under if is_page else list(_spread(under if isinstance(under, list) else [under]))}
        else:
            yield one


# ---- what mkdocs calls -----------------------------------------------------------------------------------------------


def on_config(config: Any) -> Any:
    """Name every page of the folders in the navigation."""
    config.nav = list(_spread(config.nav))
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from outside."""
    from mkdocs.structure.files import File  # type: ignore[import-not-found]  # noqa: PLC0415 - only it calls this

    for path, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: _Page, **_: Any) -> str:
    """Let links lead to pages of the site, and make tabs."""
    return tabbed(linked(markdown, page.file.src_uri))


def on_post_build(config: Any) -> None:
    """Write ``llms.txt``: what there is, in a form that programs read."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}."]
    for section in config.nav:
        ((title, under),) = section.items()
        lines += ["", f"## {title}", "", *_listed(under)]
    (Path(config.site_dir) / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")


def _listed(under: Any) -> Iterator[str]:
    for one in [under] if isinstance(under, str) else under:
        if isinstance(one, dict):
            for inner in one.values():
                yield from _listed(inner)
        else:
            yield _entry(one)


def _sentence(text: str) -> str:
    """Return the first sentence of a paragraph, as far as a colon."""
    return re.split(r"[.:](?:\s|$)", " ".join(text.split()))[0] + "."


def _entry(page: str) -> str:
    text = (ROOT / _path_of(page)).read_text("utf-8")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    about = re.search(r"^# .+\n+((?:[^\n#`|!<-].*\n?)+)", text, re.MULTILINE)
    said = _sentence(_LINK.sub(r"\2", about[1])) if about else ""
    named = page.replace(".md", ".html").replace("README.html", "index.html")
    return f"- [{title[1] if title else page}]({named})" + (f": {said}" if said else "")
