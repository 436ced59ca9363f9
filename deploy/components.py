"""Completes the list of a release's components: licences, and scripts for the browser.

Run by `make release` with the CycloneDX file that the tool for Python packages has made from `requirements/run.lock`.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from importlib.metadata import PackageNotFoundError
from importlib.metadata import metadata as metadata_of
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_LICENCES = {"chart.js": "MIT", "js-yaml": "MIT", "papaparse": "MIT"}


def completed(found: dict[str, Any]) -> dict[str, Any]:
    """Return the list with the licence of each package, and the scripts."""
    for component in found["components"]:
        if licence := _licence(component["name"]):
            component["licenses"] = [licence]
    found["components"] += _scripts()
    return found


def _licence(name: str) -> dict[str, Any] | None:
    try:
        about = metadata_of(name)
    except PackageNotFoundError:  # of another platform
        return None
    if expression := about.get("License-Expression"):
        return {"expression": expression}
    classifiers = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or () if one.startswith("License")]
    given = classifiers[0] if classifiers else (about.get("License") or "").partition("\n")[0]
    return {"license": {"name": given}} if given else None


def _scripts() -> list[dict[str, Any]]:
    """Return what the package has for browsers."""
    scripts = json.loads((ROOT / "ui/package.json").read_text())["dependencies"]
    framework = re.search(r'version: "([\d.]+)"', (ROOT / "ui/ui5.yaml").read_text())
    bundle = gzip.decompress((ROOT / "src/promenade/web/http/reader/swagger-ui-bundle.js.gz").read_bytes())
    reader = re.search(rb'PACKAGE_VERSION:"([\d.]+)"', bundle)
    if framework is None or reader is None:
        raise SystemExit("The version of OpenUI5 or of Swagger UI is not where it was.")
    return [
        _script("@openui5/sap.ui.core", framework[1], "Apache-2.0"),
        _script("swagger-ui-dist", reader[1].decode(), "Apache-2.0"),
        *(_script(name, version, _LICENCES[name]) for name, version in sorted(scripts.items())),
    ]


def _script(name: str, version: str, licence: str) -> dict[str, Any]:
    purl = f"pkg:npm/{name.replace('@', '%40')}@{version}"
    return {
        "bom-ref": purl,
        "licenses": [{"expression": licence}],
        "name": name,
        "purl": purl,
        "type": "library",
        "version": version,
    }


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(json.dumps(completed(json.loads(file.read_text())), indent=2) + "\n")
