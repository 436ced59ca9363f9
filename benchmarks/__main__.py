"""`python -m benchmarks [--quick | --tiny] [--database KIND] [PART...]`: measure and print parts, by default all."""

from __future__ import annotations

import argparse
import os
import platform

from benchmarks import (
    admin_drafts,
    back_office,
    beside_imports,
    counting,
    coupons,
    deliveries,
    imports,
    in_process,
    layers,
    outage,
    over_http,
    public_api,
    purging,
    reporting,
    stored_sales,
)
from benchmarks.databases import KINDS, limit_to
from benchmarks.scale import Scale

PARTS = {
    "in-process": in_process.run,
    "http": over_http.run,
    "layers": layers.run,
    "public-api": public_api.run,
    "drafts": admin_drafts.run,
    "coupons": coupons.run,
    "deliveries": deliveries.run,
    "imports": imports.run,
    "beside-imports": beside_imports.run,
    "reporting": reporting.run,
    "counting": counting.run,
    "purging": purging.run,
    "back-office": back_office.run,
    "stored-sales": stored_sales.run,
    "outage": outage.run,
}


def main() -> None:
    """Run the requested parts, by default all."""
    parser = argparse.ArgumentParser(prog="make bench", description="Results are printed, not asserted.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to measure; all by default")
    parser.add_argument("--quick", action="store_true", help="shorter runs, smaller catalogues: a look, not a result")
    parser.add_argument("--tiny", action="store_true", help="seconds for each part: to see that it runs")
    parser.add_argument("--database", choices=KINDS, help="the only kind to measure on; both by default")
    options = parser.parse_args()
    if options.database:
        limit_to(options.database)
    scale = Scale.TINY if options.tiny else Scale.QUICK if options.quick else Scale.FULL
    print(f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores\n")
    for name in options.parts or PARTS:
        print(f"# {name}\n", flush=True)
        PARTS[name](scale)


if __name__ == "__main__":
    main()
