"""House rules as tests. Each test's docstring is the reason for its rule; ARCHITECTURE.md tells the whole story."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import promenade

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
HAND_WRITTEN = [path for path in SOURCES if "versions" not in path.parts]  # migrations are generated
PYTHON = [*HAND_WRITTEN, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]
ENGINE = [path for path in SOURCES if path.is_relative_to(ROOT / "src/promenade/engine")]
WORKFLOWS = [path for path in SOURCES if path.is_relative_to(ROOT / "src/promenade/workflows")]

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def tracked_texts() -> list[Path]:
    """Every text file of the repository, new ones included, but what `make` produced."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:  # an unpacked archive
        return [path for folder in ("src", "tests", "docs", "benchmarks") for path in (ROOT / folder).rglob("*.*")]
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return [path for path in paths if path.is_file() and path.suffix not in {".lock", ".png", ".ico"}]


def violations(found: Iterator[str]) -> None:
    wrong = sorted(found)
    assert not wrong, "\n" + "\n".join(wrong)


# --- size -------------------------------------------------------------------------------------------------------------


def test_a_module_is_one_sittings_read() -> None:
    """Past about 400 lines nobody reads a module to its end; it has become two things."""
    violations(
        f"{name_of(path)} has {lines} lines, at most {MODULE_LINES_MAX}"
        for path in PYTHON
        if (lines := len(path.read_text().splitlines())) > MODULE_LINES_MAX
    )


def test_a_function_is_one_screen() -> None:
    """A function that fits on a screen can be judged at a glance. Its docstring does not count."""
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


# --- the engine -------------------------------------------------------------------------------------------------------


def test_the_engine_imports_the_standard_library_alone() -> None:
    """So it can be proved, compiled and moved without anything around it."""
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
    """Binary fractions do not hold cents: 0.1 + 0.2 is not 0.3, and a price that is nearly right is wrong."""
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
    """Clock, randomness and new ids are arguments: a replay must give the same bytes, a test must name the time."""
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


def test_everything_public_says_what_it_is() -> None:
    """A name is a promise; the docstring says of what: units, errors, the section of the specification."""
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
    """A class of fields and nothing else: its module's docstring says what its fields are."""
    return isinstance(node, ast.ClassDef) and all(isinstance(part, ast.AnnAssign) for part in node.body)


def test_importing_does_nothing() -> None:
    """Work at import time makes every start slow and every test depend on the world."""
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


def test_no_drawer_for_everything() -> None:
    """`utils` is where code goes that nobody placed; a module is named for what it holds."""
    drawers = {"utils", "util", "helpers", "common", "misc", "shared"}
    violations(name_of(path) for path in PYTHON if drawers & {path.stem, *path.parent.parts})


def test_nothing_is_left_for_later() -> None:
    """A note in the code is a promise to nobody; what is not done is not there."""
    marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|HA" + r"CK)\b")
    violations(f"{name_of(path)}:{line}" for path in tracked_texts() for line in lines_with(path, marks))


def test_tests_wait_for_events_not_for_time() -> None:
    """A sleep is too short on a busy machine and too long on every other. The kit polls for readiness, with an end."""
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


def test_no_path_or_address_of_somebodys_machine() -> None:
    """What names one machine works on one machine; where packages come from is the machine's business."""
    machine = re.compile(r"/(?:work|root|home|Users)/\w|py" + r"pi\.org|python" + r"hosted\.|[a-z]:\\Users\\")
    violations(f"{name_of(path)}:{line}" for path in tracked_texts() for line in lines_with(path, machine))


def test_no_secret_is_committed() -> None:
    """History cannot be unread. Tests make their keys and passwords when they run."""
    secret = re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE " + r"KEY|\bAKIA[0-9A-Z]{16}\b|\beyJhbGciOi[\w-]+\.[\w-]{20,}\.[\w-]{20,}"
    )
    violations(f"{name_of(path)}:{line}" for path in tracked_texts() for line in lines_with(path, secret))


def test_versions_agree() -> None:
    """One version: in the package's metadata, in the package and at the top of the changelog."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    released = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released is not None
    assert {project["version"], promenade.__version__, released[1]} == {project["version"]}


def test_every_dependency_is_locked_by_hash() -> None:
    """A pinned version can be replaced at its source; a hash cannot."""
    for lock in (ROOT / "requirements").glob("*.lock"):
        entries = re.split(r"\n(?=\S)", lock.read_text().strip())
        violations(f"{lock.name}: {entry.splitlines()[0]}" for entry in entries if "--hash=sha256:" not in entry)


def test_every_dependency_says_why_it_is_here() -> None:
    """docs/decisions/0007 lists each direct dependency with its reason and licence."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = [config["project"]["dependencies"], *config["dependency-groups"].values()]
    names = {re.split(r"[<>=;\[ ]", entry)[0] for group in groups for entry in group if isinstance(entry, str)}
    page = next((ROOT / "docs/decisions").glob("0007-*.md")).read_text()
    violations(f"{name} is not explained" for name in names if f"| {name} |" not in page)


# --- documentation ----------------------------------------------------------------------------------------------------

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_inside_the_repository_resolve(page: Path) -> None:
    """A dead link is a page that nobody reads."""
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
