"""The page for planners lists every code that a check reports, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent
SOURCES = ROOT / "src/promenade"
PAGE = ROOT / "docs/how-to/check-a-promotion.md"


def codes_in(path: Path) -> set[str]:
    """Return upper-case texts used as a code: first in a finding or a fault, in a pair, or assigned to `code`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"Finding", "_Fault"}:
            found |= texts(node.args[:1])
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            found |= texts(node.value.elts[:1])
        elif isinstance(node, ast.Assign) and "code" in ast.dump(node.targets[0]) and isinstance(node.value, ast.Tuple):
            found |= texts(node.value.elts)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
            found |= texts([node.value])
        elif isinstance(node, ast.Dict):
            found |= texts([one.elts[0] for one in node.values if isinstance(one, ast.Tuple)])
    return found


def texts(nodes: list[ast.expr]) -> set[str]:
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return {one for one in constants if isinstance(one, str) and re.fullmatch(r"[A-Z]+(_[A-Z]+)*", one)}


def test_the_page_for_planners_lists_every_finding_code() -> None:
    modules = [*(SOURCES / "engine/inspection").glob("*.py"), SOURCES / "workflows/promotions/basket_tests.py"]
    given = set().union(*(codes_in(path) for path in modules))
    table = PAGE.read_text().partition("## Everything that is found")[2].partition("\nA condition or")[0]
    told = {
        code
        for line in table.splitlines()
        for code in re.findall(r"`([A-Z_]+)`", line.split("|")[1:2][0] if "|" in line else "")
    }
    assert len(given) > 40
    assert told == given
