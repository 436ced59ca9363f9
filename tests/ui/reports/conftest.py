"""The demo's reports once its sales have been added up, as the service tells them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.ui.desk import Shop
from tests.ui.reports.pages import Reports, wait_until_counted

JUICE = "Experiment: 11 % off juice"


@pytest.fixture(scope="module")
def reports(shop: Shop) -> Iterator[Reports]:
    """Return the service's responses once it has aggregated the demo's sales."""
    wait_until_counted(shop)
    with shop.http() as http:
        yield Reports(http)


@pytest.fixture(scope="module")
def juice(reports: Reports) -> dict[str, Any]:
    """Return the result of the demo's experiment with juice."""
    return reports.row("ABTestResults", filter=f"promotionName eq '{JUICE}'")
