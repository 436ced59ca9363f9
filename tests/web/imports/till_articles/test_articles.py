"""Single articles from a till: what is stored, returned and refused."""

from __future__ import annotations

import json
import uuid
from typing import Any

import msgspec
import pytest

from promenade.model.edm import edm_for
from promenade.model.shape import Service
from promenade.web.imports.till_article_messages import ARTICLE_OPERATIONS, Article
from tests.web.conftest import Shop, fault, faults
from tests.web.imports.till_articles.conftest import Till

ADDRESSES = ("articles/import", "v2/articles/import", "importArticles", "PosService.importArticles")
BATCH_ADDRESSES = (
    "articles/import-batch",
    "v2/articles/import-batch",
    "importArticlesBatch",
    "PosService.importArticlesBatch",
)

FAULTY: tuple[tuple[Any, str, str | None], ...] = (
    ({"articleNumber": None}, "NOT_NULLABLE", "articleNumber"),
    ({"name": "nameless"}, "REQUIRED", "articleNumber"),
    ({"articleNumber": ""}, "REQUIRED", "articleNumber"),
    ({"articleNumber": 17}, "TYPE_MISMATCH", "articleNumber"),
    ({"articleNumber": "x" * 51}, "TOO_LONG", "articleNumber"),
    ({"name": 5}, "TYPE_MISMATCH", "name"),
    ({"name": {"de": "Brot"}}, "TYPE_MISMATCH", "name"),
    ({"name": ["Brot"] * 5000}, "TYPE_MISMATCH", "name"),
    ({"name": "x" * 256}, "TOO_LONG", "name"),
    ({"name": "a\0b"}, "ILLEGAL_CHARACTER", "name"),
    ({"ean": 4006381333931}, "TYPE_MISMATCH", "ean"),
    ({"ean": "1" * 19}, "TOO_LONG", "ean"),
    ({"manufacturer": "x" * 256}, "TOO_LONG", "manufacturer"),
    ({"manufacturerId": "x" * 256}, "TOO_LONG", "manufacturerId"),
    ({"category": "x" * 101}, "TOO_LONG", "category"),
    ({"description": "x" * 1001}, "TOO_LONG", "description"),
    ({"articleGroupId": "x" * 21}, "TOO_LONG", "articleGroupId"),
    ({"articleGroup_ID": str(uuid.UUID(int=9))}, "UNKNOWN_REFERENCE", "articleGroup_ID"),
    ({"articleGroup_ID": "BREAD"}, "TYPE_MISMATCH", "articleGroup_ID"),
    ({"basePrice": -1}, "OUT_OF_RANGE", "basePrice"),
    ({"basePrice": 1.999}, "TOO_MANY_DIGITS", "basePrice"),
    ({"basePrice": "cheap"}, "TYPE_MISMATCH", "basePrice"),
    ({"basePrice": 1e40}, "TOO_MANY_DIGITS", "basePrice"),
    ({"basePrice": True}, "TYPE_MISMATCH", "basePrice"),
    ({"currency": "EURO"}, "TOO_LONG", "currency"),
    ({"currency": "XQX"}, "UNKNOWN_CODE", "currency"),
    ({"unit": None}, "NOT_NULLABLE", "unit"),
    ({"unit": "x" * 11}, "TOO_LONG", "unit"),
    ({"source": "ELSEWHERE"}, "UNKNOWN_CODE", "source"),
    ({"isActive": "yes"}, "TYPE_MISMATCH", "isActive"),
    ({"isActive": None}, "NOT_NULLABLE", "isActive"),
    ({"ID": "7"}, "TYPE_MISMATCH", "ID"),
    ("an article", "MALFORMED_BODY", None),
    (None, "MALFORMED_BODY", None),
    ([], "MALFORMED_BODY", None),
    ([[1, 2]] * 5000, "MALFORMED_BODY", None),
)


def full(number: str, **changes: Any) -> dict[str, Any]:
    """Return an article with every member that a till can send."""
    return {
        "articleNumber": number,
        "name": "Rye bread",
        "description": "Dark, 1 kg, ä ö ü €",
        "ean": "4006381333931",
        "manufacturer": "Lindner",
        "manufacturerId": "M-7",
        "category": "Bread",
        "articleGroupId": "BREAD",
        "basePrice": 2.49,
        "currency": "EUR",
        "unit": "KGM",
        "source": "MANUAL",
        "isActive": False,
        **changes,
    }


def _row(answer: dict[str, Any], place: int = 0) -> tuple[str, str | None]:
    return answer["results"][place]["status"], answer["results"][place]["error"]


def test_an_article_of_a_till_has_all_that_can_be_written_of_one() -> None:
    declared = {field.encode_name for field in msgspec.structs.fields(Article)}
    public = edm_for(Service.PUBLIC)
    articles = public.entity_types[public.entity_sets["Articles"].entity_type]
    assert declared == {one.name for one in articles.properties if not one.computed}


def test_every_field_is_stored_as_sent(till: Till) -> None:
    number, own_id = till.number(), str(uuid.uuid4())
    sent = full(number, ID=own_id)
    told = till.store(sent)
    assert told == {
        "imported": 1,
        "updated": 0,
        "failed": 0,
        "results": [{"articleNumber": number, "status": "created", "id": own_id, "error": None}],
        "errors": [],
    }
    stored = till.article(number)
    assert stored is not None
    assert {name: stored[name] for name in sent} == sent


def test_omitted_fields_get_defaults_at_first_and_stay_unchanged_later(till: Till) -> None:
    number = till.number()
    till.store({"articleNumber": number})
    stored = till.article(number)
    assert stored is not None
    assert (stored["source"], stored["unit"], stored["isActive"]) == ("IMPORTED", "PCE", True)
    assert (stored["name"], stored["basePrice"], stored["ean"]) == (None, None, None)
    till.store(full(number))
    told = till.store({"articleNumber": number, "name": "Rye", "category": None, "madeUp": {"by": ["the", "till"]}})
    assert (told["imported"], told["updated"], told["failed"]) == (0, 1, 0)
    assert told["results"] == [{"articleNumber": number, "status": "updated", "id": stored["ID"], "error": None}]
    changed = till.article(number)
    assert changed is not None
    expected = full(number, name="Rye", category=None)
    assert {name: changed[name] for name in expected} == expected


def test_a_price_may_be_a_text_and_is_exact(till: Till) -> None:
    number = till.number()
    assert till.store({"articleNumber": number, "basePrice": "1234567890123.45", "currency": "EUR"})["imported"] == 1
    answer = till.shop.call(
        f"/api/v1/Articles?$filter=articleNumber eq '{number}'&$select=basePrice",
        client="planner",
        accept="application/json;IEEE754Compatible=true",
    )
    assert answer.json()["value"][0]["basePrice"] == "1234567890123.45"


def test_a_faulty_article_fails_and_keeps_no_other_from_being_stored(till: Till) -> None:
    """All in one call, with a good article before and after each faulty one."""
    sent: list[Any] = []
    for article, code, _ in FAULTY:
        named = isinstance(article, dict) and "articleNumber" not in article and code != "REQUIRED"
        sent += [{"articleNumber": till.number()}, {"articleNumber": till.number(), **article} if named else article]
    sent.append({"articleNumber": till.number()})
    told = till.store(*sent)
    assert (told["imported"], told["updated"], told["failed"]) == (len(FAULTY) + 1, 0, len(FAULTY))
    assert [one["status"] for one in told["results"]] == ["created", "failed"] * len(FAULTY) + ["created"]
    assert [one["articleNumber"] for one in told["results"][::2]] == [one["articleNumber"] for one in sent[::2]]
    assert len(told["errors"]) == len(FAULTY)
    for place, (error, (article, code, target)) in enumerate(zip(told["errors"], FAULTY, strict=True), start=1):
        found = error["row"], error["code"], error["property"]
        assert found == (2 * place, code, target), f"{str(article)[:80]}: {error['message']}"
        result = told["results"][2 * place - 1]
        assert (result["error"], result["id"]) == (error["message"], None)
        assert result["articleNumber"] == error["articleNumber"]
        if target not in {None, "articleNumber"}:
            assert error["articleNumber"] == sent[2 * place - 1]["articleNumber"]
            assert till.article(error["articleNumber"]) is None


def test_all_faults_of_an_article_are_reported_and_it_counts_once(till: Till) -> None:
    told = till.store({"articleNumber": till.number(), "name": "x" * 256, "category": "x" * 101})
    assert told["failed"] == len(told["results"]) == 1
    assert {(one["row"], one["property"]) for one in told["errors"]} == {(1, "name"), (1, "category")}


def test_articles_are_taken_in_order(till: Till) -> None:
    number = till.number()
    told = till.store(
        {"articleNumber": number, "name": "first", "ean": "1"}, 7, {"articleNumber": number, "name": "last"}
    )
    assert [one["status"] for one in told["results"]] == ["created", "failed", "updated"]
    assert (told["imported"], told["updated"], told["failed"]) == (1, 1, 1)
    assert told["results"][0]["id"] == told["results"][2]["id"]
    stored = till.article(number)
    assert stored is not None
    assert (stored["name"], stored["ean"]) == ("last", "1")


def test_a_repeat_is_harmless(till: Till) -> None:
    articles = [full(till.number()) for _ in range(3)]
    first, again = till.store(*articles), till.store(*articles)
    assert [one["status"] for one in again["results"]] == ["updated"] * 3
    assert [one["id"] for one in again["results"]] == [one["id"] for one in first["results"]]
    assert (again["imported"], again["updated"], again["failed"]) == (0, 3, 0)


def test_another_id_for_a_number_that_is_there_is_a_fault(till: Till) -> None:
    number = till.number()
    own = till.store({"articleNumber": number})["results"][0]["id"]
    told = till.store({"articleNumber": number, "ID": str(uuid.uuid4()), "name": "other"})
    assert (told["errors"][0]["code"], told["errors"][0]["property"]) == ("ALREADY_EXISTS", "ID")
    assert till.store({"articleNumber": number, "ID": own, "name": "same"})["updated"] == 1


def test_numbers_differ_by_every_character(till: Till) -> None:
    number = till.number()
    odd = [number, number.lower(), f"{number} ", f"{number}é", f"{number}'/ä€😀"]
    assert till.store(*[{"articleNumber": one} for one in odd])["imported"] == len(odd)
    assert till.store(*[{"articleNumber": one} for one in odd])["updated"] == len(odd)


# ---- requests that hold no articles -------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/pos/articles/import", "/pos/articles/import-batch"])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "MALFORMED_JSON"),
        (b"{", "MALFORMED_JSON"),
        (b"[]", None),
        (b"null", None),
        (b'"articles"', None),
        (b"{}", "REQUIRED"),
        (b'{"articles": null}', "REQUIRED"),
        (b'{"articles": {}}', "WRONG_TYPE"),
        (b'{"articles": "A-1"}', "WRONG_TYPE"),
        (b'{"articles": []}', "EMPTY"),
        (b'{"request": {"articles": [{"articleNumber": "A"}]}}', "REQUIRED"),
        (b'{"articles": [{"articleNumber": "LOST-1"}, {]}', "MALFORMED_JSON"),
        (b'{"articles": [{"articleNumber": "LOST-1"}, NaN]}', "MALFORMED_JSON"),
        (b'{"articles": [{"articleNumber": "LOST-1"}]} {}', "MALFORMED_JSON"),
        (b'{"articles": [{"articleNumber": "LOST-1", "name": "\\ud800"}]}', "MALFORMED_JSON"),
        (b'{"articles": [{"articleNumber": "LOST-1", "name": "\xff"}]}', "NOT_UTF8"),
        (b'\xef\xbb\xbf{"articles": [{"articleNumber": "LOST-1"}]}', "MALFORMED_JSON"),
        (b'{"articles": [{"articleNumber": "LOST-1"}, ' + b"[" * 100_000 + b"]" * 100_000 + b"]}", "TOO_DEEP"),
        (b'{"articles": [{"articleNumber": "LOST-1"}], "articles": []}', "MALFORMED_JSON"),
    ],
)
def test_a_body_without_articles_is_refused_and_nothing_happens(
    till: Till, address: str, body: bytes, code: str | None
) -> None:
    answer = till.shop.call(address, body)
    if code in {"REQUIRED", "WRONG_TYPE", "EMPTY"}:
        assert fault(answer) == (400, "VALIDATION_FAILED", "articles")
        assert faults(answer) == {(code, "articles")}
    else:
        assert fault(answer)[:2] == (400, code or "VALIDATION_FAILED")
    assert till.article("LOST-1") is None
    assert till.read("/api/v1/ArticleImportJobs?$filter=totalArticles eq 0")["value"] == []


@pytest.mark.parametrize(
    ("name", "code"),
    [(5, "WRONG_TYPE"), ("x" * 256, "TOO_LONG"), ("a\nb", "WRONG_FORM"), ("a\0b", "WRONG_FORM"), (["a"], "WRONG_TYPE")],
)
def test_a_batch_has_a_name_that_people_can_read(till: Till, name: Any, code: str) -> None:
    body = {"name": name, "articles": [{"articleNumber": "LOST-2"}]}
    answer = till.shop.call("/pos/articles/import-batch", body)
    assert fault(answer) == (400, "VALIDATION_FAILED", "name")
    assert faults(answer) == {(code, "name")}
    both = till.shop.call("/pos/articles/import-batch", {"name": name})
    assert faults(both) == {("REQUIRED", "articles"), (code, "name")}


def test_too_many_articles_are_refused(till: Till) -> None:
    for address, most in (("/pos/articles/import", 1_000), ("/pos/articles/import-batch", 10_000)):
        articles = [{"articleNumber": f"LOST-{number}"} for number in range(most + 1)]
        assert fault(till.shop.call(address, {"articles": articles})) == (413, "TOO_MANY_ROWS", "articles")
        flood = b'{"articles": [{"articleNumber": "LOST-0"}' + b",0" * 400_000 + b"]}"
        assert fault(till.shop.call(address, flood)) == (413, "TOO_MANY_ROWS", "articles")
    assert till.article("LOST-0") is None


def test_unknown_members_are_ignored_however_many(till: Till) -> None:
    """Ignored members and values of the wrong kind are never parsed further."""
    number, flood = till.number(), [[1, 2]] * 300_000
    told = till.store(
        {"articleNumber": number, "others": flood}, {"articleNumber": till.number(), "ean": flood}, flood[:1000]
    )
    assert [one["status"] for one in told["results"]] == ["created", "failed", "failed"]
    assert [one["property"] for one in told["errors"]] == ["ean", None]
    answer = till.shop.call("/pos/articles/import", {"articles": [{"articleNumber": number}], "others": [1, {"a": 2}]})
    assert answer.json()["updated"] == 1


def test_a_body_that_is_too_large_is_refused(till: Till) -> None:
    for address, most in (("/pos/articles/import", 10), ("/pos/articles/import-batch", 64)):
        filler = b',{"other": "%s"}' % (b"x" * 2**20)
        body = b'{"articles": [{"articleNumber": "LOST-3"}%s]}' % (filler * most)
        assert fault(till.shop.call(address, body))[:2] == (413, "BODY_TOO_LARGE")


def test_a_body_that_is_no_json_is_refused(till: Till) -> None:
    for address in ("/pos/articles/import", "/pos/articles/import-batch"):
        refused = till.shop.call(address, b"<articles/>", content_type="application/xml")
        assert fault(refused)[:2] == (415, "UNSUPPORTED_MEDIA_TYPE")


# ---- addresses and callers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ADDRESSES)
def test_every_address_stores_articles(till: Till, prefix: str) -> None:
    number = till.number()
    answer = till.shop.call(f"/pos/{prefix}", {"articles": [{"articleNumber": number}]}, client="administrator")
    assert (answer.status_code, answer.json()["imported"]) == (200, 1)
    assert answer.headers["odata-version"] == "4.0"
    again = till.shop.call(f"/pos/{prefix}", {"articles": [{"articleNumber": number}]}, OData_MaxVersion="4.01")
    assert (again.json()["updated"], again.headers["odata-version"]) == (1, "4.01")


@pytest.mark.parametrize("address", [*ADDRESSES, *BATCH_ADDRESSES])
def test_only_tills_and_administrators_may_send_articles(shop: Shop, address: str) -> None:
    body = {"articles": [{"articleNumber": "LOST-4"}]}
    assert fault(shop.call(f"/pos/{address}", body, client="planner"))[:2] == (403, "MISSING_SCOPE")
    unknown = shop.http.post(f"/pos/{address}", content=json.dumps(body))
    assert fault(unknown)[:2] == (401, "UNAUTHORIZED")
    wrong = shop.call(f"/pos/{address}")
    assert (fault(wrong)[:2], wrong.headers["allow"]) == ((405, "METHOD_NOT_ALLOWED"), "POST")


def test_the_actions_are_those_of_the_metadata() -> None:
    assert [one.action for one in ARTICLE_OPERATIONS.values()] == ["importArticles", "importArticlesBatch"]


def test_each_tenant_has_articles_of_its_own(till: Till) -> None:
    number = till.number()
    ours = till.store(full(number))["results"][0]["id"]
    told = till.store({"articleNumber": number, "name": "Theirs"}, client="neighbour")
    assert told["imported"] == 1
    assert told["results"][0]["id"] != ours
    own, theirs = till.article(number), till.article(number, client="neighbour")
    assert own is not None
    assert theirs is not None
    assert (own["name"], theirs["name"], theirs["ean"]) == ("Rye bread", "Theirs", None)


def test_an_id_of_another_tenants_article_tells_nothing(till: Till) -> None:
    number, new = till.number(), till.number()
    theirs = till.store({"articleNumber": number}, client="neighbour")["results"][0]["id"]
    ours = till.store({"articleNumber": till.number()})["results"][0]["id"]
    told = till.store({"articleNumber": new, "ID": ours}, {"articleNumber": till.number(), "ID": theirs})
    assert [one["code"] for one in told["errors"]] in (["ALREADY_EXISTS"], ["ALREADY_EXISTS", "ALREADY_EXISTS"])
    there = till.article(number, client="neighbour")
    assert there is not None
    assert there["ID"] == theirs


def test_a_call_is_in_the_audit_trail(till: Till) -> None:
    number = till.number()
    till.store(full(number), {"articleNumber": number, "name": "Rye"}, 5)
    path = "/admin/AuditLogs?$filter=action eq 'IMPORT' and entityName eq 'POS'&$orderby=timestamp desc&$top=1"
    (entry,) = till.read(path, client="administrator")["value"]
    assert (entry["entityType"], entry["note"]) == ("Articles", "1 created, 1 updated.")
    assert entry["actor"] == till.shop.clients["till"][0]
