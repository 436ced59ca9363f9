"""The site of the documentation has every page, in a path of whoever needs it, and no link leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from docs import site

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*site.OUTSIDE, *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))])


class Loader(yaml.SafeLoader):
    """Reads the settings without what only mkdocs can make."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)
SETTINGS = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader)


def pages_of(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for one in nav.values():
            yield from pages_of(one)
    else:
        for one in nav:
            yield from pages_of(one)


def test_every_page_is_in_the_navigation_once() -> None:
    config = site.on_config(SimpleNamespace(nav=SETTINGS["nav"]))
    assert sorted(pages_of(config.nav)) == sorted(site.page_of(path) or path for path in PAGES)


@pytest.mark.parametrize("path", PAGES)
def test_links_lead_to_pages_of_the_site(path: str) -> None:
    page = site.page_of(path)
    assert page is not None
    text = re.sub(r"^```.*?^```$", "", site.linked((ROOT / path).read_text(), page), flags=re.MULTILINE | re.DOTALL)
    shown = {site.page_of(one) for one in PAGES} | {
        str(one.relative_to(ROOT / "docs")) for one in (ROOT / "docs").rglob("*.*")
    }
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:|#", target):
            led = (Path("/") / page).parent / target.partition("#")[0]
            assert str(led.resolve())[1:] in shown, target


def test_a_link_to_what_has_no_page_is_its_words() -> None:
    text = "See [the settings](../../pyproject.toml), [prices](../pricing.md#1-input) and [this](#here)."
    assert site.linked(text, "how-to/x.md") == "See the settings, [prices](../pricing.md#1-input) and [this](#here)."


def test_what_is_shown_as_code_stays() -> None:
    text = "```md\n[a](b.md)\n```\n"
    assert site.linked(text, "how-to/x.md") == text


def test_programs_find_all_pages_in_one_file(tmp_path: Path) -> None:
    config = SimpleNamespace(nav=SETTINGS["nav"], site_name="P", site_description="D", site_dir=str(tmp_path))
    site.on_post_build(site.on_config(config))
    text = (tmp_path / "llms.txt").read_text()
    assert text.startswith("# P\n\n> D.\n\n## Start\n")
    till = "A till asks for the price of a basket, shows it, and confirms what was paid."
    assert f"- [Connect a till](paths/till.html): {till}\n" in text
    assert text.count("\n- [") == len(PAGES)


TABS = """Ask:

```sh title="curl"
curl

more
```

```py title="Python"
print()
```

It answers:

```json
{}
```

```sh title="alone"
ls
```
"""


def test_titled_blocks_that_follow_each_other_are_tabs() -> None:
    one = (
        '=== "curl"\n\n    ```sh\n    curl\n\n    more\n    ```\n\n=== "Python"\n\n    ```py\n    print()\n    ```\n\n'
    )
    assert site.tabbed(TABS) == f"Ask:\n\n{one}It answers:{TABS.partition('It answers:')[2]}"


@pytest.mark.parametrize("path", PAGES)
def test_each_request_is_shown_in_all_languages_or_in_none(path: str) -> None:
    """Whoever reads on in a language finds the next step in it; what comes first has no `curl`."""
    groups = re.findall(r'^=== "(.+)"\n\n(?:    .*\n|\n)+', site.tabbed((ROOT / path).read_text()), re.MULTILINE)
    languages = ["curl", "Python", "TypeScript"]
    if groups:
        assert groups[:2] == languages[1:]
        assert groups[2:] == languages * (len(groups[2:]) // 3)
