"""How the back office is served: its page, its files, who is signed in, and that nothing else is exposed."""

from __future__ import annotations

import gzip
import re
import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from promenade.web.access.sign_in import built_in_sign_in
from promenade.web.http.endpoint import Edge
from promenade.web.http.protection import Hosts, Protection
from promenade.web.http.routing import routed
from promenade.web.services.back_office import back_office_endpoints, file_address
from tests.kit.databases import Databases
from tests.kit.service import Service
from tests.kit.tenants import make_clients
from tests.web.conftest import TENANT
from tests.web.replica.local_store.conftest import PASSWORD, Store, start_store

ROOT = Path(__file__).parents[3]
UI = ROOT / "src/promenade/web/ui"
ROLES = {
    "administrator": ("svc.Admin",),
    "planner": ("svc.PromotionManager", "svc.POSReader"),
    "controller": ("svc.BudgetManager",),
    "integrator": ("svc.Admin", "PublicApi.Read", "PublicApi.Write"),
    "till": ("svc.POSReader",),
    "erp": ("PublicApi.Read", "PublicApi.Write"),
}


class Office:
    """A served cloud with a token for each role."""

    def __init__(self, http: httpx2.Client, clients: dict[str, tuple[str, str]]) -> None:
        self.http = http
        self._clients = clients

    def me(self, role: str) -> httpx2.Response:
        client_id, secret = self._clients[role]
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        token = self.http.post("/oauth/token", data=form).json()["access_token"]
        return self.http.get("/ui/me", headers={"authorization": f"Bearer {token}"})


@pytest.fixture(scope="module")
def office(databases: Databases, logs: Path) -> Iterator[Office]:
    database_url = databases.create("sqlite")
    clients = make_clients(database_url, TENANT, ROLES, is_new=True)
    service = Service(logs / "back-office-served.log", "--database-url", database_url).start()
    # A program that sends no Accept header.
    with httpx2.Client(base_url=service.url, timeout=30, headers={"accept-encoding": "identity"}) as http:
        yield Office(http, clients)
    service.kill()
    databases.drop(database_url)


@pytest.fixture(scope="module")
def branch(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Start a store that is not set up yet."""
    store = start_store(tmp_path_factory.mktemp("branch"), logs)
    yield store
    store.close()


def root_of(http: httpx2.Client) -> str:
    """Return where the files of this version are, according to the page."""
    found = re.search(r'src="(/ui/[0-9a-f]{16})/', http.get("/").text)
    assert found is not None
    return found[1]


# ---- the page and its files -----------------------------------------------------------------------------------------


def test_the_page_is_not_cached_and_its_policy_allows_no_other_hosts(office: Office) -> None:
    page = office.http.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    policy = dict(part.strip().partition(" ")[::2] for part in page.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["base-uri"] == "'none'"
    assert "{{" not in page.text
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page.text)


def test_every_file_that_the_page_names_is_served(office: Office) -> None:
    addresses = re.findall(r'(?:src|href)="(/[^"]+)"', office.http.get("/").text)
    assert len(addresses) >= 4
    for address in addresses:
        assert office.http.get(address).status_code == 200, address


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("app/Component.js", "text/javascript; charset=utf-8"),
        ("app/manifest.json", "application/json"),
        ("app/shell/Shell.view.xml", "application/xml; charset=utf-8"),
        ("app/shell/style.css", "text/css; charset=utf-8"),
        ("app/shell/icon.svg", "image/svg+xml"),
        ("app/i18n/shell_de.properties", "text/plain; charset=utf-8"),
        ("framework/sap-ui-core.js", "text/javascript; charset=utf-8"),
        ("framework/LICENSE.openui5.txt", "text/plain; charset=utf-8"),
        ("app/Component-preload.js", "text/javascript; charset=utf-8"),
    ],
)
def test_files_are_served_compressed_or_plain_and_are_immutable(office: Office, name: str, kind: str) -> None:
    address = f"{root_of(office.http)}/{name}"
    plain = office.http.get(address)
    with office.http.stream("GET", address, headers={"accept-encoding": "br, gzip"}) as answer:
        packed = b"".join(answer.iter_raw())
    for one in (plain, answer):
        assert (one.status_code, one.headers["content-type"]) == (200, kind)
        assert one.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert one.headers["vary"] == "accept-encoding"
        assert one.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(packed) == plain.content
    head = office.http.head(address)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == plain.headers["content-length"]


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
async def test_tills_do_not_wait_while_files_are_packed_and_unpacked(
    monkeypatch: pytest.MonkeyPatch, accepted: str
) -> None:
    threads: set[int] = set()

    def heard(work: Callable[..., bytes]) -> Callable[..., bytes]:
        def hear(*given: Any, **named: Any) -> bytes:
            threads.add(threading.get_ident())
            return work(*given, **named)

        return hear

    for name in ("compress", "decompress"):
        monkeypatch.setattr(gzip, name, heard(getattr(gzip, name)))
    endpoints = back_office_endpoints(
        cast("Any", None), "cloud", built_in_sign_in("https://shop.example"), cast("Any", None)
    )
    transport = httpx2.ASGITransport(Edge(routed(endpoints, {}), lambda: "id", Protection(Hosts(["shop.example"]))))
    async with httpx2.AsyncClient(transport=transport, base_url="https://shop.example") as http:
        for name in ("app/Component.js", "app/Component-preload.js", "framework/sap-ui-core.js"):
            answer = await http.get(file_address(name), headers={"accept-encoding": accepted})
            assert answer.status_code == 200
    assert threads - {threading.get_ident()}
    assert threading.get_ident() not in threads


def test_fonts_are_served_unchanged(office: Office) -> None:
    font = next(path for path in (UI / "framework").rglob("*.woff2"))
    answer = office.http.get(f"{root_of(office.http)}/{font.relative_to(UI)}", headers={"accept-encoding": "gzip"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "font/woff2")
    assert answer.content == font.read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "", "app", "app/", "framework/", "app/nothing.js", "index.html.gz", "app/../index.html", "../back_office.py",
        "..%2f..%2fsettings.py", "%2e%2e/back_office.py", "index.html", "app//Component.js", "/etc/passwd",
        "app/Component.js%00.css",
        "framework/sap-ui-core.js.gz", "APP/component.js", "app\\Component.js", "app/Component.js/",
    ],
)  # fmt: skip
def test_files_outside_the_back_office_cannot_be_read(office: Office, name: str) -> None:
    assert office.http.get(f"{root_of(office.http)}/{name}").status_code == 404


def test_files_of_another_version_are_not_found(office: Office) -> None:
    assert office.http.get("/ui/0000000000000000/app/Component.js").status_code == 404


@pytest.mark.parametrize("path", ["/", "/ui/sign-in.json", "/ui/me", "{root}/app/Component.js"])
def test_the_back_office_refuses_write_methods(office: Office, path: str) -> None:
    address = path.format(root=root_of(office.http))
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        answer = office.http.request(method, address)
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "address",
    [
        "/odata/v4/admin", "/odata/v4/AdminService", "/odata", "/index.html", "/ui", "/ui/", "/admin.html", "/login",
        "/app", "/app/", "/ui/me/", "/ui/index.html", "/favicon.ico", "/home", "/oauth", "/oauth/",
        "/local-admin/login", "/adminx", "/reportingx", "/%2e%2e/", "/ui/app/Component.js",
    ],
)  # fmt: skip
def test_addresses_excluded_by_the_specification_are_not_found(office: Office, address: str) -> None:
    assert office.http.get(address).status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        "/api/v1", "/api/v1/Promotions", "/api/v1/docs", "/oauth/token", "/oauth/authorize", "/oauth/login.css",
        "/oauth/jwks.json", "/.well-known/openid-configuration", "/sync/register", "/pos/docs/", "/ui",
        "/odata/v4/admin",
    ],
)  # fmt: skip
def test_addresses_of_the_cloud_do_not_exist_in_a_store(branch: Store, address: str) -> None:
    status = branch.client().get(address).status_code
    assert status == (401 if address.startswith("/pos") else 404)  # below /pos, nobody learns which paths exist


def test_the_addresses_of_files_are_one_label_in_the_metrics(office: Office) -> None:
    root = root_of(office.http)
    for name in ("app/Component.js", "app/manifest.json", "nothing/of/this", "nor/of/that.js"):
        office.http.get(f"{root}/{name}")
    told = office.http.get("/metrics").text
    routes = set(re.findall(r'route="(/ui[^"]*)"', told))
    assert routes <= {"/ui/{version}/{name}", "/ui/me", "/ui/sign-in.json"}
    assert "nothing/of/this" not in told


# ---- who sits there -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "pos", "public_api"),
    [
        ("administrator", True, False),
        ("planner", True, False),
        ("controller", False, False),
        ("integrator", True, True),
    ],
)
def test_a_signed_in_user_gets_the_areas_of_the_role(office: Office, role: str, pos: bool, public_api: bool) -> None:
    answer = office.me(role)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    me = answer.json()
    assert (me["tenantId"], me["edition"], me["scopes"]) == (TENANT, "cloud", sorted(ROLES[role]))
    services = {"admin": True, "reporting": True, "pos": pos, "publicApi": public_api, "store": False}
    services |= {"clients": True, "groups": False}
    assert me["services"] == services
    assert me["user"].startswith(role)


def test_the_writable_sets_depend_on_the_role(office: Office) -> None:
    sets = {role: office.me(role).json()["sets"] for role in ("administrator", "planner", "controller")}
    assert sets["administrator"]["WebhookSubscriptions"] == ["create", "update", "delete"]
    assert sets["administrator"]["Clients"] == sets["administrator"]["People"] == ["create", "update", "delete"]
    assert not sets["planner"].keys() & {"Clients", "People", "WebhookSubscriptions"}
    assert sets["planner"]["Promotions"] == ["create", "update", "delete"]
    assert sets["controller"]["Budgets"] == ["update"]
    assert "Promotions" not in sets["controller"]
    assert not any("AuditLogs" in one for one in sets.values())


@pytest.mark.parametrize("role", ["till", "erp"])
def test_a_user_without_a_role_gets_an_error(office: Office, role: str) -> None:
    answer = office.me(role)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "MISSING_SCOPE")


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer x"}, {"cookie": "promenade_session=x.y"}], ids=str)
def test_an_unauthenticated_request_gets_no_user_information(office: Office, headers: dict[str, str]) -> None:
    answer = office.http.get("/ui/me", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHORIZED")


def test_the_administrator_of_a_store_is_known_by_the_session(branch: Store) -> None:
    browser = branch.browser(logged_in=False)
    told = {"edition": "local-store", "isSetUp": False, "hasSession": False}
    assert browser.http.get("/ui/sign-in.json").json() == told
    assert browser.http.get("/ui/me").status_code == 401
    browser.post("setup", {"password": PASSWORD, "confirmPassword": PASSWORD})
    assert browser.http.get("/ui/sign-in.json").json() == {**told, "isSetUp": True}
    browser.log_in()
    assert browser.http.get("/ui/sign-in.json").json() == {**told, "isSetUp": True, "hasSession": True}
    me = browser.http.get("/ui/me").json()
    assert (me["user"], me["edition"], me["scopes"]) == ("admin", "local-store", ["svc.Admin"])
    services = {"admin": True, "reporting": True, "pos": True, "publicApi": False, "store": True}
    services |= {"clients": False, "groups": False}
    assert me["services"] == services
    assert not me["sets"].keys() & {"Clients", "GroupRoles", "People"}
    assert browser.http.get("/").status_code == 200
    browser.post("logout")
    assert browser.http.get("/ui/me").status_code == 401


# ---- the package ----------------------------------------------------------------------------------------------------


def test_the_wheel_takes_every_file_of_the_back_office() -> None:
    """Hatch packs everything below the packages that is not ignored."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["src/promenade", "packages/odata-server/src/odata_server"]}
    from hatchling.builders.wheel import WheelBuilder

    packed = {Path(one.path) for one in WheelBuilder(str(ROOT)).recurse_included_files()}
    shipped = [
        path for folder in ("ui", "services/login") for path in (UI.parent / folder).rglob("*") if path.is_file()
    ]
    assert len(shipped) > 200
    missing = [str(path) for path in shipped if path not in packed]
    assert not missing
