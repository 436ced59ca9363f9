"""Takes what a browser asks for out of the build of OpenUI5, and leaves the rest: bundles, two themes, two languages.

Text is stored compressed, as the service sends it; fonts are compressed in themselves. Run by `make ui`.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
from pathlib import Path

HERE = Path(__file__).parent
BUILT = HERE / "dist" / "resources"
MODULES = HERE / "node_modules"
SHIPPED = HERE.parent / "src" / "promenade" / "web" / "ui" / "framework"

PATTERNS = (
    "sap-ui-core.js",
    "sap/**/library-preload.js",
    "sap/**/library-preload-lazy.js",
    *(f"sap/**/messagebundle{language}.properties" for language in ("", "_en", "_de")),
    *(f"sap/ui/core/cldr/{language}*.json" for language in ("en", "de")),  # en_GB and the others too
    *(
        f"sap/**/themes/{theme}/{name}"
        for theme in ("sap_horizon", "sap_horizon_dark")
        for name in ("library.css", "library-parameters.json")
    ),
    *(f"sap/**/themes/sap_horizon/fonts/{name}.woff2" for name in ("72-*", "SAP-icons")),
    "sap/tnt/themes/base/fonts/horizon/*.woff2",
)
OTHERS = {
    "chart.js": MODULES / "chart.js" / "dist" / "chart.umd.min.js",
    "js-yaml.js": MODULES / "js-yaml" / "dist" / "browser" / "js-yaml.umd.min.js",
    "papaparse.js": MODULES / "papaparse" / "papaparse.min.js",
}
LICENCES = {
    "LICENSE.chart.js.txt": MODULES / "chart.js" / "LICENSE.md",
    "LICENSE.js-yaml.txt": MODULES / "js-yaml" / "LICENSE",
    "LICENSE.papaparse.txt": MODULES / "papaparse" / "LICENSE",
}


def ship(source: Path, name: str) -> None:
    """Store one file under its name."""
    target = SHIPPED / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".woff2":
        shutil.copyfile(source, target)
        return
    text = re.sub(rb"\n//# sourceMappingURL=.*\s*\Z", b"\n", source.read_bytes())
    if "/sap_horizon_dark/" in name:  # its fonts are those of the light theme
        text = text.replace(b"url('fonts/", b"url('../sap_horizon/fonts/")
    target.with_name(f"{target.name}.gz").write_bytes(gzip.compress(text, 9, mtime=0))


def licences_of_openui5() -> dict[str, Path]:
    """Where the command that built it keeps what it fetched."""
    packages = Path.home() / ".ui5" / "framework" / "packages" / "@openui5"
    core = max((packages / "sap.ui.core").iterdir())
    return {"LICENSE.openui5.txt": core / "LICENSE.txt", "THIRDPARTY.openui5.txt": core / "THIRDPARTY.txt"}


def version_info() -> bytes:
    """What OpenUI5 asks for to know its libraries."""
    text = (HERE / "ui5.yaml").read_text()
    version = re.findall(r'^  version: "([\d.]+)"', text, re.MULTILINE)[0]
    libraries = [{"name": name, "version": version} for name in re.findall(r"- name: (\S+)", text)]
    return json.dumps({"name": "promenade.ui", "version": version, "libraries": libraries}).encode()


def main() -> None:
    """Ship everything anew."""
    shutil.rmtree(SHIPPED, ignore_errors=True)
    for pattern in PATTERNS:
        for source in sorted(BUILT.glob(pattern)):
            ship(source, source.relative_to(BUILT).as_posix())
    for name, source in OTHERS.items():
        ship(source, name)
    (SHIPPED / "sap-ui-version.json.gz").write_bytes(gzip.compress(version_info(), 9, mtime=0))
    for name, source in (LICENCES | licences_of_openui5()).items():
        shutil.copyfile(source, SHIPPED / name)


if __name__ == "__main__":
    main()
