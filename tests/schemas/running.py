"""Runs schemathesis against a service and reports the findings in a form that can be reproduced.

Each check that the document can decide is on; the others are off, each for the reason beside it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema
from schemathesis.hooks import GLOBAL_HOOK_DISPATCHER

__all__ = ["Findings", "Prepare", "Seen", "run_schemathesis"]

_ON = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
)
_OFF = {
    "positive_data_acceptance": "JSON Schema cannot say that a reference leads somewhere, or what two properties owe",
    "negative_data_rejection": "read-only properties in a body are ignored, and so are unknown ones at the till",
    "missing_required_header": "no header is required but the token's, and the service's own tests send none",
    "ignored_auth": "tested for every address by tests/contract and tests/web, with tokens of every kind",
    "use_after_free": "runs only in the stateful phase",
    "ensure_resource_availability": "runs only in the stateful phase",
    "object_level_authorization": "the tests send keys of another tenant themselves, and know which",
}

# 501 is no fault: the documents say that it is the answer to a part of OData which the service does not offer.
_ANSWERED = {"not_a_server_error": {"enabled": True, "expected-statuses": ["2xx", "3xx", "4xx", 501]}}

_ANSWER_SECONDS_MAX = 120  # above the service's own limits; the default of ten seconds is not

Prepare = Callable[[Any], None]
"""Changes a `schemathesis.Case` before it is sent: keys that exist, bodies that are nearly sound."""
Seen = Callable[[Any, Any], str | None]
"""Judges a case and its response beyond the document; what is wrong, or None."""


@dataclass
class Findings:
    """The result: ``faults`` in the order they were found, one for each operation and kind."""

    faults: dict[tuple[str, str], str] = field(default_factory=dict)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Method and path of an operation, status -> how often."""

    def succeeded(self, label: str) -> bool:
        """Return whether an operation ever returned 2xx."""
        return any(of == label and 200 <= status < 300 for of, status in self.answers)

    def assert_none(self, log: str) -> None:
        """Fail with all findings, or with errors in the server's ``log``."""
        assert self.faults == {}, self.report()
        assert sum(self.answers.values()) > 0
        assert "request failed" not in log
        assert "Traceback" not in log

    def report(self) -> str:
        """Return all findings as text."""
        return "\n\n".join(f"{label}: {title}\n{text}" for (label, title), text in self.faults.items())


def run_schemathesis(
    document: Mapping[str, Any],
    base_url: str,
    token: str,
    *,
    seed: int,
    examples: int = 0,
    coverage: bool = False,
    choose: Callable[[str, str], bool] = lambda _method, _path: True,
    prepare: Prepare = lambda _case: None,
    judge: Seen = lambda _case, _response: None,
) -> Findings:
    """Send requests that a document allows and that it forbids.

    ``examples`` for each operation, and with ``coverage`` each boundary of each parameter. ``choose``: method (lower
    case) and path of an operation -> whether it takes part.
    """
    config = SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "continue-on-failure": True,
            "suppress-health-check": ["too_slow"],  # delays of a busy machine are not a fault of the document
            "request-timeout": _ANSWER_SECONDS_MAX,
            "base-url": base_url,
            "headers": {"Authorization": f"Bearer {token}"},
            "checks": {name: {"enabled": name in _ON} for name in (*_ON, *_OFF)} | _ANSWERED,
            "phases": {
                "examples": {"enabled": False},
                "coverage": {"enabled": coverage},
                "fuzzing": {"enabled": examples > 0},
                "stateful": {"enabled": False},
            },
            "generation": {
                "max-examples": max(examples, 1),
                "database": "none",
                "no-shrink": True,
                "with-security-parameters": False,
            },
            "cache": {"enabled": False},
        }
    )
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(document)), config=config)
    chosen = schema.include(lambda context: choose(context.operation.method.lower(), context.operation.path))
    found = Findings()

    def before_call(_context: Any, case: Any, _kwargs: dict[str, Any]) -> None:
        prepare(case)

    def after_call(_context: Any, case: Any, response: Any) -> None:
        label = case.operation.label
        found.answers[label, response.status_code] += 1
        wrong = judge(case, response)
        if response.status_code == 501 and '"NOT_IMPLEMENTED"' not in response.text:
            wrong = "501 for something else than a part of OData that is not offered"
        if wrong is not None:
            found.faults.setdefault((label, wrong), f"{response.request.method} {response.request.url}")

    with _hooked(before_call), _hooked(after_call):
        for event in from_schema(chosen).execute():
            for label, title, text in _faults(event):
                found.faults.setdefault((label, title), text)
    return found


def _faults(event: Any) -> Iterator[tuple[str, str, str]]:
    """Yield operation, kind and explanation of each fault in an engine event."""
    if isinstance(event, events.NonFatalError):
        yield event.label, "cannot be tested", repr(event.value)[:2000]
    elif isinstance(event, events.FatalError):
        raise AssertionError("schemathesis gave up") from event.exception
    elif isinstance(event, events.ScenarioFinished):
        for checks in event.recorder.checks.values():
            for check in checks:
                if check.failure_info is not None:
                    failure = check.failure_info.failure
                    text = f"{failure.message[:1500]}\n{check.failure_info.code_sample[:1500]}"
                    yield event.recorder.label, f"{check.name}: {failure.title}", text


@contextmanager
def _hooked(hook: Callable[..., None]) -> Iterator[None]:
    GLOBAL_HOOK_DISPATCHER.register_hook_with_name(hook, hook.__name__)
    try:
        yield
    finally:
        GLOBAL_HOOK_DISPATCHER.unregister(hook)
