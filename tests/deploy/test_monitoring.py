"""The alert rules and the dashboard: they are well formed, fire when they should, and name only what servers show."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from promenade import metrics
from tests.kit.databases import Databases
from tests.kit.in_process import InProcess

ROOT = Path(__file__).parent.parent.parent
FILES = ROOT / "deploy/monitoring"
RULES = FILES / "promenade.rules.yml"
DASHBOARD = FILES / "promenade.dashboard.json"
UNPACKED = ROOT / "build/promtool/promtool"  # of `make check`
SEVERITIES = {"critical", "warning", "info"}
OF_TARGETS = {"job", "instance", "installation"}
"""Labels that Prometheus adds to what it scrapes."""
OF_PROMETHEUS = {"up": set[str](), "ALERTS": {"alertname", "alertstate", "severity"}}
"""Series that it makes itself, with their labels."""
FIXED = {"queue": {"svc_queue_length"}, "state": {"svc_clock_jobs", "svc_budgets"}, "status": {"svc_stores"}}
"""Labels whose every value is always shown, by one of these metrics."""


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def rules() -> list[dict[str, Any]]:
    return [rule for group in loaded(RULES)["groups"] for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DASHBOARD.read_text())
    return found


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def plain(expression: str) -> str:
    """Return an expression of Grafana with values for its variables."""
    return expression.replace("$__rate_interval", "5m").replace("$installation", ".*")


def of_dashboard() -> dict[str, str]:
    """Return each expression of the dashboard by where it is."""
    found = {f"{one['title']} {target['refId']}": target["expr"] for one in panels() for target in one["targets"]}
    found |= {one["name"]: one["expr"] for one in dashboard()["annotations"]["list"]}
    for variable in dashboard()["templating"]["list"]:
        for selector in re.findall(r"^label_values\((.*), (\w+)\)$", variable.get("definition", "")):
            found[variable["name"]] = f"count by ({selector[1]}) ({selector[0]})"
    return {where: plain(expression) for where, expression in found.items()}


def expressions() -> dict[str, str]:
    return {rule["alert"]: rule["expr"] for rule in rules()} | of_dashboard()


# ---- what the expressions name ------------------------------------------------------------------------------------


class Named:
    """The series in an expression with their matchers, and the labels by which it groups and joins."""

    def __init__(self, expression: str) -> None:
        self.series: list[tuple[str, list[Any]]] = []
        self.labels: set[str] = set()
        promql_parser.walk(promql_parser.parse(expression), self._note)

    def _note(self, node: Any) -> None:
        selector = node.vector_selector if isinstance(node, promql_parser.MatrixSelector) else node
        if isinstance(selector, promql_parser.VectorSelector):
            assert selector.name is not None
            self.series.append((selector.name, list(selector.matchers.matchers)))
        modifier = getattr(node, "modifier", None)
        for one in (modifier, getattr(modifier, "matching", None)):
            self.labels.update(getattr(one, "labels", ()))


@pytest.fixture(scope="module")
def shown(databases: Databases) -> dict[str, list[dict[str, str]]]:
    """What a server shows at /metrics after some requests: the labels of each sample by the name of the series."""
    with InProcess(databases.create("sqlite")) as service, service.client() as client:
        for path in ("/health", "/health/ready", "/pos/heartbeat", "/nothing"):
            client.get(path)
        text = client.get("/metrics").text
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(text):
        for name in names_of(family.name, family.type):
            found.setdefault(name, [])
        for sample in family.samples:
            found[sample.name].append(sample.labels)
    return found


def names_of(name: str, kind: str) -> Sequence[str]:
    if kind == "histogram":
        return [f"{name}_{part}" for part in ("bucket", "count", "sum")]
    return [f"{name}_total"] if kind == "counter" else [name]


def declared_labels(series: str) -> set[str]:
    """Return the labels that the program gives to a series; of those of the operating system none."""
    for metric in vars(metrics).values():
        for family in metric.describe() if hasattr(metric, "_labelnames") else ():
            if series in names_of(family.name, family.type):
                return {*metric._labelnames, *(["le"] if series.endswith("_bucket") else [])}
    return set()


@pytest.mark.parametrize("where", expressions())
def test_every_metric_and_label_is_one_that_a_server_shows(where: str, shown: dict[str, list[dict[str, str]]]) -> None:
    named, known = Named(expressions()[where]), set(OF_TARGETS)
    assert named.series
    for series, matchers in named.series:
        assert series in shown or series in OF_PROMETHEUS, series
        labels = OF_PROMETHEUS.get(series, declared_labels(series)) | OF_TARGETS
        assert all(set(sample) <= labels for sample in shown.get(series, ()))
        assert {one.name for one in matchers} <= labels, series
        known |= labels
        for one in matchers:
            if series in FIXED.get(one.name, ()):
                values = {sample[one.name] for sample in shown[series]}
                for value in one.value.split("|"):
                    assert value in values, (series, one.name, value)
    assert named.labels <= known


def test_queues_have_an_alert_each(shown: dict[str, list[dict[str, str]]]) -> None:
    (late,) = [rule["expr"] for rule in rules() if rule["alert"] == "PromenadeQueueLate"]
    watched = {value for _, (one,) in Named(late).series for value in one.value.split("|")}
    assert watched == {sample["queue"] for sample in shown["svc_queue_length"]}


def test_figures_of_the_database_are_never_added_up() -> None:
    figures = {family.name for figure in metrics._FIGURES for family in figure.describe()} - {"svc_figures_known"}
    for where, expression in expressions().items():
        for kind, figure in re.findall(r"(\w+)(?: by \([\w, ]+\))? ?\((svc_\w+)\{?", expression):
            assert figure not in figures or kind == "max", where
    assert any("max by (queue) (svc_queue_length" in one for one in expressions().values())


# ---- rules --------------------------------------------------------------------------------------------------------


def test_each_alert_says_how_urgent_it_is_and_what_to_do() -> None:
    page = (ROOT / "docs/how-to/alerts.md").read_text()
    explained = re.findall(r"^### (Promenade\w+)$", page, re.MULTILINE)
    for rule in rules():
        alert = rule["alert"]
        assert rule["labels"]["severity"] in SEVERITIES, alert
        assert re.fullmatch(r"[A-Z1-9{].+\.", rule["annotations"]["summary"]), alert
        assert rule["annotations"]["runbook"] == f"docs/how-to/alerts.md#{alert.lower()}"
    assert sorted(explained) == sorted(rule["alert"] for rule in rules())
    sections = re.split(r"^##+ ", page, flags=re.MULTILINE)
    assert all(len(one.split()) > 20 for one in sections if one.startswith("Promenade"))


def test_each_alert_is_tested_both_silent_and_firing() -> None:
    silent: set[str] = set()
    firing: set[str] = set()
    for case in loaded(FILES / "promenade.rules.test.yml")["tests"]:
        for one in case["promql_expr_test"]:
            (alert,) = re.findall(r'alertname="(\w+)"', one["expr"])
            (firing if one.get("exp_samples") else silent).add(alert)
    assert silent == firing == {rule["alert"] for rule in rules()}


def test_prometheus_finds_the_services_of_the_composition() -> None:
    scraped = {
        one["job_name"]: one["static_configs"][0]["targets"]
        for one in loaded(FILES / "prometheus.yml")["scrape_configs"]
    }
    services = loaded(ROOT / "deploy/compose.yaml")["services"]
    assert scraped == {
        "promenade": ["service:8080"],
        "promenade-worker": [f"worker:{services['worker']['environment']['PROMENADE_METRICS_PORT']}"],
    }
    assert services["service"]["environment"]["PROMENADE_ALLOWED_HOST"] == "service"
    jobs = {value for rule in rules() for _, matchers in Named(rule["expr"]).series for one in matchers
            if one.name == "job" for value in one.value.split("|")}  # fmt: skip
    assert jobs == set(scraped)


# ---- promtool -----------------------------------------------------------------------------------------------------


@pytest.fixture
def promtool() -> str:
    found = shutil.which("promtool") or (str(UNPACKED) if UNPACKED.exists() else None)
    if found is None:
        pytest.skip("no promtool: PATH has none, and `make check` could not fetch one")
    return found


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_takes_the_rules_and_their_tests_pass(promtool: str) -> None:
    run(promtool, "check", "rules", str(RULES))
    run(promtool, "test", "rules", str(FILES / "promenade.rules.test.yml"))
    run(promtool, "check", "config", "--syntax-only", str(FILES / "prometheus.yml"))


def test_promtool_takes_each_expression_of_the_dashboard(promtool: str, tmp_path: Path) -> None:
    recorded = [{"record": f"panel_{n}", "expr": one} for n, one in enumerate(of_dashboard().values())]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": recorded}]}))
    run(promtool, "check", "rules", str(tmp_path / "rules.yml"))


# ---- the dashboard ------------------------------------------------------------------------------------------------


def test_panels_have_titles_of_their_own_and_do_not_overlap() -> None:
    every = dashboard()["panels"]
    assert len({one["id"] for one in every}) == len({one["title"] for one in every}) == len(every)
    taken: set[tuple[int, int]] = set()
    for one in every:
        at = one["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, one["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_panels_use_the_prometheus_and_the_installation_that_is_chosen() -> None:
    for panel in panels():
        for part in (panel, *panel["targets"]):
            assert part["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, panel["title"]
        for target in panel["targets"]:
            for series, matchers in Named(plain(target["expr"])).series:
                chosen = any(one.name == "installation" for one in matchers)
                assert chosen or series == "process_max_fds", panel["title"]  # joined with one that is chosen
    assert [one["name"] for one in dashboard()["templating"]["list"]] == ["datasource", "installation"]


def test_what_an_alert_watches_is_in_the_dashboard() -> None:
    seen = {series for one in of_dashboard().values() for series, _ in Named(one).series}
    watched = {series for rule in rules() for series, _ in Named(rule["expr"]).series}
    assert watched - seen == set()
