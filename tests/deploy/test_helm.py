"""The chart of deploy/helm: it renders what Kubernetes accepts, with options that the program has, and no secrets."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import httpx2
import kubernetes_validate
import pytest
import yaml

from promenade import metrics
from tests.deploy.options import commands, variables_of
from tests.kit.databases import Databases
from tests.kit.processes import free_port, until
from tests.kit.service import COMMAND, Service

ROOT = Path(__file__).parent.parent.parent
HELM = ROOT / "deploy/helm"
CHART = HELM / "promenade"
ENTRYPOINT = ROOT / "deploy/entrypoint.sh"
UNPACKED = ROOT / "build/helm/helm"  # of `make check`
PAGE = ROOT / "docs/how-to/kubernetes.md"
OLDEST, NEWEST = "1.29.0", "1.37.0"
CUSTOM = {"ServiceMonitor"}  # of operators, whose schemas are theirs

ON_THE_PAGE: dict[str, Any] = yaml.safe_load(
    textwrap.dedent(PAGE.read_text().partition('```yaml title="shop.yaml"\n')[2].partition("    ```")[0])
)
OWN: dict[str, Any] = {
    "image": {"repository": "registry.example/promenade"},
    "publicUrl": "https://prices.example",
    "secrets": {
        "servingDatabaseUrl": {"name": "db-serving"},
        "ownerDatabaseUrl": {"name": "db-owner"},
        "metricsToken": {"name": "metrics"},
    },
    "network": {
        "clients": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress"}}}],
        "database": {"to": [{"ipBlock": {"cidr": "10.0.7.0/28"}}]},
    },
}
ALL_SECRETS = ("redisUrl", "keyPassphrase", "reportingDatabaseUrl", "eventsTo")
EVERYTHING: dict[str, Any] = {
    "secrets": {name: {"name": f"the-{name.lower()}"} for name in ALL_SECRETS},
    "image": {"digest": f"sha256:{'0' * 64}", "pullSecrets": ["pull"]},
    "options": {"keep-sales-days": 800, "traces-sample": 0.25, "webhook-allow": ["10.1.0.0/16", "shop.internal"]},
    "serve": {
        "options": {"access-log": True, "rate-limit-tenant": 12_000_000, "trusted-proxy": ["10.0.0.0/8"]},
        "nodeSelector": {"pool": "a"},
        "podAnnotations": {"a": "b"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
    },
    "network": {"cache": {"to": [{"podSelector": {}}]}, "workerEgress": [{"ports": [{"port": 9092}]}],
                "monitoring": [{"podSelector": {}}], "serveEgress": [{"ports": [{"port": 443}]}]},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "partitions": {"enabled": True, "options": {"months": 24, "drop-evaluations-after-days": 430}},
    "service": {"annotations": {"a": "b"}},
    "spread": {"zones": "DoNotSchedule"},
}  # fmt: skip
BARE: dict[str, Any] = {
    "upgrade": {"enabled": False}, "autoscaling": {"enabled": False}, "network": {"enabled": False}
}  # fmt: skip
SETS: dict[str, tuple[Sequence[str], Mapping[str, Any]]] = {
    "own": ((), {}),
    "everything": ((), EVERYTHING),
    "bare": ((), BARE),
    "page": (("values-cloudnativepg.yaml", "values-valkey.yaml"), ON_THE_PAGE),
    "cloudnativepg": (("values-cloudnativepg.yaml",), {}),
    "valkey": (("values-valkey.yaml",), {}),
    "all files": (("values-cloudnativepg.yaml", "values-valkey.yaml", "values-requests.yaml"), {}),
}


@pytest.fixture(scope="module")
def helm() -> str:
    found = shutil.which("helm") or (str(UNPACKED) if UNPACKED.exists() else None)
    if found is None:
        pytest.skip("no Helm: PATH has none, and `make check` could not fetch one")
    return found


class Chart:
    """The chart as Helm sees it; each set of values is rendered once."""

    def __init__(self, helm: str, directory: Path) -> None:
        self._helm, self._directory = helm, directory
        self.render = cache(self._render)

    def run(self, verb: Sequence[str], *values: Mapping[str, Any], files: Sequence[str] = ()) -> tuple[int, str]:
        given = [*(str(HELM / file) for file in files)]
        for number, one in enumerate(values):
            path = self._directory / f"values-{number}.yaml"
            path.write_text(json.dumps(one))
            given.append(str(path))
        done = subprocess.run(
            [self._helm, *verb, str(CHART), *(f"--values={file}" for file in given)],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def _render(self, name: str) -> list[dict[str, Any]]:
        files, more = SETS[name]
        code, said = self.run(["template", "shop", "--namespace=shop"], OWN, more, files=files)
        assert code == 0, said
        return [one for one in yaml.safe_load_all(said) if one]

    def refusal(self, *more: Mapping[str, Any], own: Mapping[str, Any] = OWN) -> str:
        code, said = self.run(["template", "shop"], own, *more)
        assert code != 0, said
        return said


@pytest.fixture(scope="module")
def chart(helm: str, tmp_path_factory: pytest.TempPathFactory) -> Chart:
    return Chart(helm, tmp_path_factory.mktemp("chart"))


def pods(resources: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yield each resource that makes pods, the pod and its only container."""
    for one in resources:
        if one["kind"] in {"Deployment", "Job", "CronJob"}:
            job = one["spec"].get("jobTemplate", one)
            pod = job["spec"]["template"]["spec"]
            (container,) = pod["containers"]
            yield one, pod, container


def named(resources: Sequence[dict[str, Any]], kind: str, end: str = "") -> dict[str, Any]:
    (found,) = (one for one in resources if one["kind"] == kind and one["metadata"]["name"].endswith(end))
    return found


@pytest.mark.parametrize("name", SETS)
def test_helm_finds_nothing_to_complain_about(chart: Chart, name: str) -> None:
    files, more = SETS[name]
    code, said = chart.run(["lint", "--strict"], OWN, more, files=files)
    assert code == 0, said


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("name", SETS)
def test_kubernetes_accepts_what_is_rendered(chart: Chart, name: str, version: str) -> None:
    resources = chart.render(name)
    checked = [one for one in resources if one["kind"] not in CUSTOM]
    for one in checked:
        kubernetes_validate.validate(one, version, strict=True)
    assert {one["kind"] for one in checked} >= {"Deployment", "Service", "PodDisruptionBudget"}
    assert len({(one["kind"], one["metadata"]["name"]) for one in resources}) == len(resources)


@pytest.mark.parametrize("name", SETS)
def test_each_variable_and_command_is_one_of_the_program(
    chart: Chart, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = click.Context(click.Command("promenade"))
    paths = {path for path, _ in commands()}
    for resource, _, container in pods(chart.render(name)):
        words = tuple(one for one in container.get("args") or ("db", "upgrade") if not one.startswith("--"))
        assert words in paths
        known = variables_of(*words)
        given = {one["name"].removesuffix("_FILE"): one["value"] for one in container["env"]}
        assert set(given) <= set(known), resource["metadata"]["name"]
        for variable, value in given.items():
            if not value.startswith("/run/secrets/"):
                monkeypatch.setenv(variable, value)
                option = known[variable]
                option.type_cast_value(context, option.value_from_envvar(context))


def test_values_of_options_arrive_as_they_were_given(chart: Chart) -> None:
    (container,) = (one for _, _, one in pods(chart.render("everything")) if one["name"] == "serve")
    given = {one["name"].removeprefix("PROMENADE_"): one["value"] for one in container["env"]}
    assert (given["RATE_LIMIT_TENANT"], given["TRACES_SAMPLE"], given["ACCESS_LOG"]) == ("12000000", "0.25", "true")
    assert (given["WEBHOOK_ALLOW"], given["LOG_FORMAT"]) == ("10.1.0.0/16 shop.internal", "json")


def test_the_options_that_values_may_name_are_those_of_the_program() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]

    def of(command: str) -> set[str]:
        names = {name.removeprefix("PROMENADE_").lower().replace("_", "-") for name in variables_of(command)}
        return {name for name in names if not re.match(ELSEWHERE, name)}

    serve, worker = (set(schema[one]["properties"]["options"]["properties"]) for one in ("serve", "worker"))
    assert (serve, worker) == (of("serve"), of("worker"))
    assert set(schema["options"]["properties"]) == serve & worker


ELSEWHERE = (
    r"(workers|drain-seconds|public-url|metrics-token|metrics-host|metrics-port|key-passphrase|.*database-url|redis-url"
    r"|events-to|host|port|data-dir|edition|tenant|reset-admin-password|instance-id)$"
    r"|mtls-|events-(secret|ca|cert|key)$"
)
"""Options that the chart sets, that are secrets, that a pod cannot have, or that need files."""


def test_the_upgrade_runs_before_the_pods_and_as_the_owner(chart: Chart) -> None:
    job = named(chart.render("own"), "Job")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    _, _, script, role = container["command"]
    run = [tuple(one.split()) for one in re.findall(r"promenade-entrypoint ([a-z ]+)", script)]
    assert run == [("db", "upgrade"), ("db", "grant")]
    assert set(run) <= {path for path, _ in commands()}
    assert role == "promenade"
    for resource, pod, _ in pods(chart.render("everything")):
        held = re.findall(r"'name': '([a-z0-9-]+)'", str([one for one in pod["volumes"] if one["name"] == "secrets"]))
        assert ("db-owner" in held) == (resource["kind"] in {"Job", "CronJob"})


def test_months_are_made_by_a_command_of_the_program_as_the_owner(chart: Chart) -> None:
    ((_, _, container),) = (one for one in pods(chart.render("everything")) if one[0]["kind"] == "CronJob")
    command, options = container["args"][:2], container["args"][2:]
    assert tuple(command) in {path for path, _ in commands()}
    known = {one for path, command in commands() if path == ("db", "partition") for one in _options_of(command)}
    assert {one.partition("=")[0] for one in options} <= known
    given = json.loads((CHART / "values.schema.json").read_text())["properties"]["partitions"]["properties"]["options"]
    assert {f"--{one}" for one in given["properties"]} == {one.partition("=")[0] for one in options}


def _options_of(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        yield from parameter.opts


@pytest.mark.parametrize("name", SETS)
def test_pods_run_without_rights_and_with_room_to_write(chart: Chart, name: str) -> None:
    for resource, pod, container in pods(chart.render(name)):
        assert pod["enableServiceLinks"] is False, "a Service called promenade would set PROMENADE_PORT"
        assert pod["automountServiceAccountToken"] is False
        context = pod["securityContext"]
        assert (context["runAsNonRoot"], context["runAsUser"]) == (True, 10001)
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}
        }  # fmt: skip
        assert "/tmp" in [one["mountPath"] for one in container["volumeMounts"]]
        assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        if resource["kind"] == "Deployment":
            assert len(pod["topologySpreadConstraints"]) == 2
    assert "--uid 10001" in (ROOT / "deploy/Containerfile").read_text()


def test_a_pod_has_the_time_to_drain_and_is_asked_where_the_program_answers(chart: Chart) -> None:
    pod, container = next((pod, one) for _, pod, one in pods(chart.render("own")) if one["name"] == "serve")
    env = {one["name"]: one["value"] for one in container["env"]}
    assert pod["terminationGracePeriodSeconds"] > int(env["PROMENADE_DRAIN_SECONDS"]) + 20
    probe = container["readinessProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] < int(env["PROMENADE_DRAIN_SECONDS"])
    asked = [container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")]
    assert asked == ["/health/live", "/health/live", "/health/ready"]
    routes = (ROOT / "src/promenade/web/services/monitoring.py").read_text()
    assert all(f'Endpoint("{path}"' in routes for path in asked)


def test_no_secret_is_in_the_chart_and_each_is_named_that_is_missing(chart: Chart) -> None:
    for name in SETS:
        resources = chart.render(name)
        assert "Secret" not in {one["kind"] for one in resources}
        assert not any("secretKeyRef" in json.dumps(one) for one in resources), "files, which `describe` does not show"
    said = chart.refusal(own={})
    for name in ("servingDatabaseUrl", "ownerDatabaseUrl", "metricsToken"):
        assert f"secrets.{name}.name: an existing Secret" in said
    assert "ownerDatabaseUrl" not in chart.refusal({"upgrade": {"enabled": False}}, own={})
    assert "network.cache.to" in chart.refusal({"secrets": {"redisUrl": {"name": "cache"}}})
    assert "network.monitoring" in chart.refusal({"serviceMonitor": {"enabled": True}})


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"serve": {"processes": 1}}, "/serve/processes"),
        ({"serve": {"options": {"public-uri": "x"}}}, "public-uri"),
        ({"options": {"database-url": "postgresql://a:b@c/d"}}, "database-url"),
        ({"serve": {"options": {"trusted-proxy": ["10.0.0.0/8 10.1.0.0/16"]}}}, "/serve/options/trusted-proxy"),
        ({"worker": {"replicas": "two"}}, "/worker/replicas"),
        ({"secrets": {"metricsToken": {"value": "hunter2"}}}, "value"),
        ({"secrets": {"metricsToken": "hunter2"}}, "/secrets/metricsToken"),
        ({"publicUrl": "prices.example"}, "/publicUrl"),
        ({"publicUrl": "https://user:secret@prices.example"}, "/publicUrl"),
        ({"upgrade": {"servingRole": "promenade; rm -r /"}}, "/upgrade/servingRole"),
        ({"autoscaling": {"metric": "memory"}}, "/autoscaling/metric"),
        ({"autoscaling": {"minReplicas": 20}}, "autoscaling.minReplicas"),
        ({"network": {"clients": [{}]}}, "/network/clients/0"),
        ({"network": {"dns": []}}, "/network/dns"),
        ({"image": {"tag": "a b"}}, "/image/tag"),
        ({"serv": {}}, "serv"),
    ],
    ids=str,
)
def test_a_wrong_value_is_refused_by_its_name(chart: Chart, values: Mapping[str, Any], told: str) -> None:
    said = chart.refusal(values)
    assert told in said
    assert "hunter2" not in said


def test_nothing_gets_in_and_out_but_what_is_named(chart: Chart) -> None:
    resources = chart.render("all files")
    policies = {one["metadata"]["name"]: one["spec"] for one in resources if one["kind"] == "NetworkPolicy"}
    shut = policies["shop-promenade-nothing"]
    assert set(shut) == {"podSelector", "policyTypes"}
    assert shut["policyTypes"] == ["Ingress", "Egress"]
    for resource, _, _ in pods(resources):
        labels = resource["spec"]["template"]["metadata"]["labels"]
        assert shut["podSelector"]["matchLabels"].items() <= labels.items(), "each pod is under it"
    everywhere = [policy for name in SETS for policy in chart.render(name) if policy["kind"] == "NetworkPolicy"]
    for policy in everywhere:
        for direction, peers in (("ingress", "from"), ("egress", "to")):
            for rule in policy["spec"].get(direction, ()):
                assert rule.get(peers) or rule in (*EVERYTHING["network"]["workerEgress"],
                                                   *EVERYTHING["network"]["serveEgress"])  # fmt: skip
                assert rule["ports"]
    ports = {rule["ports"][0]["port"] for rule in policies["shop-promenade-worker"]["egress"]}
    assert ports == {443, 6379}
    assert "ingress" not in policies["shop-promenade-names-and-database"]


def test_pods_are_scaled_by_processor_time_or_by_requests(chart: Chart) -> None:
    by_cpu, by_requests = (
        named(chart.render(name), "HorizontalPodAutoscaler")["spec"] for name in ("own", "all files")
    )
    assert by_cpu["metrics"][0]["resource"]["name"] == "cpu"
    wanted = by_requests["metrics"][0]["pods"]["metric"]["name"]
    (rule,) = yaml.safe_load((HELM / "prometheus-adapter.yaml").read_text())["rules"]["custom"]
    assert rule["name"]["as"] == wanted
    assert "replicas" not in named(chart.render("own"), "Deployment", "serve")["spec"], "the scaler decides"
    assert named(chart.render("bare"), "Deployment", "serve")["spec"]["replicas"] == 2
    (metric,) = (one for one in metrics.REGISTRY.collect() if one.name == "http_requests")
    assert metric.type == "counter"
    assert set(re.findall(r"http_\w+", rule["metricsQuery"])) == {"http_requests_total"}
    assert "route!~" in rule["metricsQuery"]


def test_metrics_are_read_with_the_token(chart: Chart) -> None:
    resources = chart.render("everything")
    monitor = named(resources, "ServiceMonitor", "serve")["spec"]
    (endpoint,) = monitor["endpoints"]
    assert endpoint["authorization"] == {"credentials": {"name": "metrics", "key": "token"}}
    rules = (ROOT / "deploy/monitoring/promenade.rules.yml").read_text()
    for kind, job in (("serve", "promenade"), ("worker", "promenade-worker")):
        (relabeling,) = named(resources, "ServiceMonitor", kind)["spec"]["endpoints"][0]["relabelings"]
        assert relabeling == {"targetLabel": "job", "replacement": job}
        assert re.search(rf'job=~?"[^"]*\b{job}\b', rules)
        selected = named(resources, "ServiceMonitor", kind)["spec"]["selector"]["matchLabels"].items()
        (service,) = (
            one for one in resources if one["kind"] == "Service" and selected <= one["metadata"]["labels"].items()
        )
        (deployment,) = (one for one, _, container in pods(resources) if container["name"] == kind)
        assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()


def test_the_chart_is_of_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert chart["version"] == chart["appVersion"] == version


# ---- as processes ---------------------------------------------------------------------------------------------------


class Pod:
    """What a rendered container needs as a process here: its variables, its secrets as files, its program."""

    def __init__(self, directory: Path, secrets: Mapping[str, str]) -> None:
        self._directory = directory
        for name, value in secrets.items():
            (directory / name).write_text(value)
        program = directory / "bin"
        program.mkdir()
        (program / "promenade").symlink_to(COMMAND)
        (program / "promenade-entrypoint").symlink_to(ENTRYPOINT)
        self._path = f"{program}:{os.environ['PATH']}"

    def env(self, container: Mapping[str, Any], **more: str) -> dict[str, str]:
        """Return its variables; ``more`` are those that only this machine needs."""
        given = {one["name"]: one["value"] for one in container["env"]}
        here = {name: value.replace("/run/secrets/promenade", str(self._directory)) for name, value in given.items()}
        return {**os.environ, **here, "PATH": self._path, **more}


@pytest.mark.check
def test_rendered_pods_work_as_processes(
    chart: Chart, databases: Databases, valkey_url: str, tmp_path: Path, logs: Path
) -> None:
    url = databases.create_empty("postgresql")
    serving = databases.serving_url(url)
    secrets = {"ownerDatabaseUrl": databases.owner_url(url), "servingDatabaseUrl": serving, "redisUrl": valkey_url,
               "metricsToken": "a-token-for-metrics"}  # fmt: skip
    pod = Pod(tmp_path, secrets)
    found = {container["name"]: container for _, _, container in pods(chart.render("valkey"))}
    *command, _ = found["upgrade"]["command"]
    role = str(urlsplit(serving).username)
    subprocess.run([*command, role], env=pod.env(found["upgrade"]), check=True, capture_output=True, timeout=300)
    serve = Service(
        logs / "helm-serve.log", env=pod.env(found["serve"]), command=(str(ENTRYPOINT),), ready_path="/health/ready"
    )
    port = free_port()
    more = {"PROMENADE_METRICS_PORT": str(port), "PROMENADE_METRICS_HOST": "127.0.0.1"}
    worker = Service(
        logs / "helm-worker.log", env=pod.env(found["worker"], **more), command=(str(ENTRYPOINT),), verb="worker",
        ready_path=None,
    )  # fmt: skip
    try:
        serve.start()
        worker.start()
        until(
            lambda: serve.get("/health/ready")[1]["checks"]["cache"]["status"] == "UP"
        )  # if it takes 50 ms, it is DOWN
        token = {"authorization": f"Bearer {secrets['metricsToken']}"}
        assert [serve.get("/metrics", headers)[0] for headers in ({}, token)] == [401, 200]
        probe = found["worker"]["livenessProbe"]["httpGet"]["path"]
        while not _answers(f"http://127.0.0.1:{port}{probe}"):  # the test's own timeout is the bound
            assert worker.running, worker.output()
    finally:
        serve.kill()
        worker.kill()
        databases.drop(url)


def _answers(url: str) -> bool:
    try:
        return httpx2.get(url, timeout=30).status_code == 200
    except httpx2.TransportError:
        return False
