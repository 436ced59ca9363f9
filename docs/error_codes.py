"""Every error code that the program can return, read from its syntax trees, by service."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docs.markdown import table
from promenade.web.http.problems import STATUS
from promenade.web.http.validation import _WORDS

__all__ = [
    "ADMIN",
    "COLUMNS",
    "EVERYWHERE",
    "LOCAL_ADMIN",
    "POS",
    "PUBLIC",
    "REPORTING",
    "SYNC",
    "Raised",
    "computed_codes",
    "error_codes_page",
    "error_rows",
    "module_paths",
    "raised_in",
]

Row = tuple[str, str, str]
ROOT = Path(__file__).parent.parent
SOURCES = (ROOT / "src", ROOT / "packages/odata-server/src")
COLUMNS = ("Code", "Status", "Message")

# Where a caller of each service can get an error. Entries with ! are excluded again.
POS = (
    "promenade/web/",
    "!promenade/web/access/roles",
    "!promenade/web/agents/",
    "!promenade/web/documents/",
    "!promenade/web/drafts/",
    "!promenade/web/forecasts/",
    "!promenade/web/odata/admin_unit",
    "!promenade/web/promotions/",
    "!promenade/web/services/admin",
    "!promenade/web/webhooks/",
    "!promenade/web/imports/bulk",
    "!promenade/web/imports/bulk_header",
    "!promenade/web/access/tls/certificates",
    "!promenade/web/odata/draft_faults",
    "!promenade/web/imports/status",
    "!promenade/web/access/local_admin",
    "!promenade/web/access/local_requests",
    "!promenade/web/access/login_throttle",
    "!promenade/web/access/till_keys",
    "!promenade/web/imports/master_data",
    "!promenade/web/imports/master_data_json",
    "!promenade/web/imports/master_data_xml",
    "!promenade/web/odata/api",
    "!promenade/web/odata/source",
    "!promenade/web/odata/preparing",
    "!promenade/web/odata/public",
    "!promenade/web/odata/public_endpoint",
    "!promenade/web/services/public_openapi",
    "!promenade/web/http/reader_pages",
    "!promenade/web/http/downloads",
    "!promenade/web/odata/export",
    "!promenade/web/access/basic",
    "!promenade/web/odata/sheets",
    "!promenade/web/reports/",
    "!promenade/web/http/row_cutter",
    "!promenade/web/access/sessions",
    "!promenade/web/access/sign_in",
    "!promenade/web/imports/soap",
    "!promenade/web/http/spool",
    "!promenade/web/sync/",
    "promenade/workflows/imports/till_articles",
    "promenade/workflows/sales/confirm",
    "promenade/workflows/sales/cancel",
    "promenade/workflows/settlement/rules",
    "promenade/workflows/coupons/claims",
    "promenade/workflows/coupons/answers",
    "promenade/workflows/coupons/edges",
    "promenade/workflows/coupons/failed_look_ups",
    "promenade/workflows/coupons/presenting",
    "promenade/workflows/coupons/redeeming",
    "promenade/workflows/coupons/reserving",
    "promenade/workflows/pricing/known",
    "promenade/workflows/pricing/prices",
    "promenade/workflows/imports/accepting",
    "promenade/workflows/sales/side_effects",
    "promenade/workflows/sales/side_effects_requeue",
    "promenade/workflows/coupons/till_issue",
    "promenade/store/driver/postgresql/database",
    "promenade/store/driver/sqlite/database",
    "promenade/store/driver/sqlite/line",
    "promenade/store/driver/unit",
)
PUBLIC = (
    "odata_server/",
    "!odata_server/engines",
    "!odata_server/sql_source",
    "!odata_server/tables/",
    "promenade/engine/",
    "promenade/store/",
    "!promenade/store/driver/faults",
    "promenade/web/",
    "!promenade/web/access/roles",
    "!promenade/web/agents/",
    "!promenade/web/documents/",
    "!promenade/web/drafts/",
    "!promenade/web/forecasts/",
    "!promenade/web/odata/admin_unit",
    "!promenade/web/promotions/",
    "!promenade/web/services/admin",
    "!promenade/web/webhooks/",
    "!promenade/web/access/api_key",
    "!promenade/web/odata/draft_faults",
    "!promenade/web/access/issuer",
    "!promenade/web/access/issuer_store",
    "!promenade/web/access/local_admin",
    "!promenade/web/access/local_requests",
    "!promenade/web/access/login_throttle",
    "!promenade/web/access/own_password",
    "!promenade/web/access/own_sessions",
    "!promenade/web/access/till_keys",
    "!promenade/web/http/numbers",
    "!promenade/web/coupons/",
    "!promenade/web/imports/till_article_messages",
    "!promenade/web/imports/till_articles",
    "!promenade/web/pricing/",
    "!promenade/web/services/pos_metadata",
    "!promenade/web/services/pos_openapi",
    "!promenade/web/odata/export_orders",
    "!promenade/web/reports/",
    "!promenade/web/access/sessions",
    "!promenade/web/access/sign_in",
    "!promenade/web/sync/",
    "!promenade/web/http/validation",
    "promenade/workflows/authoring/",
    "promenade/workflows/promotions/campaigns",
    "promenade/workflows/access/claims",
    "promenade/workflows/imports/accepting",
    "promenade/workflows/imports/articles",
    "promenade/workflows/imports/importing",
    "promenade/workflows/imports/ownership",
    "promenade/workflows/imports/progress",
    "promenade/workflows/imports/rows",
    "promenade/workflows/imports/running",
    "promenade/workflows/imports/master_data",
    "promenade/workflows/promotions/templates",
)
ADMIN = (
    "promenade/web/access/roles",
    "promenade/web/documents/",
    "promenade/web/drafts/",
    "promenade/web/forecasts/",
    "promenade/web/http/downloads",
    "promenade/web/odata/admin_unit",
    "promenade/web/odata/export",
    "promenade/web/odata/sheets",
    "promenade/web/promotions/",
    "promenade/web/services/admin",
    "promenade/web/webhooks/",
    "promenade/web/access/auth",
    "promenade/web/access/tls/authorities",
    "promenade/web/odata/draft_faults",
    "promenade/web/http/rate_limits",
    "promenade/web/access/sessions",
    "promenade/workflows/access/enrolments",
    "promenade/workflows/promotions/basket_tests",
    "promenade/workflows/promotions/budget_requests",
    "promenade/workflows/promotions/check",
    "promenade/workflows/promotions/copying",
    "promenade/workflows/coupons/codes",
    "promenade/workflows/coupons/generation",
    "promenade/workflows/coupons/issuing",
    "promenade/workflows/documents/exporting",
    "promenade/workflows/documents/stored",
    "promenade/workflows/drafts/",
    "promenade/workflows/forecasts/",
    "promenade/workflows/promotions/lifecycle",
    "promenade/workflows/webhooks/replay",
)
REPORTING = (
    "promenade/web/http/downloads",
    "promenade/web/access/auth",
    "promenade/web/access/basic",
    "promenade/web/access/tls/authorities",
    "promenade/web/http/rate_limits",
    "promenade/web/odata/export",
    "promenade/web/odata/sheets",
    "promenade/web/reports/",
    "promenade/web/access/sessions",
    "promenade/workflows/reports/exports",
)
LOCAL_ADMIN = (
    "promenade/web/access/api_key",
    "promenade/web/http/body",
    "promenade/web/access/local_admin",
    "promenade/web/access/local_requests",
    "promenade/web/access/login_throttle",
    "promenade/web/access/till_keys",
    "promenade/workflows/access/local_admin",
    "promenade/workflows/access/till_keys",
)
SYNC = (
    "promenade/web/access/auth",
    "promenade/web/access/tls/authorities",
    "promenade/web/http/body",
    "promenade/web/http/endpoint",
    "promenade/web/http/json_body",
    "promenade/web/http/numbers",
    "promenade/web/http/problems",
    "promenade/web/http/rate_limits",
    "promenade/web/sync/",
    "promenade/web/http/validation",
    "promenade/workflows/sync/",
    "promenade/store/driver/postgresql/database",
    "promenade/store/driver/sqlite/database",
    "promenade/store/driver/sqlite/line",
    "promenade/store/driver/unit",
)
TABLES = ("odata_server/engines", "odata_server/sql_source", "odata_server/tables/")
EVERYWHERE = ("",)
# Raised where requests of every kind pass, but only for one of them.
_NOT_FOR_TILLS = frozenset({"`QUERY_TOO_EXPENSIVE`", "`CSRF_TOKEN_REQUIRED`"})
_NOT_FOR_INTEGRATORS = frozenset({"`CSRF_TOKEN_REQUIRED`"})
_ELSEWHERE: Mapping[tuple[str, ...], frozenset[str]] = {
    POS: _NOT_FOR_TILLS,
    PUBLIC: _NOT_FOR_INTEGRATORS,
    SYNC: _NOT_FOR_TILLS,
}

# Calls that create errors: their status, or None where the first argument holds it.
_MAKERS: dict[str, str | None] = {
    **{kind.__name__: str(status) for kind, status in STATUS.items()},
    # One of several faults of a request: most are reported with 400.
    **dict.fromkeys(("BadNumber", "DefinitionError", "Detail", "Fault", "Wrong", "bad_request", "fault"), "400"),
    "Challenged": "401",
    "ODataError": None,
    "not_found": "404",
}
# Codes composed in the program, or created by a module's own helpers, by module.
_COMPUTED: dict[str, tuple[Row, ...]] = {
    "odata_server/batch/run.py": (
        ("FAILED_DEPENDENCY", "424", "Another request of the same change set failed; nothing in it was carried out."),
        ("FAILED_DEPENDENCY", "424", "It depends on …, which failed."),
    ),
    "promenade/workflows/sync/sales.py": (
        (
            "DEFINITION_MISSING",
            "200",
            "… of the definitions that the sale was priced with are unknown; send them with it.",
        ),
        ("UPLOAD_FAILED", "200", "The cloud could not accept it; its log says why. Send it again later."),
    ),
    "odata_server/parse/cursor.py": tuple(
        (code, "400", "… cannot be read at position …: expected …, found ….") for code in ("QUERY_SYNTAX", "URI_SYNTAX")
    ),
}

_INTRO = inspect.cleandoc(
    """
    Codes are stable; messages are for people and may change. `…` stands for a value of the request. Of several faults
    of one request every one is in `details`, each with its code, message and target.

    - A till meets those of [POS](pos.md#errors).
    - An integrator meets those of the [public API](#public-api) below; in which form, says
      [its page](public-api.md#errors).
    - A store meets those of [sync](sync.md#errors).
    - A planner meets these, and those of [administration](#administration).
    - An analyst meets those of [reporting](#reporting), and those of the public API's reads.
    - The administrator of a [store](local-store.md#errors) meets those of its page, and those of administration.
    - The [commands](#commands) print the message alone and end with 1, or with 2 when a value was wrong.
    """
)
_BESIDE = "[Administration](admin.md) may refuse with all of the public API's, and with:"
_REPORTED = "[Reporting](reporting.md) may refuse with what a read of the public API is refused with, and with:"
_FEW = "Beside what is above, `promenade` may refuse with:"
_OWN = "A [model of your own](../how-to/serve-your-own-model.md) over plain tables has besides:"


@dataclass(frozen=True, slots=True)
class Raised:
    """A place where an error is created; the code is None if it was created elsewhere and is passed on."""

    path: str
    line: int
    code: str | None
    status: str
    message: str
    written: str = ""  # in the program


def error_codes_page() -> str:
    """Return the page with every code, by the services that can return it."""
    public, pos = error_rows(PUBLIC), error_rows(POS)
    admin = [row for row in error_rows(ADMIN) if row[:2] not in {known[:2] for known in public}]
    reporting = [row for row in error_rows(REPORTING) if row[:2] not in {known[:2] for known in public}]
    tables = [row for row in error_rows(TABLES) if row[0] not in {known[0] for known in public}]
    known = {
        row[:2] for row in (*public, *admin, *reporting, *pos, *tables, *error_rows(LOCAL_ADMIN), *error_rows(SYNC))
    }
    rest = [row for row in error_rows(EVERYWHERE) if row[:2] not in known]
    parts = ["# Error codes", _INTRO, "## Public API", table(COLUMNS, public)]
    parts += ["## Administration", _BESIDE, table(COLUMNS, admin)]
    parts += ["## Reporting", _REPORTED, table(COLUMNS, reporting)]
    parts += ["## Commands", _FEW, table(COLUMNS, rest), "## Plain tables", _OWN, table(COLUMNS, tables)]
    return "\n\n".join(parts)


def error_rows(sources: Sequence[str]) -> list[Row]:
    """Return code, status and messages of every error created below ``sources``."""
    found: dict[tuple[str, str], list[str]] = {}

    def add(code: str, status: str, message: str) -> None:
        messages = found.setdefault((code, status), [])
        if message and message not in messages:
            messages.append(message)

    for path in module_paths():
        if _belongs(path, sources):
            for one in raised_in(path):
                if one.code is not None:
                    add(one.code, one.status, one.message)
            for row in _COMPUTED.get(path, ()):
                add(*row)
    if _belongs("promenade/web/http/validation.py", sources):
        for _, code, phrase in _WORDS:
            add(code, "400", f"`…` {phrase}.")
    if _belongs("promenade/web/http/problems.py", sources):
        found[("INTERNAL_ERROR", "500")] = ["Something went wrong; quote …."]
    rows = [(f"`{code}`", status, "<br>".join(messages)) for (code, status), messages in sorted(found.items())]
    elsewhere = _ELSEWHERE.get(tuple(sources), frozenset())
    return [row for row in rows if row[0] not in elsewhere]


@cache
def module_paths() -> tuple[str, ...]:
    """Return all modules below `src`."""
    return tuple(sorted(path.relative_to(source).as_posix() for source in SOURCES for path in source.rglob("*.py")))


def computed_codes() -> Mapping[str, Sequence[Row]]:
    """Return codes that are not in the syntax trees, by the module that creates them."""
    return _COMPUTED


def _belongs(path: str, sources: Sequence[str]) -> bool:
    refused = tuple(one[1:] for one in sources if one.startswith("!"))
    taken = tuple(one for one in sources if not one.startswith("!"))
    return path.startswith(taken) and not (refused and path.startswith(refused))


# ---- syntax trees -------------------------------------------------------------------------------------------------


@cache
def raised_in(path: str) -> tuple[Raised, ...]:
    """Return every error that a module below `src` creates."""
    (source,) = (source for source in SOURCES if (source / path).exists())
    tree = ast.parse((source / path).read_text())
    return tuple(_Module(path, tree).errors())


class _Module:
    """One module: the values of its names, and the errors it creates."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self._path = path
        self._tree = tree
        self._texts: dict[str, list[tuple[int, ast.expr]]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._texts.setdefault(node.targets[0].id, []).append((node.lineno, node.value))

    def errors(self) -> Iterator[Raised]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                name = _called(node.func)
                if name == "not_implemented":
                    yield self._raised(
                        node, "NOT_IMPLEMENTED", "501", f"{_shown(node)} is not supported by this service."
                    )
                elif name in _MAKERS:
                    yield from self._made(node, name)

    def _made(self, node: ast.Call, name: str) -> Iterator[Raised]:
        status = _MAKERS[name] or _number(node.args[0])
        if name == "not_found":
            message = self._words(node.args[0]) if node.args else "There is nothing at this address."
            code = _literal(node.args[1]) if len(node.args) > 1 else "NOT_FOUND"
            yield self._raised(node, code, status, message)
            return
        following = [*node.args[1:], None]
        for argument, message_node in zip(node.args, following, strict=True):
            codes = self._codes(argument)
            if codes:
                for code in codes:
                    yield self._raised(node, code, status, self._words(message_node))
                return
        yield self._raised(node, None, status, "")

    def _raised(self, node: ast.Call, code: str | None, status: str, message: str) -> Raised:
        return Raised(self._path, node.lineno, code, status, message, ast.unparse(node))

    def _codes(self, node: ast.expr) -> list[str]:
        """Return the codes that an argument may be: a literal, one of two, or a name for them."""
        if isinstance(node, ast.IfExp):
            return [*self._codes(node.body), *self._codes(node.orelse)]
        if isinstance(node, ast.Name):
            above = self._above(node)
            if above is None:  # imported: constants of this kind are named after their value
                return [node.id] if node.id.isupper() and node.id.endswith("_SYNTAX") else []
            return [] if isinstance(above, ast.Name) else self._codes(above)
        code = _literal(node)
        return [] if code is None else [code]

    def _words(self, node: ast.expr | None) -> str:
        """Return a message's text, with … for placeholders; for a name, the nearest text above it."""
        if isinstance(node, ast.Name):
            node = self._above(node)
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        return ""

    def _above(self, node: ast.Name) -> ast.expr | None:
        above = [one for one in self._texts.get(node.id, []) if one[0] <= node.lineno]
        return max(above, key=lambda one: one[0])[1] if above else None


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _literal(node: ast.expr) -> str | None:
    """Return a literal like "NOT_FOUND", otherwise None."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and value.isupper() and value.replace("_", "").isalnum() else None


def _number(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "400"


def _shown(node: ast.Call) -> str:
    argument = node.args[0]
    return str(argument.value) if isinstance(argument, ast.Constant) else "…"
