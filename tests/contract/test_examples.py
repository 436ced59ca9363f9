"""The examples in the OpenAPI documents: the documents accept them, and so does the service."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.web.odata.openapi import example_rows
from promenade.web.reports.openapi import render_reporting_openapi
from promenade.web.services.public_openapi import render_public_openapi
from tests.contract.conftest import Api

PUBLIC: dict[str, Any] = json.loads(render_public_openapi())
DOCUMENTS = {Service.PUBLIC: PUBLIC, Service.REPORTING: json.loads(render_reporting_openapi())}
CREATED = [name for name in edm_for(Service.PUBLIC).entity_sets if "post" in PUBLIC["paths"][f"/{name}"]]
# The rows that an example names are those of the demo; what is refused for another reason is wrong by itself.
STATE = {"ALREADY_EXISTS", "UNKNOWN_REFERENCE", "SHARES_EXCEED_100"}


@pytest.mark.parametrize("service", DOCUMENTS)
def test_every_body_and_every_answer_has_an_example_that_its_schema_accepts(service: Service) -> None:
    document = DOCUMENTS[service]
    schemas = document["components"]["schemas"]
    for name in edm_for(service).entity_sets:
        for kind in ("", "-page", "-create", "-update"):
            # Nothing of a finished import can be changed to what it is.
            if f"{name}{kind}" in schemas and f"{name}{kind}" != "ImportJobs-update":
                assert schemas[f"{name}{kind}"].get("examples"), f"{name}{kind}"
    for name, schema in schemas.items():
        for example in schema.get("examples", ()):
            validator = Draft202012Validator({**schema, "components": document["components"]})
            assert [error.message for error in validator.iter_errors(example)] == [], name


@pytest.mark.parametrize("name", example_rows(Service.PUBLIC))
def test_an_example_has_the_members_of_a_row(api: Api, name: str) -> None:
    (row,) = api.get(f"{name}?$top=1")["value"]
    assert row.keys() - {"@etag", "minorVersion"} == example_rows(Service.PUBLIC)[name].keys() - {"@etag"}


@pytest.mark.parametrize("name", CREATED)
def test_the_example_of_a_create_is_well_formed(api: Api, name: str) -> None:
    (body,) = PUBLIC["components"]["schemas"][f"{name}-create"]["examples"]
    answer = api.call("POST", name, body)
    if answer.status_code != 201:
        assert answer.json()["code"] in STATE, answer.text
    else:
        api.call("DELETE", f"{name}({answer.json()['ID']})")  # other tests count rows
