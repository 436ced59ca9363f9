"""Headers and preferences."""

from __future__ import annotations

import pytest

from odata_server.errors import ODataError
from odata_server.parse.headers import parse_header, parse_preference, parse_preferences, parse_request_id


def test_preferences_are_parsed_by_name() -> None:
    text = 'respond-async, odata.maxpagesize=50 ,return=minimal,return=representation,x="a,\\"b";y=1'
    text += ', include-annotations="*"'
    assert parse_preferences(text) == {
        "respond-async": "",
        "maxpagesize": "50",
        "return": "minimal",
        "x": 'a,"b',
        "include-annotations": "*",
    }


def test_malformed_preferences_are_ignored_or_refused() -> None:
    text = "maxpagesize=0, return=minimal, wait=x"
    assert parse_preferences(text) == {"return": "minimal"}
    assert parse_preferences("return=minimal, =") == {"return": "minimal"}
    for refused in (text, "a b", "a,=", "callback;url=x"):
        with pytest.raises(ODataError) as refusal:
            parse_preferences(refused, strict=True)
        assert (refusal.value.status, refusal.value.target) == (400, "Prefer")


def test_a_callback_has_its_url() -> None:
    assert parse_preference('odata.callback; url="https://example.com/?a"') == ("callback", "https://example.com/?a")


@pytest.mark.parametrize(
    "line",
    ["OData-Version: 5.0", "OData-MaxVersion: 4", "Isolation: none", "X-Other: 1", "AsyncResult", "AsyncResult: 20"],
)
def test_an_invalid_odata_header_is_refused(line: str) -> None:
    with pytest.raises(ODataError):
        parse_header(line)


def test_header_names_are_case_insensitive_and_request_ids_are_validated() -> None:
    assert parse_header("odata-VERSION:  4.01") == ("odata-version", "4.01")
    assert parse_request_id("a-1") == "a-1"
    with pytest.raises(ODataError):
        parse_request_id("a b")
