"""Promotions as files: exported from one tenant, compared with another and applied to it, by the commands."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from promenade.cli import main
from tests.kit.databases import Databases

SUMMER = """\
# Ours since the campaign of 2019.
code: SUMMER
name: Summer
conditions:
  - conditionType: RECEIPT_AMOUNT
    minAmount: 20
loyaltyActions:
  - actionType: ADD_FIXED
    points: 50
"""


class Run(Protocol):
    """Run a command in this process; return its exit code, its output and its errors."""

    def __call__(self, *arguments: str, stdin: str = "") -> tuple[int, str, str]: ...


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def call(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        code = ended.value.code
        assert isinstance(code, int)
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def place(databases: Databases, run: Run) -> Iterator[list[str]]:
    """The options of commands on a database with two tenants."""
    url = databases.create("sqlite")
    options = ["--database-url", url]
    for tenant in ("test", "prod"):
        assert run("tenant", "create", tenant, *options)[0] == 0
    yield options
    databases.drop(url)


def test_promotions_go_from_one_tenant_to_another_as_files(run: Run, place: list[str], tmp_path: Path) -> None:
    folder, other = tmp_path / "promotions", tmp_path / "other"
    folder.mkdir()
    (folder / "summer.yaml").write_text(SUMMER)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x.yaml").write_text("no: document\n")
    assert run("validate", str(folder)) == (0, "1 document: nothing is wrong.\n", "")
    to_test, to_prod = (["--tenant", tenant, *place] for tenant in ("test", "prod"))

    code, out, _ = run("apply", str(folder), *to_test, "--dry-run")
    assert (code, out.splitlines()[-1]) == (0, "This was a dry run: nothing was changed.")
    assert run("diff", str(folder), *to_test, "--exit-code")[0] == 3
    assert run("apply", str(folder), *to_test)[0] == 0
    assert run("diff", str(folder), *to_test, "--exit-code") == (0, "No changes.\n", "")

    assert run("export", *to_test, "--to", str(other))[1] == f"1 promotion, 1 file written to {other}.\n"
    (written,) = other.glob("*.yaml")
    first, rest = written.read_text().split("\n", 1)
    assert first == "# yaml-language-server: $schema=promotion.schema.json"
    assert json.loads((other / "promotion.schema.json").read_text()) == json.loads(run("schema")[1])
    assert rest == SUMMER.split("\n", 1)[1]

    text = run("export", "SUMMER", *to_test)[1]
    assert run("apply", "-", *to_prod, stdin=text)[1].startswith('+ SUMMER (standard input)\n    Name "Summer"\n')
    assert run("apply", "-", *to_prod, stdin=text) == (0, "No changes.\n", "")
    assert run("export", *to_prod)[1] == text


def test_an_export_keeps_files_that_say_the_same(run: Run, place: list[str], tmp_path: Path) -> None:
    folder, options = tmp_path / "promotions", ["--tenant", "test", *place]
    texts = {name: SUMMER.replace("SUMMER", name) for name in ("SUMMER", "summer", "WINTER")}
    assert run("apply", "-", *options, stdin="---\n".join(texts.values()))[0] == 0
    (folder / "cold").mkdir(parents=True)
    (folder / "hot.yaml").write_text(SUMMER.replace("minAmount: 20", "minAmount: 20.00"))
    (folder / "cold" / "w.yml").write_text(texts["WINTER"].replace("points: 50", "points: 60"))
    (folder / "summer.yaml").write_text("this is no document\n")
    assert run("export", *options, "--to", str(folder))[1].startswith("3 promotions, 2 files written")
    assert "2019" in (folder / "hot.yaml").read_text()
    winter = (folder / "cold" / "w.yml").read_text()
    assert winter.startswith("# yaml-language-server: $schema=../promotion.schema.json\ncode: WINTER\n")
    assert "points: 50" in winter
    assert sorted(file.name for file in folder.glob("*.yaml")) == ["hot.yaml", "summer-2.yaml", "summer.yaml"]


def test_a_plan_names_what_is_new_changed_and_missing(run: Run, place: list[str]) -> None:
    options = ["--tenant", "test", *place]
    other = SUMMER.replace("SUMMER", "OTHER")
    assert run("apply", "-", *options, stdin=f"{SUMMER}---\n{other}")[0] == 0
    changed = SUMMER.replace("points: 50", "points: 75")
    text = f"{changed}---\n{SUMMER.replace('SUMMER', 'NEW')}"
    assert run("diff", "-", *options, stdin=text)[1].splitlines() == [
        "~ SUMMER (standard input)",
        "    Loyalty actions 1: Points: 50 -> 75",
        "+ NEW (standard input)",
        '    Name "Summer"',
        "    Conditions: Condition type Receipt amount, Min amount 20",
        "    Loyalty actions: Action type Add fixed, Points 50",
        "- OTHER Summer: it is in no document, and stays as it is",
        "1 new, 1 changed, 0 without changes, 1 in no document.",
    ]
    rows = json.loads(run("diff", "-", *options, "--json", stdin=text)[1])
    assert [row["act"] for row in rows] == ["changed", "new", "missing"]


def test_every_fault_of_every_file_is_told_and_nothing_is_applied(run: Run, place: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(SUMMER.replace("points: 50", "points: many\n    colour: red"))
    (tmp_path / "b.yaml").write_text("a: &b 1\n")
    (tmp_path / "c.yaml").write_text(SUMMER)
    code, out, err = run("apply", str(tmp_path), "--tenant", "test", *place)
    assert (code, out) == (1, "")
    told = [line.removeprefix(f"{tmp_path}/").partition(":")[0] for line in err.splitlines()]
    assert told == ["a.yaml, line 9", "a.yaml, line 10", "b.yaml, line 1"]
    assert run("export", "--tenant", "test", *place)[1] == ""


def test_a_refused_document_fails_the_command_and_not_the_others(run: Run, place: list[str]) -> None:
    bad = SUMMER.replace("SUMMER", "BAD") + "posGroups: [NOWHERE]\n"
    code, out, err = run("apply", "-", "--tenant", "test", *place, stdin=f"{bad}---\n{SUMMER}")
    assert code == 1
    assert "standard input, line 10: posGroups/0: " in err
    assert out.splitlines()[-1] == "1 new, 0 changed, 0 without changes, 1 refused."
    assert run("export", "--tenant", "test", *place)[1].startswith("code: SUMMER\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("validate", "nowhere.yaml"), "nowhere.yaml cannot be read"),
        (("export", "NO", "--tenant", "test"), "no promotion with the code NO"),
        (("export", "--tenant", "nobody"), "no tenant nobody"),
    ],
)
def test_a_wrong_value_is_one_clear_line(run: Run, place: list[str], arguments: tuple[str, ...], words: str) -> None:
    code, out, err = run(*arguments, *(place if arguments[0] == "export" else ()))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
