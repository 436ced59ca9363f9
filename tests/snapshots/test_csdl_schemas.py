"""`$metadata` of every service is valid by the OASIS schemas for CSDL, in XML and in JSON.

We cannot ship the schemas: `make check` fetches them into build/csdl-schemas where npm can; PROMENADE_TEST_CSDL_SCHEMAS
names another folder that holds edmx.xsd, edm.xsd and csdl.schema.json.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lxml import etree

from odata_server.csdl.json import render_json
from odata_server.csdl.xml import render_xml
from odata_server.edm import Edm
from promenade.model.declare import ADMIN, PUBLIC, REPORTING
from promenade.model.edm import edm_for
from promenade.web.services.pos_metadata import pos_edm
from tests.odata_server.bookshop import EDM as BOOKSHOP

ROOT = Path(__file__).parent.parent.parent
SCHEMAS = Path(os.environ.get("PROMENADE_TEST_CSDL_SCHEMAS") or ROOT / "build" / "csdl-schemas")
EDMS: Mapping[str, Callable[[], Edm]] = {
    "bookshop": lambda: BOOKSHOP,
    "public": lambda: edm_for(PUBLIC),
    "admin": lambda: edm_for(ADMIN),
    "reporting": lambda: edm_for(REPORTING),
    "pos": pos_edm,
}

pytestmark = pytest.mark.skipif(
    not (SCHEMAS / "edm.xsd").exists(), reason=f"the schemas of OASIS are not in {SCHEMAS.name}: see this module"
)


@pytest.fixture(scope="module")
def xml_schema() -> Any:
    return etree.XMLSchema(etree.parse(SCHEMAS / "edmx.xsd"))


@pytest.mark.parametrize("version", ["4.0", "4.01"])
@pytest.mark.parametrize("service", EDMS)
def test_xml_is_valid(xml_schema: Any, service: str, version: str) -> None:
    document = etree.fromstring(render_xml(EDMS[service](), version))

    xml_schema.assertValid(document)


def test_the_xml_schema_finds_faults(xml_schema: Any) -> None:
    broken = render_xml(edm_for(PUBLIC)).replace(b'Nullable="false"', b'Nullable="no"', 1)

    assert not xml_schema.validate(etree.fromstring(broken))


def json_schema() -> Any:
    # Python's regular expressions lack classes such as \p{L}; \w matches the same letters.
    text = (SCHEMAS / "csdl.schema.json").read_text()
    for unicode_class in ("\\\\p{L}\\\\p{Nl}", "\\\\p{L}", "\\\\p{Nl}"):
        text = text.replace(unicode_class, "\\\\w")
    for unicode_class in ("\\\\p{Nd}", "\\\\p{Mn}", "\\\\p{Mc}", "\\\\p{Pc}", "\\\\p{Cf}"):
        text = text.replace(unicode_class, "")
    return json.loads(text)


@pytest.mark.parametrize("service", EDMS)
def test_json_is_valid(service: str) -> None:
    document = json.loads(render_json(EDMS[service]()))

    jsonschema.Draft7Validator(json_schema()).validate(document)


def test_the_json_schema_finds_faults() -> None:
    document = json.loads(render_json(edm_for(PUBLIC)))
    document["PublicAPI"]["Promotions"]["$Kind"] = "Thing"

    assert not jsonschema.Draft7Validator(json_schema()).is_valid(document)
