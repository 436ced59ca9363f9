"""House rules as tests. Each test's docstring gives the reason for its rule; ARCHITECTURE.md has the full
explanation.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import promenade

ROOT = Path(__file__).parent.parent
SDK = ROOT / "clients/python"
LIBRARY = ROOT / "packages/odata-server"
SOURCES = sorted(path for root in (ROOT, LIBRARY, SDK) for path in (root / "src").rglob("*.py"))
HAND_WRITTEN = [path for path in SOURCES if "versions" not in path.parts]  # migrations are generated
PYTHON = [*HAND_WRITTEN, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]
ENGINE = [path for path in SOURCES if path.is_relative_to(ROOT / "src/promenade/engine")]
WORKFLOWS = [path for path in SOURCES if path.is_relative_to(ROOT / "src/promenade/workflows")]

MODULE_LINES_MAX = 700
FUNCTION_LINES_MAX = 50
FOLDER_MODULES_MAX = 28  # about 25, plus a few during a restructuring


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def tracked_texts() -> list[Path]:
    """Return every text file of the repository, including new ones, but not the output of `make`."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:  # an unpacked archive
        return [
            path
            for folder in ("src", "packages", "tests", "docs", "benchmarks")
            for path in (ROOT / folder).rglob("*.*")
        ]
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return [path for path in paths if path.is_file() and path.suffix not in {".lock", ".png", ".ico", ".zst"}]


def violations(found: Iterator[str]) -> None:
    wrong = sorted(found)
    assert not wrong, "\n" + "\n".join(wrong)


# --- size -------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("default:.*is it one subject")
def test_long_modules_are_warned_about() -> None:
    """Past about 700 lines a module usually covers two subjects. As that is not certain, this only warns."""
    for path in PYTHON:
        if (lines := len(path.read_text().splitlines())) > MODULE_LINES_MAX:
            warnings.warn(LongModule(f"{name_of(path)} has {lines} lines; is it one subject?"), stacklevel=1)


class LongModule(UserWarning):
    """A module that is longer than most subjects need."""


def test_functions_fit_on_a_screen() -> None:
    """A function that fits on a screen is easy to review. Its docstring does not count."""
    violations(
        f"{name_of(path)}:{node.lineno} {node.name} has {lines} lines, at most {FUNCTION_LINES_MAX}"
        for path in HAND_WRITTEN
        for node in ast.walk(parse(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (lines := function_lines(node)) > FUNCTION_LINES_MAX
    )


def function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert node.end_lineno is not None
    lines = node.end_lineno - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is not None:
        assert first.end_lineno is not None
        lines -= first.end_lineno - first.lineno + 1
    return lines


# --- rooms ------------------------------------------------------------------------------------------------------------

# The floors that are divided into rooms, with the folders and modules they may have beside their rooms.
FLOORS = {
    "src/promenade/web": {"http", "services", "ui"},
    "src/promenade/workflows": {"context", "tills", "uplink", "pace"},
    "src/promenade/store": {"driver"},
    "tests/web": {"http", "services", "conftest"},
    "tests/workflows": {"conftest", "counting", "outcomes", "shop"},
    "tests/store": {"driver"},
}


def rooms_of_the_page() -> dict[str, list[bool]]:
    """Return the table of rooms in ARCHITECTURE.md: whether each is in web, workflows, store and the tests."""
    page = (ROOT / "ARCHITECTURE.md").read_text()
    table = page.partition("| Room | What it is about |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {name.strip("`"): [mark == "x" for mark in marks] for name, _, *marks in rows}


def folders_and_modules(floor: str) -> Iterator[str]:
    for path in sorted((ROOT / floor).iterdir()):
        if path.suffix == ".py" and path.stem != "__init__":
            yield path.stem
        elif path.is_dir() and any(path.rglob("*.py")):
            yield path.name


def test_a_subject_has_one_name_on_every_floor() -> None:
    """Whoever works on coupons opens `coupons` on each floor and would not find a room with another name."""
    rooms = rooms_of_the_page()
    violations(
        f"{floor}/{name} is no room of ARCHITECTURE.md"
        for floor, beside in FLOORS.items()
        for name in folders_and_modules(floor)
        if name not in rooms and name not in beside
    )


def test_the_architecture_page_shows_each_room_where_it_is() -> None:
    """The diagram of floors and rooms in ARCHITECTURE.md matches the folders."""
    tests = [floor for floor in FLOORS if floor.startswith("tests/")]
    columns = [["src/promenade/web"], ["src/promenade/workflows"], ["src/promenade/store"], tests]
    found = {
        room: [any(room in folders_and_modules(floor) for floor in floors) for floors in columns]
        for room in rooms_of_the_page()
    }
    assert rooms_of_the_page() == found


def test_a_modules_name_does_not_repeat_its_room() -> None:
    """`coupons/coupon_edges` says coupon twice; the name of the room is enough."""
    violations(
        name_of(path)
        for floor in FLOORS
        if floor.startswith("src/")
        for path in (ROOT / floor).glob("*/*.py")
        if {path.parent.name, path.parent.name.removesuffix("s")} & set(path.stem.split("_"))
    )


def test_folders_hold_a_limited_number_of_modules() -> None:
    """A module is easy to find among 25 and hard to find among a hundred."""
    counts = Counter(path.parent for path in PYTHON if path.stem != "__init__")
    violations(
        f"{name_of(folder)} holds {count} modules" for folder, count in counts.items() if count > FOLDER_MODULES_MAX
    )


# --- the engine -------------------------------------------------------------------------------------------------------


def test_the_engine_imports_the_standard_library_alone() -> None:
    """So it can be proved, compiled and moved independently of everything else."""
    allowed = sys.stdlib_module_names - {"asyncio", "os", "random", "socket", "sqlite3", "subprocess", "threading"}
    violations(
        f"{name_of(path)} imports {module}"
        for path in ENGINE
        for module in imported_modules(parse(path))
        if module.split(".")[0] not in allowed and not module.startswith("promenade.engine")
    )


def imported_modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""


def test_the_engine_has_no_floats() -> None:
    """Binary fractions cannot represent cents: 0.1 + 0.2 is not 0.3, and a price that is nearly right is wrong."""
    violations(f"{name_of(path)}:{line}: {what}" for path in ENGINE for line, what in floats(parse(path)))


def floats(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            yield node.lineno, f"the float {node.value}"
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            yield node.lineno, "true division makes a float; use // and say how it rounds"
        elif isinstance(node, ast.Name) and node.id == "float":
            yield node.lineno, "the type float"


def test_prices_do_not_depend_on_the_moment_or_on_luck() -> None:
    """Clock, randomness and new ids are arguments: a replay must produce the same bytes, and a test must set the
    time.
    """
    forbidden = {"now", "utcnow", "today", "time", "time_ns", "uuid1", "uuid4", "urandom", "token_hex", "token_bytes"}
    owners = {"datetime", "date", "time", "uuid", "os", "secrets", "random"}
    violations(
        f"{name_of(path)}:{node.lineno} {node.value.id}.{node.attr}"
        for path in [*ENGINE, *WORKFLOWS]
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id in owners and (node.attr in forbidden or node.value.id in {"random", "secrets"})
    )
    violations(
        f"{name_of(path)} imports {node.module}.{alias.name}"
        for path in [*ENGINE, *WORKFLOWS]
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ImportFrom) and node.module in {"random", "secrets", "uuid", "time"}
        for alias in node.names
        if alias.name in forbidden or node.module in {"random", "secrets"}
    )


# --- code -------------------------------------------------------------------------------------------------------------


def test_everything_public_has_a_docstring() -> None:
    """A docstring documents the contract of a name: units, errors, the section of the specification."""
    violations(
        f"{name_of(path)}: {name} has no docstring"
        for path in HAND_WRITTEN
        if "migrations" not in path.parts and "demo" not in path.parts
        for name in undocumented(parse(path))
    )


def undocumented(tree: ast.Module) -> Iterator[str]:
    if tree.body and ast.get_docstring(tree) is None:
        yield "the module"
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            exempt = node.name.startswith("_") or is_record(node)
            if not exempt and ast.get_docstring(node) is None:
                yield node.name


def is_record(node: ast.AST) -> bool:
    """Return whether a class only has fields: these are documented by the module's docstring."""
    return isinstance(node, ast.ClassDef) and all(isinstance(part, ast.AnnAssign) for part in node.body)


PRIVATE_PARTS = {  # of other packages, and the one file that uses them
    "src/promenade/store/driver/sqlalchemy_private.py",
    "src/promenade/store/driver/migrations/__init__.py",
    "src/promenade/web/http/connection.py",
}
PRIVATE_MODULES = (
    "sqlalchemy.util",
    "sqlalchemy.engine.result",
    "uvicorn.protocols",
    "uvicorn.server",
    "uvicorn._types",
)
DOCUMENTED = {"_mapping", "_asdict", "_replace", "_fields", "_make"}


def test_private_parts_of_other_packages_are_used_in_one_file_each() -> None:
    """They change without notice: a test for each such file shows which one changed, and no other file can break."""
    nodes = {path: list(ast.walk(parse(path))) for path in HAND_WRITTEN}
    own = {
        name
        for found in nodes.values()
        for node in found
        for name in (
            (node.name,)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            else (node.attr,)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            else (node.id,)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            else ()
        )
    }

    def found() -> Iterator[str]:
        for path in HAND_WRITTEN:
            if name_of(path) in PRIVATE_PARTS:
                continue
            for node in nodes[path]:
                if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                    if node.attr not in own | DOCUMENTED:
                        yield f"{name_of(path)}:{node.lineno}: {node.attr} is not ours"
                elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PRIVATE_MODULES):
                    yield f"{name_of(path)}:{node.lineno}: {node.module} is not public"

    violations(found())


def test_importing_a_module_does_no_work() -> None:
    """Work at import time slows down every start and makes every test depend on its environment."""
    working = {"open", "print", "connect", "read_text", "read_bytes", "getenv", "run", "urlopen", "basicConfig"}
    violations(
        f"{name_of(path)}:{node.lineno} calls {called} at import"
        for path in HAND_WRITTEN
        for statement in parse(path).body
        if isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.With)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        if (called := getattr(node.func, "id", getattr(node.func, "attr", ""))) in working
    )


def test_no_module_is_a_catch_all_such_as_utils() -> None:
    """`utils` collects unrelated code; a module is named for its contents."""
    drawers = {"utils", "util", "helpers", "common", "misc", "shared"}
    violations(name_of(path) for path in PYTHON if drawers & {path.stem, *path.parent.parts})


def test_no_notes_about_unfinished_work_are_left() -> None:
    """A note about unfinished work binds nobody; what is not finished is not in the code."""
    marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|HA" + r"CK)\b")
    violations(f"{name_of(path)}:{line}" for path in tracked_texts() for line in lines_with(path, marks))


def test_tests_wait_for_events_not_for_time() -> None:
    """A sleep is too short on a busy machine and too long on every other. The kit polls for readiness, with a
    timeout.
    """
    sleeps = re.compile(r"\b(time|asyncio|anyio)\.sleep\((?!0\))")
    tests = [path for path in (ROOT / "tests").rglob("*.py") if "kit" not in path.parts and path != Path(__file__)]
    violations(f"{name_of(path)}:{line}" for path in tests for line in lines_with(path, sleeps))


# --- the repository ---------------------------------------------------------------------------------------------------


def lines_with(path: Path, pattern: re.Pattern[str]) -> Iterator[int]:
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.search(line):
            yield number


def test_no_file_contains_a_path_or_address_of_one_machine() -> None:
    """A path or address of one machine works only there; package sources are configured by the machine."""
    machine = re.compile(r"/(?:work|root|home|Users)/\w|py" + r"pi\.org|python" + r"hosted\.|[a-z]:\\Users\\")
    violations(f"{name_of(path)}:{line}" for path in tracked_texts() for line in lines_with(path, machine))


def test_no_secret_is_committed() -> None:
    """Git history is permanent. Tests generate their keys and passwords when they run."""
    secret = re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE " + r"KEY|\bAKIA[0-9A-Z]{16}\b|\beyJhbGciOi[\w-]+\.[\w-]{20,}\.[\w-]{20,}"
    )
    violations(f"{name_of(path)}:{line}" for path in tracked_texts() for line in lines_with(path, secret))


def test_package_and_changelog_have_the_same_version() -> None:
    """The package metadata, the package and the top of the changelog have the same version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    released = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released is not None
    assert {project["version"], promenade.__version__, released[1]} == {project["version"]}


def test_every_dependency_is_locked_by_hash() -> None:
    """A pinned version can be replaced at its source; a hash cannot."""
    for lock in (ROOT / "requirements").glob("*.lock"):
        entries = re.split(r"\n(?=\S)", lock.read_text().strip())
        violations(f"{lock.name}: {entry.splitlines()[0]}" for entry in entries if "--hash=sha256:" not in entry)


def test_every_dependency_states_its_reason() -> None:
    """docs/decisions/0007 lists each direct dependency with its reason and licence."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = config["project"]["optional-dependencies"].values()
    groups = [config["project"]["dependencies"], *extras, *config["dependency-groups"].values()]
    names = {re.split(r"[<>=;\[ ]", entry)[0] for group in groups for entry in group if isinstance(entry, str)}
    page = next((ROOT / "docs/decisions").glob("0007-*.md")).read_text()
    violations(f"{name} is not explained" for name in names if f"| {name} |" not in page)


# --- documentation ----------------------------------------------------------------------------------------------------

PAGES = sorted([*ROOT.glob("*.md"), ROOT / "tests/README.md", *ROOT.glob("clients/*/*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_inside_the_repository_resolve(page: Path) -> None:
    """A broken link makes its target page unreachable."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for link in LINK.findall(text):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(page)}: {link}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
