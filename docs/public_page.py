"""docs/reference/public-api.md: how `/api/v1` is called, and its operations and collections from the model."""

from __future__ import annotations

import inspect

from docs import public_reference as reference
from docs.markdown import table
from odata_server.hooks import Hooks
from odata_server.parse.cursor import NODES_MAX
from odata_server.parse.options import EXPAND_DEPTH_MAX
from odata_server.sql import limits as sql
from odata_server.sql.terms import functions
from promenade import model
from promenade.interface import MINOR_VERSION
from promenade.web.http.connection import HEAD_BYTES_MAX
from promenade.web.http.downloads import EXPORTS_MAX
from promenade.web.http.endpoint import URL_BYTES_MAX
from promenade.web.http.row_cutter import ROW_BYTES_MAX
from promenade.web.http.spool import SPOOLED_BYTES_MAX
from promenade.web.http.workbooks import ROWS_MAX as ROWS_OF_SHEET_MAX
from promenade.web.imports.bulk import JOBS_MAX
from promenade.web.imports.bulk import ROWS_MAX as IMPORT_ROWS_MAX
from promenade.web.odata.export_files import MEDIA_TYPES
from promenade.web.odata.source import ENTITIES_MAX, QUERY_SECONDS
from promenade.web.services.customers import CUSTOMERS, ERASURES, EXPORTS, LIMIT, LIMIT_MAX, LINES
from promenade.workflows.authoring.planning import ROWS_MAX, UNIT_ROWS_MAX
from promenade.workflows.promotions.campaigns import PROMOTIONS_MAX
from promenade.workflows.promotions.templates import ROWS_MAX as TEMPLATE_ROWS_MAX

__all__ = ["public_api_page"]

_INTRO = inspect.cleandoc(
    f"""
    Where other systems write and read what tills price by. Plain REST with JSON, and OData V4 at the same addresses. To
    begin with it: [Feed promotions from an ERP system](../how-to/public-api.md) and
    [Use an OData client](../how-to/odata-clients.md). The same as metadata is at `/api/v1/$metadata`, and to browse at
    `/api/v1/docs`. As OpenAPI it is at `/api/v1/openapi.json`, each operation once, and at `/api/v1/openapi-all.json`
    with all addresses; `?tag=Promotions,Campaigns` leaves only the operations of these collections, and the schemas
    that they reach. These need no token.

    Every request takes a bearer token, `Authorization: Bearer ...`, which names the tenant and the scopes:
    `PublicApi.Read` for GET and functions, `PublicApi.Write` for everything else, but for
    [customers](#customers), which have a scope of their own. Neither of the two implies the other: a client
    that only writes sees its own creates and nothing more. `$metadata` and the service document take either. Rows of
    other tenants do not exist: they are 404, in every verb, and never in a filter, an expand or a count. A tenant may
    let clients read collections by [HTTP Basic](../how-to/tenants-and-clients.md#without-a-token), too.

    Major versions have their own address. The minor version, now {MINOR_VERSION}, is in every JSON answer that
    succeeds, as `minorVersion`; it rises when something is added, and clients pass over what they do not know.
    """
)
_CLIENTS = inspect.cleandoc(
    """
    Who sends `OData-Version` or `OData-MaxVersion`, and every request inside `$batch`, is an *OData client*; all others
    are *REST clients*.
    """
)
_CLIENT_ROWS = (
    (
        "Error body",
        "`application/problem+json`: `type`, `title`, `status`, `detail`, `instance`, `code`, `target`, `details`",
        '`{"error": {"code", "message", "target", "details"}}`',
    ),
    ("Write on a read-only collection", "405 `READ_ONLY`, `Allow: GET`", "403 `READ_ONLY`"),
    ("Form of annotations", "4.01: `@count`", "4.01, or `@odata.count` with `OData-MaxVersion: 4.0`"),
)
_ADDRESSES = (
    ("`GET /api/v1`", "The service document: all collections.", "200"),
    ("`GET /api/v1/$metadata`", "The model, in XML or JSON.", "200, 304"),
    ("`GET /api/v1/<Collection>`", 'A list: `{"value": [...]}`, with `@count` and `@nextLink`.', "200"),
    ("`GET /api/v1/<Collection>/$count`", "How many, as text; `$filter` and `$search` count.", "200"),
    ("`POST /api/v1/<Collection>`", "Create a row, with its parts; answers it, and where it is in `Location`.", "201"),
    ("`GET /api/v1/<Collection>(<ID>)`", "One row. Of code lists: `(<code>)` in quotes.", "200, 304"),
    ("`PATCH /api/v1/<Collection>(<ID>)`", "Change what the body names.", "204"),
    (
        "`PUT /api/v1/<Collection>(<ID>)`",
        "Replace: what the body leaves out goes to its default; the status and the parts stay. Creates nothing.",
        "204",
    ),
    (
        "`PATCH /api/v1/<Collection>(<field>='<value>')`",
        "By the natural key: change the row, or create it: [Natural keys](#natural-keys). GET, PUT, DELETE likewise.",
        "204, 201",
    ),
    ("`DELETE /api/v1/<Collection>(<ID>)`", "Delete the row and its parts.", "204"),
    ("`GET /api/v1/<Collection>(<ID>)/<navigation>`", "What a row leads to; 204 where a single one is missing.", "200"),
    ("`POST /api/v1/<Collection>(<ID>)/<navigation>`", "Create a row that belongs to this one.", "201"),
    (
        "`GET /api/v1/<Collection>(<ID>)/<field>`",
        "One value; `/$value` after it gives the bare text. PUT sets it, DELETE makes it null.",
        "200, 204",
    ),
    ("`GET ... /<navigation>/$ref`", "Addresses alone. PUT and DELETE set and clear a link to one.", "200, 204"),
    ("`POST /api/v1/<Collection>/$query`", "A list; the options are the body, as `text/plain`.", "200"),
    ("`POST /api/v1/$batch`", "Many requests in one: [Batches](#batches).", "200"),
    ("`POST /api/v1/<Collection>:bulk-import`", "Many rows, in the background: [bulkImport](#bulkimport).", "202, 200"),
    ("`GET /api/v1/jobs/<jobId>`", "Where an import stands.", "200"),
    ("`POST /api/v1/customer-erasures`", "Erase a customer: [Customers](#customers). GET lists erasures.", "202, 200"),
    ("`POST /api/v1/customer-exports`", "What is stored about one: [Customers](#customers).", "200"),
)
_ADDRESS_NOTE = "A slash at the end does not matter; HEAD is GET without its body. A key is `(<ID>)` or `(ID=<ID>)`."
_OPTIONS = (
    (
        "`$filter`",
        (
            "A condition: `eq ne gt ge lt le in and or not`, arithmetic `add sub mul div divby mod`, functions, paths "
            "over navigations (`campaign/code eq 'A'`), `any` and `all` over many, `<navigation>/$count`."
        ),
    ),
    ("`$orderby`", "Fields, paths or expressions, each with `asc` or `desc`. Equal rows are ordered by their key."),
    ("`$select`", "Fields to answer; the key and the ETag always come along."),
    (
        "`$expand`",
        "Navigations to write out, each with options in parentheses, separated by `;`, `$levels` for trees.",
    ),
    ("`$search`", 'Words and `"phrases"` with `AND`, `OR`, `NOT`, in the fields that each collection names below.'),
    ("`$top`, `$skip`", "How many, after how many."),
    ("`$count`", "`true`: answer `@count`, how many there are without `$top` and `$skip`."),
    ("`$compute`", "Values computed from fields, with a name: `basePrice mul 2 as double`."),
    ("`$apply`", "Groups and totals: `groupby((status),aggregate($count as n))`."),
    ("`$format`", "`json`, `xml` for metadata, `csv` or `xlsx` for lists, or a media type: as `Accept`."),
    ("`@name`", "A value that an expression calls `@name`."),
)
_REQUEST_HEADERS = (
    ("`Authorization`", "`Bearer` and the token."),
    ("`Content-Type`", "`application/json`, in UTF-8; for `$batch` also `multipart/mixed`."),
    (
        "`Accept`",
        (
            "`application/json`, with `metadata=none`, `minimal` or `full`, and with `IEEE754Compatible=true` for "
            "Decimal and Int64 as strings. Of lists also `text/csv` or the media type of workbooks: [Files](#files)."
        ),
    ),
    ("`If-Match`", "Change or delete only what has one of these ETags, else 412. Never required."),
    ("`If-None-Match`", "Answer 304 if the row still has this ETag."),
    ("`OData-Version`, `OData-MaxVersion`", "`4.0` or `4.01`; see above."),
    (
        "`Prefer`",
        (
            "`return=representation` or `return=minimal` for writes, `maxpagesize=<n>` for lists, `continue-on-error` "
            "for batches; with or without `odata.`. `Preference-Applied` says what was heeded."
        ),
    ),
    ("`X-Correlation-Id`", "Comes back in the answer and stands in the log."),
)
_RESPONSE_HEADERS = (
    ("`ETag`", "Of the row answered, or of the row as it is after a change."),
    ("`Location`", "The address of what was created; with 204 also `OData-EntityId`."),
    ("`OData-Version`", "The version of this answer."),
    ("`Allow`, `Retry-After`, `WWW-Authenticate`", "With 405, with 429 and with 401."),
    ("`X-Correlation-Id`", "What to quote when asking why."),
)
_STATUSES = (
    ("200, 201, 204", "Done: with an answer, created, without an answer."),
    ("202", "Accepted: a job of its own does it."),
    ("304", "As it was: `If-None-Match` knew it."),
    ("400", "The request is malformed or breaks a rule; it fails again as it is."),
    ("401", "No token, or one that does not hold."),
    ("403", "The scope is missing, the tenant of a body is another, an OData client writes what is read-only."),
    ("404", "It is not there, for this tenant."),
    ("405", "Not with this method; `Allow` says which."),
    ("406, 415", "A form that is not spoken here."),
    ("409", "The state of things does not admit it: a key is taken, a row is in use, a campaign is locked."),
    ("412", "`If-Match` was not met."),
    ("413", "Too large."),
    ("424", "In a batch: another request failed that this one depends on."),
    ("429", "Too many at once: again after `Retry-After` seconds."),
    ("500", "Our fault; the message quotes a correlation id and nothing else."),
    ("501", "Part of OData that is not offered."),
    ("503", "Not now: send it again, with growing waits."),
)
_WRITING = inspect.cleandoc(
    """
    - **Parts.** A navigation marked *part* is written inside the body of its row, any number of levels deep, on create
      and on change. In a PATCH the list is the whole new list: rows with a known `ID` are changed, rows without are
      created, the missing ones are deleted. `"<navigation>@delta": [...]` changes what it names and leaves the rest;
      `{"@removed": {}, "ID": ...}` in it deletes. Parts have collections of their own too.
    - **Links.** A row is linked by its ID (`"campaign_ID": "..."`), by `"campaign@odata.bind": "Campaigns(...)"`, or by
      `"campaign": {"@id": "Campaigns(...)"}`. What is linked must be there.
    - **IDs.** A client may choose the `ID` of what it creates, which makes creates safe to repeat: the second is 409.
    - **What is ignored.** Read-only fields and control information in a body are passed over, as OData prescribes.
      Refused are: unknown fields (400), a `tenantId` that is not the caller's (403), `locked` in a PATCH of a campaign
      (405), what cannot be changed in a collection marked RW\\* (400).
    - **Null.** An optional field is cleared by `null`; left out of a PATCH it stays. A field with a default is never
      null.
    - **Numbers and times.** Decimals are exact: JSON numbers or strings; too many decimals are refused, not rounded.
      Times carry an offset or `Z`, and are answered in UTC.
    - **Rules over several rows**, such as that an ACTIVE promotion gives something, are judged at the end of the
      request or change set. A change is priced by the next evaluation.
    - **Rules of single collections** that no table shows, such as what a change of a budget's total does, are in
      [decision 11](../decisions/0011-authoring-rules.md).
    - **Trail.** Every change is in [AuditLogs](#auditlogs). A change that changes nothing leaves no trace.
    """
)
_FILES = inspect.cleandoc(
    f"""
    A list is answered as a file for `$format=csv` or `$format=xlsx`, or for `Accept: text/csv` or
    `Accept: {MEDIA_TYPES["xlsx"]}` without `application/json` beside it. `$filter`, `$search`, `$orderby`, `$top` and
    `$skip` choose its rows; there is no `@nextLink`: the file goes on to the last row, read page by page as it is
    sent. Its columns are those of `$select` in that order, or else all fields in the order of the metadata. A
    navigation to one in `$expand` adds columns such as `campaign/name`; one to many is 400 `EXPAND_NOT_FLAT`. What is
    no list, such as one row, is 406.

    CSV is UTF-8 (RFC 4180) with a comma and a byte order mark, which `text/csv;bom=false` leaves out. Decimals are
    exact, days and times those of the JSON (`2026-07-01T10:00:00Z`); what has no value is empty. A text that a
    spreadsheet would compute begins with an apostrophe. In a workbook numbers, days, times (in UTC) and truth values
    are cells of that kind, texts are never computed, and rows beyond a sheet's {ROWS_OF_SHEET_MAX} go on on the next.

    A file counts as a request for the limits of a client, and each of its pages does. At most {EXPORTS_MAX} files of
    several pages are sent at a time for a tenant: beyond that 429 `TOO_MANY_EXPORTS` with `Retry-After`. Files with
    coupon codes are in the audit trail. If something fails after the first page the connection breaks off, so that no
    part is taken for the whole.
    """
)
_NATURAL_KEYS = inspect.cleandoc(
    """
    Where a collection has a number or code of its own, that identifies a row like its ID, in every address:
    `Articles(articleNumber='4711')`, with a quote inside doubled and the rest percent-encoded. `$metadata` says so by
    `Core.AlternateKeys`. A link in a body may name it, too: `"campaign@odata.bind": "Campaigns(code='SUMMER')"`; if
    there is none, it is 400 `UNKNOWN_REFERENCE`.

    PATCH and PUT of a row that is not there create it, by the rules of a create, with the key of the address: 201, and
    where it is in `Location`. `If-None-Match: *` only creates and `If-Match: *` only changes, else 412. Of several
    requests at the same time one creates the row, and the others change it. Another key in the body renames a row that
    is there; where none is it is 400 `KEY_MISMATCH`. A row that is addressed by its ID, or below another row, is never
    created by PATCH: 404.
    """
)
_CUSTOMERS = inspect.cleandoc(
    f"""
    The scope `{CUSTOMERS}` opens three requests about a retailer's customers; no other scope does. What is stored, and
    what an erasure does, says [What is kept about customers](../how-to/data-protection.md). The ID is in the
    body, `{{"customerId": "C-4711"}}`, because addresses are in the logs of many. They are JSON and no OData, and
    cannot be part of a batch.

    - `POST /api/v1/{ERASURES}` asks for an erasure: 202, with its `id` and `status`. The same request again is the
      same erasure, so it may be repeated after an answer that was lost.
    - `GET /api/v1/{ERASURES}` lists erasures, the latest first, `limit` on a page ({LIMIT}, at most {LIMIT_MAX}).
      `cursor` leads to the page after this one: `?cursor=<cursor>`. It is null on the last page.
    - `POST /api/v1/{EXPORTS}` answers with what is stored as `{LINES}`: one JSON object `{{"kind", "values"}}` on each
      line, while it is read. The last line is of the kind `End` and says how many `records` there were; an answer
      without it is not whole. A tenant has at most {EXPORTS_MAX} exports under way, else 429 `TOO_MANY_EXPORTS`.

    The audit trail tells who has asked, as `CREATE` of `CustomerErasures` and as `EXPORT` of `Customers`, without IDs.
    """
)
_BATCHES = inspect.cleandoc(
    """
    A batch is `multipart/mixed` or `application/json`, and is answered in the same form unless `Accept` says otherwise.
    Its parts are carried out in order, each in its own transaction. A change set (multipart) or the requests of one
    `atomicityGroup` (JSON) are one transaction: if one fails, nothing of the set is done. In the multipart form the
    failed set has one answer, its error; in the JSON form the others answer 424 `FAILED_DEPENDENCY`.

    `$<Content-ID>`, or `$<id>`, stands for what an earlier request made: at the beginning of an address, in
    `@odata.bind` and `{"@id": ...}`. `dependsOn` and `if` are heeded in the JSON form. A multipart batch ends at the
    first failure unless `Prefer: continue-on-error` is sent; a JSON batch goes on unless `continue-on-error=false` is.
    The token is that of the batch; every part is checked for its own scope.
    """
)
_ERRORS = inspect.cleandoc(
    """
    `code` is stable; `target` is the path of the field, such as `posGroups/0/posGroup_ID`, or the name of the query
    option or header. All faults of a request are told at once in `details`, each with `code`, `message` and `target`;
    the error itself then repeats the first, or is `MULTIPLE_ERRORS`. A refused request leaves nothing behind. Inside
    `$batch`, errors are always those of an OData client, and so are those of what is refused before its address is
    known (`HEADERS_TOO_LARGE`, `MALFORMED_HTTP`, `UNKNOWN_HOST`). All codes: [Error codes](error-codes.md#public-api).
    """
)
_MANAGED_ROWS = (
    ("`createdAt`, `modifiedAt`", "DateTimeOffset", "When the row was created, and last changed; in UTC."),
    ("`createdBy`, `modifiedBy`", "String(255)", "The user or client that did."),
    ("`tenantId`", "String(36)", "The tenant that owns the row: that of the token. Parts of some rows do not show it."),
    ("`minorVersion`", "Int32", "Minor version of the interface, the same on every row."),
)
_MODES = inspect.cleandoc(
    """
    RW: create, read, update, delete. RW\\*: read, and what its section says. RO: read only. A field is optional, and
    null when it is left out, unless the table says *required* or names a default. What is *write-only* is accepted and
    never shown, filtered or ordered by. Times are kept to the microsecond.
    """
)
_CODE_LISTS = inspect.cleandoc(
    """
    Read only, the same for every tenant, with the key `code`: `GET /api/v1/PromotionStatuses('ACTIVE')`. The values are
    in [Code lists](code-lists.md). A field `status` with a code list has a navigation `statusText` to its entry.
    """
)


def public_api_page() -> str:
    """Return the whole page."""
    parts = ["# Public API", _INTRO]
    parts += ["## Clients", _CLIENTS, table(("", "REST client", "OData client"), _CLIENT_ROWS)]
    parts += ["## Addresses", table(("Address", "What it does", "Status"), _ADDRESSES), _ADDRESS_NOTE]
    parts += ["## Query options", _option_words(), table(("Option", "Meaning"), _OPTIONS), _function_words()]
    parts += [
        "## Files",
        _FILES,
        "## Writing",
        _WRITING,
        "## Natural keys",
        _NATURAL_KEYS,
        _natural_keys(),
        "## Batches",
        _BATCHES,
    ]
    parts += [
        "## Customers",
        _CUSTOMERS,
        "## Headers",
        table(("Of a request", ""), _REQUEST_HEADERS),
        table(("Of an answer", ""), _RESPONSE_HEADERS),
    ]
    parts += ["## Status codes", table(("Status", "Meaning"), _STATUSES), "## Errors", _ERRORS]
    parts += ["## Limits", table(("Limit", "Value", "Beyond it"), _limits())]
    parts += ["## Actions and functions", reference.operations()]
    parts += ["## Collections", _MODES, reference.index()]
    parts += ["### On every row", table(("Field", "Type", "Meaning"), _MANAGED_ROWS)]
    parts += [reference.collection_section(name) for name in reference.set_names()]
    parts += ["## Code lists", _CODE_LISTS, _code_list_fields(), _code_list_names()]
    return "\n\n".join(parts)


def _natural_keys() -> str:
    rows = [
        (f"[{one.name}](#{one.name.lower()})", ", ".join(f"`{name}`" for key in one.alternate_keys for name in key))
        for one in sorted(reference.EDM.entity_types.values(), key=lambda one: one.name)
        if one.alternate_keys
    ]
    return table(("Collection", "Natural key"), rows)


def _option_words() -> str:
    return (
        "With or without `$`, in any case, percent-encoded. An unknown option with `$` is 400, one without is ignored. "
        "Lists have pages of at most "
        f"{Hooks.page_size} rows, or of `Prefer: maxpagesize`; `@nextLink` leads to the next and is followed as it is. "
        "A larger `$top` is served page by page."
    )


def _function_words() -> str:
    names = sorted(functions._FUNCTIONS)
    return "Functions, in any case: " + ", ".join(f"`{name}`" for name in names) + "."


def _limits() -> list[tuple[str, str, str]]:
    mebibyte = 1024 * 1024
    return [
        ("Address", f"{URL_BYTES_MAX // 1024} KiB", "400 `URL_TOO_LONG`"),
        ("Headers", f"{HEAD_BYTES_MAX // 1024} KiB", "413 `HEADERS_TOO_LARGE`"),
        ("Body", f"{Hooks.body_bytes_max // mebibyte} MiB", "413 `BODY_TOO_LARGE`"),
        ("Requests in a batch", str(Hooks.batch_parts_max), "400 `BATCH_TOO_LARGE`"),
        (
            "Answers of a batch",
            f"{Hooks.batch_answer_bytes_max // mebibyte} MiB",
            "413 `BATCH_ANSWER_TOO_LARGE` for the rest",
        ),
        ("Time of a batch", f"{Hooks.batch_seconds_max:g} s", "503 `BATCH_TOO_SLOW` for the rest"),
        ("Time of a query", f"{QUERY_SECONDS:g} s", "400 `QUERY_TOO_EXPENSIVE`"),
        ("Rows of a page", str(Hooks.page_size), "the next page"),
        ("Rows that one request writes, parts included", str(ROWS_MAX), "400 `TOO_MANY_ROWS`"),
        ("Rows that one change set writes", str(UNIT_ROWS_MAX), "400 `TOO_MANY_ROWS`"),
        ("Rows that one request reads, expanded ones included", str(sql.ROWS_MAX), "400 `RESPONSE_TOO_LARGE`"),
        ("Rows of an answer, wherever they are written", str(ENTITIES_MAX), "400 `EXPAND_TOO_LARGE`"),
        ("Depth of `$expand`", str(EXPAND_DEPTH_MAX), "400 `EXPAND_TOO_DEEP`"),
        ("`$levels`", str(sql.LEVELS_MAX), "400 `EXPAND_TOO_DEEP`"),
        ("Navigations that a request expands", str(sql.EXPAND_MAX), "400 `EXPAND_TOO_BROAD`"),
        ("Nodes of all expressions of a request", str(NODES_MAX), "400 `EXPRESSION_TOO_LARGE`"),
        ("Depth of an expression", str(sql.DEPTH_MAX), "400 `EXPRESSION_TOO_DEEP`"),
        ("`any`, `all` and `$count` inside each other", str(sql.LAMBDA_DEPTH_MAX), "400 `EXPRESSION_TOO_DEEP`"),
        ("Values of `in (...)`", str(sql.LIST_MAX), "400 `EXPRESSION_TOO_LARGE`"),
        ("Items of `$orderby`, of `$compute`", f"{sql.ORDER_MAX}, {sql.COMPUTE_MAX}", "400 `EXPRESSION_TOO_LARGE`"),
        ("Terms of `$search`", str(sql.SEARCH_TERMS_MAX), "400 `EXPRESSION_TOO_LARGE`"),
        ("Rows of a bulk import", str(IMPORT_ROWS_MAX), "413 `TOO_MANY_ROWS`"),
        ("Body of a bulk import", f"{SPOOLED_BYTES_MAX // mebibyte} MiB", "413 `BODY_TOO_LARGE`"),
        ("A row of a bulk import", f"{ROW_BYTES_MAX // mebibyte} MiB", "413 `ROW_TOO_LARGE`"),
        ("Bulk imports of a tenant that have not ended", str(JOBS_MAX), "429 `TOO_MANY_JOBS`"),
        ("Promotions of one `addPromotions`", str(PROMOTIONS_MAX), "400 `TOO_MANY_IDS`"),
        ("Parts of a template that is used", str(TEMPLATE_ROWS_MAX), "400 `TEMPLATE_TOO_LARGE`"),
    ]


def _code_list_fields() -> str:
    name = next(iter(model.code_lists()))
    rows = [
        (f"`{prop.name}`", reference.type_of(prop), reference.description_of(prop))
        for prop in reference.EDM.entity_types[name].properties
    ]
    return table(("Field", "Type", "Meaning"), rows)


def _code_list_names() -> str:
    return (
        "All of them: "
        + ", ".join(f"[{name}](code-lists.md#{name.lower()})" for name in sorted(model.code_lists()))
        + "."
    )
