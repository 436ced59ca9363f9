"""The package as npm packs it: what it holds, what its types allow, and that its messages are the published ones."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest

from promenade.web.services.pos_openapi import render_pos_openapi
from tests.clients.conftest import MODULES, ROOT
from tests.clients.python_sdk.conftest import Served
from tests.clients.typescript_sdk.conftest import SDK, Project

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGE = json.loads((SDK / "package.json").read_text())
STRICT = {"strict": True, "exactOptionalPropertyTypes": True, "noEmit": True, "target": "ES2022", "types": []}
IN_NODE = {"module": "NodeNext"}
BUNDLED = {"module": "ESNext", "moduleResolution": "Bundler"}

USE = """
import {type EvaluateResponse, type EvaluateRequest, Refused, Till, ApiKey, confirmation} from "promenade-client";

const items = [{articleNumber: "A-1", quantity: "2", unitPrice: "5.00"}];
const request: EvaluateRequest = {items, posGroupCode: "BERLIN", timestamp: new Date()};
const till = new Till("https://promenade.example", new ApiKey("key"));
const priced: EvaluateResponse = await till.evaluate(request);
const text: string = priced.totals.grandTotal.value;
const counter: number | undefined = priced.meta.header.transactionCounter;
try {
  await till.confirm(confirmation(priced, {withdrawn: [text]}));
} catch (error) {
  if (error instanceof Refused) {
    const said: [string | undefined, string[], number | undefined] =
      [error.field, error.faults.map((one) => one.code), counter];
    throw new Error(said.join());
  }
}
"""
MISTAKES = """
await till.simulate({items, cupons: []});
await till.simulate({items, manualDiscount: {reason: "X"}});
await till.simulate({items, timestamp: 5});
await till.simulate({items: [{articleNumber: "A-1", quantity: "1", unitPrice: 8.69}]});
await till.simulate({items: [{articleNumber: "A-1", unitPrice: "8.69"}]});
priced.totals.grandTotal.value * 2;
priced.lineItems[0].ean.length;
till.run;
confirmation(priced, {withdrawn: "P-1"});
""".strip()


def compiled(project: Project, program: str, options: dict[str, str] = IN_NODE) -> list[str]:
    """Return what the compiler says of a program that uses the package."""
    (project.folder / "use.ts").write_text(program)
    config = {"compilerOptions": STRICT | options, "files": ["use.ts"]}
    (project.folder / "tsconfig.json").write_text(json.dumps(config))
    done = project.run(str(MODULES / "typescript/bin/tsc"), "--project", ".")
    return done.stdout.splitlines()


@pytest.mark.parametrize("options", [IN_NODE, BUNDLED], ids=["node", "bundler"])
def test_a_program_compiles_strictly_with_the_types(project: Project, options: dict[str, str]) -> None:
    assert compiled(project, USE, options) == []


def test_the_types_refuse_mistakes(project: Project) -> None:
    found = re.findall(r"^use\.ts\((\d+)", "\n".join(compiled(project, USE + MISTAKES)), re.MULTILINE)
    first = USE.count("\n") + 1
    assert sorted(map(int, found)) == [first + place for place, _ in enumerate(MISTAKES.splitlines())]


def test_the_archive_holds_the_package_and_nothing_else(project: Project) -> None:
    with tarfile.open(project.archive) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    sources = [path.stem for path in (SDK / "src").glob("*.ts")]
    built = {f"dist/{name}{ending}" for name in sources for ending in (".js", ".d.ts")}
    assert names == {"package.json", "README.md", "LICENSE", "CHANGELOG.md", *built}
    entries = [entry for entry in PACKAGE["exports"].values() if isinstance(entry, dict)]
    assert {path.removeprefix("./") for entry in entries for path in entry.values()} <= names


def test_nothing_else_is_needed_at_run_time(project: Project) -> None:
    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & set(PACKAGE)
    pinned = json.loads((ROOT / "tests/clients/package.json").read_text())["dependencies"]
    assert PACKAGE["devDependencies"] == {name: pinned[name] for name in PACKAGE["devDependencies"]}
    imported = {
        path.name: imports(path) for path in (project.folder / "node_modules/promenade-client/dist").glob("*.js")
    }
    assert all(name.startswith(("./", "node:")) for names in imported.values() for name in names)
    reached, left = set[str](), ["index.js"]  # a browser has none of Node's modules
    while left:
        reached.add(left[0])
        names = imported[left.pop(0)]
        assert not [name for name in names if name.startswith("node:")]
        left += [name for name in (one.removeprefix("./") for one in names) if name not in reached]


def imports(path: Path) -> list[str]:
    return re.findall(r'^(?:import|export) .*?from "(.+?)";$', path.read_text(), re.MULTILINE)


def test_package_and_changelog_have_the_same_version() -> None:
    changelog = re.search(r"^## (\d\S*)", (SDK / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changelog is not None
    assert changelog[1] == PACKAGE["version"]
    assert (SDK / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_the_sdk_offers_what_the_service_offers_to_tills() -> None:
    """All but what is for operators, and batches of articles, which are not a till's work."""
    sent = re.findall(r'["`]/pos(/[^"`]+)["`]', (SDK / "src/operations.ts").read_text())
    published = json.loads(render_pos_openapi())
    offered = {re.sub(r"\{\w+\}", "{}", path) for path in published["paths"]}
    assert {re.sub(r"\$\{[^}]+\}", "{}", path) for path in sent} == offered - {
        "/v2/transactions/{}/{}/side-effects/requeue",
        "/articles/import-batch",
    }


def test_the_samples_print_what_the_readme_says(project: Project, served: Served) -> None:
    blocks = BLOCK.findall((SDK / "README.md").read_text())
    programs = [text for language, text in blocks if language == "js"]
    printed = [text for language, text in blocks if not language]
    assert len(programs) == len(printed) > 1
    (project.folder / "samples.mjs").write_text("".join(programs))
    done = project.run("samples.mjs", served=served)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(printed)
