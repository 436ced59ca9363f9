"""`python -m benchmarks [--quick] [PART...]`: measure and print the parts that are named, else all."""

from __future__ import annotations

import argparse
import os
import platform

from benchmarks import (
    admin_drafts,
    back_office,
    beside_imports,
    coupons,
    deliveries,
    imports,
    in_process,
    over_http,
    public_api,
    reporting,
)
from benchmarks.measure import CONSOLE

PARTS = {
    "in-process": in_process.run,
    "http": over_http.run,
    "public-api": public_api.run,
    "drafts": admin_drafts.run,
    "coupons": coupons.run,
    "deliveries": deliveries.run,
    "imports": imports.run,
    "beside-imports": beside_imports.run,
    "reporting": reporting.run,
    "back-office": back_office.run,
}


def main() -> None:
    """Run the parts that were asked for, else all."""
    parser = argparse.ArgumentParser(prog="make bench", description="Results are printed, not asserted.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to measure; all by default")
    parser.add_argument("--quick", action="store_true", help="shorter runs, smaller catalogues: a look, not a result")
    options = parser.parse_args()
    CONSOLE.print(f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores\n")
    for name in options.parts or PARTS:
        PARTS[name](options.quick)


if __name__ == "__main__":
    main()
