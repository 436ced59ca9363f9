"""Writes the rows that the OpenAPI documents show as examples: the first of each collection of a running service.

`python -m tests.web.odata.record_examples URL/api/v1 TOKEN FILE` adds those that the file does not have yet: first of a
demo, then of a service in which every collection has rows, as the one of tests/schemas.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx2

_CHOSEN = {"Promotions": "&$filter=status eq 'ACTIVE'"}
"""Collections of which not every row can be created as it is."""


def record(root: str, token: str, file: Path) -> None:
    """Add the first row of each collection that has one; the file has one line for each."""
    known = json.loads(file.read_text()) if file.exists() else {}
    with httpx2.Client(headers={"authorization": f"Bearer {token}", "odata-maxversion": "4.01"}, timeout=60) as client:
        sets = [one["name"] for one in client.get(f"{root}/").raise_for_status().json()["value"]]
        for name in sets:
            if name not in known:
                answer = client.get(f"{root}/{name}?$top=1{_CHOSEN.get(name, '')}")
                for row in answer.json()["value"] if answer.is_success else ():
                    known[name] = {key: value for key, value in row.items() if key != "minorVersion"}
    lines = [f"{json.dumps(name)}: {json.dumps(known[name], ensure_ascii=False)}" for name in sets if name in known]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
