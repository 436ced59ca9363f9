"""Effects of POST, PATCH, PUT and DELETE, and what they refuse without a change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.odata_server.bookshop import author, book, chapter, order
from tests.odata_server.service.shelves import Client

EMMA = f"Books({book(2)})"
PRIDE = f"Books({book(1)})"
NEW = {"isbn": "1", "title": "New", "price": 1.10}
NOBODY = "Books(99999999-0000-4000-8000-000000000000)"


async def created(shop: Client, **more: Any) -> str:
    answer = await shop("POST", "Books", {**NEW, **more})
    assert answer.status == 201, answer.body
    return answer.path()


async def test_a_created_entity_is_returned_with_its_location_and_etag(shop: Client) -> None:
    answer = await shop("POST", "Books", NEW)
    assert answer.status == 201
    body = answer.json
    assert answer.headers["Location"] == f"/shop/Books({body['ID']})"
    assert answer.headers["ETag"] == body["@etag"] == 'W/"1"'
    assert body["@context"] == "/shop/$metadata#Books/$entity"
    assert (body["title"], body["price"], body["stock"], body["author_ID"]) == ("New", 1.1, 0, None)
    assert (await shop.get(answer.path()))["title"] == "New"


async def test_a_create_with_return_minimal_has_no_body(shop: Client) -> None:
    answer = await shop("POST", "Books", NEW, Prefer="return=minimal")
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["OData-EntityId"] == answer.headers["Location"]
    assert answer.headers["Preference-Applied"] == "return=minimal"
    assert (await shop.get(answer.path()))["title"] == "New"


async def test_the_answer_to_a_create_obeys_select(shop: Client) -> None:
    answer = await shop("POST", "Books?$select=title", NEW, OData_MaxVersion="4.0")
    assert list(answer.json) == ["@odata.context", "@odata.etag", "ID", "title"]


async def test_nested_entities_are_created_with_their_parent(shop: Client) -> None:
    chapters = [
        {"number": 1, "title": "One", "sections": [{"heading": "A"}, {"heading": "B"}]},
        {"number": 2, "title": "Two"},
    ]
    path = await created(shop, chapters=chapters, blurb={"text": "!"})
    assert [row["title"] for row in (await shop.get(f"{path}/chapters?$orderby=number"))["value"]] == ["One", "Two"]
    assert (await shop.get(f"{path}/blurb"))["text"] == "!"
    key = (await shop.get(f"{path}/chapters?$filter=number%20eq%201"))["value"][0]["ID"]
    assert (await shop("GET", f"{path}/chapters({key})/sections/$count")).body == b"2"


async def test_a_deep_create_returns_its_nested_entities(shop: Client) -> None:
    chapters = [{"number": 1, "title": "One", "sections": [{"heading": "A"}]}]
    body = (await shop("POST", "Books", {**NEW, "chapters": chapters, "blurb": {"text": "!"}})).json
    assert body["@context"] == "/shop/$metadata#Books(chapters(sections()),blurb())/$entity"
    assert body["chapters"][0]["sections"][0]["heading"] == "A"
    assert body["blurb"]["text"] == "!"
    answer = await shop("POST", "Books?$select=title", {**NEW, "isbn": "2", "chapters": chapters})
    assert "chapters" not in answer.json
    changed = await shop("PATCH", EMMA, {"chapters": []}, Prefer="return=representation")
    assert changed.json["chapters"] == []


@pytest.mark.parametrize("form", ["author@odata.bind", "author@bind", "author"])
@pytest.mark.parametrize("prefix", ["", "/shop/", "https://any.example/shop/"])
async def test_entities_are_bound_by_their_url(shop: Client, form: str, prefix: str) -> None:
    address = f"{prefix}Authors({author(3)})"
    path = await created(shop, **{form: {"@id": address} if form == "author" else address})
    assert (await shop.get(f"{path}/author"))["name"] == "Ursula K. Le Guin"
    assert (await shop("PATCH", path, {"author": None})).status == 204
    assert (await shop("GET", f"{path}/author")).status == 204


async def test_a_child_is_created_through_its_parent(shop: Client) -> None:
    answer = await shop("POST", f"{EMMA}/chapters", {"number": 1, "title": "One", "book_ID": book(1)})
    assert answer.status == 201
    assert answer.json["book_ID"] == book(2)
    assert answer.headers["Location"] == f"/shop/Chapters({answer.json['ID']})"
    assert (await shop("POST", f"{NOBODY}/chapters", {"number": 1, "title": "One"})).status == 404


async def test_a_change_is_answered_with_the_new_tag(shop: Client) -> None:
    answer = await shop("PATCH", PRIDE, {"title": "Pride", "price": "1.00"})
    assert (answer.status, answer.body, answer.headers["ETag"]) == (204, b"", 'W/"8"')
    assert (await shop.get(PRIDE))["title"] == "Pride"
    whole = await shop("PATCH", f"{PRIDE}?$select=price", {"price": 2}, Prefer="return=representation")
    assert (whole.status, whole.headers["Preference-Applied"]) == (200, "return=representation")
    assert (whole.json["price"], whole.json["@etag"]) == (2, 'W/"9"')


async def test_a_host_may_answer_changes_with_the_entity(shop: Client) -> None:
    shop.hooks.patch_returns = "representation"
    assert (await shop("PATCH", EMMA, {"title": "E"})).json["title"] == "E"
    assert (await shop("PATCH", EMMA, {"title": "E"}, Prefer="return=minimal")).status == 204


async def test_children_are_changed_and_deleted_through_their_parent(shop: Client) -> None:
    path = f"{PRIDE}/chapters({chapter(2)})"
    assert (await shop("PATCH", path, {"title": "The dance"})).status == 204
    assert (await shop.get(f"Chapters({chapter(2)})"))["title"] == "The dance"
    assert (await shop("DELETE", path)).status == 204
    assert (await shop("GET", f"Chapters({chapter(2)})")).status == 404
    foreign = f"{PRIDE}/chapters({chapter(4)})"
    assert (await shop("PATCH", foreign, {"title": "x"})).status == 404
    assert (await shop("DELETE", foreign)).status == 404
    assert (await shop.get(f"Chapters({chapter(4)})"))["title"] == "Gateshead"


@pytest.mark.parametrize("method", ["PATCH", "PUT", "DELETE"])
async def test_a_missing_entity_cannot_be_changed(shop: Client, method: str) -> None:
    for path in (NOBODY, f"{NOBODY}/author", f"{PRIDE}/chapters({chapter(4)})"):
        assert (await shop(method, path, {})).status == 404
    assert (await shop(method, f"{NOBODY}/title", {"value": "x"})).status in {400, 404, 405}


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("If_Match", 'W/"7"', 204),
        ("If_Match", '"7"', 204),
        ("If_Match", 'W/"1", W/"7"', 204),
        ("If_Match", "*", 204),
        ("If_Match", 'W/"6"', 412),
        ("If_Match", "nonsense", 412),
        ("If_None_Match", "*", 412),
        ("If_None_Match", 'W/"7"', 412),
        ("If_None_Match", 'W/"6"', 204),
    ],
)
async def test_a_change_with_an_outdated_etag_is_refused(shop: Client, header: str, value: str, status: int) -> None:
    writes = (
        ("PATCH", PRIDE, {"title": "x"}),
        ("PUT", f"{PRIDE}/title", {"value": "x"}),
        ("POST", f"{PRIDE}/restock", {"quantity": 1}),
    )
    for method, path, body in writes if status == 412 else writes[:1]:
        answer = await shop(method, path, body, **{header: value})
        assert answer.status == status
        assert status == 204 or answer.code == "PRECONDITION_FAILED"
    assert (await shop.get(PRIDE))["title"] == ("x" if status == 204 else "Pride and Prejudice")
    if status == 412:
        assert (await shop("DELETE", PRIDE, **{header: value})).status == 412


async def test_if_match_never_matches_a_missing_entity(shop: Client) -> None:
    assert (await shop("PATCH", NOBODY, {}, If_Match="*")).status == 404
    assert (await shop("PATCH", "Genres(1)", {"name": "x"}, If_Match='W/"1"')).status == 412
    assert (await shop("PATCH", "Genres(1)", {"name": "x"}, If_Match="*")).status == 204


async def test_the_faults_of_a_body_are_reported_and_nothing_is_written(shop: Client) -> None:
    answer = await shop("POST", "Books", {"title": "x" * 201, "price": 1.234, "nix": 1, "chapters": [{"number": "1"}]})
    assert answer.status == 400
    error = answer.json["error"]
    assert [(one["code"], one["target"]) for one in error["details"]] == [
        ("TOO_LONG", "title"),
        ("TOO_MANY_DIGITS", "price"),
        ("UNKNOWN_PROPERTY", "nix"),
        ("TYPE_MISMATCH", "chapters/0/number"),
    ]
    assert error["@Common.numericSeverity"] == 4
    assert (await shop("POST", "Books", b"{")).code == "MALFORMED_BODY"
    assert (await shop("POST", "Books", [])).code == "MALFORMED_BODY"
    assert (await shop("PATCH", EMMA, {"price": None})).code == "NOT_NULLABLE"
    for reference in ("Authors", f"Books({book(1)})", "nowhere/else", "/other/Authors(1)", "Authors(1)", 7, ""):
        answer = await shop("POST", "Books", {**NEW, "author@bind": reference})
        assert answer.status == 400, reference
        assert answer.json["error"]["target"] == "author"
    assert (await shop("GET", "Books/$count")).body == b"8"


async def test_single_values_are_written(shop: Client) -> None:
    put = await shop("PUT", f"{PRIDE}/title", {"value": "P"})
    assert (put.status, put.headers["ETag"]) == (204, 'W/"8"')
    assert (await shop("PUT", f"{PRIDE}/description/$value", "ä".encode(), Content_Type="text/plain")).status == 204
    assert (await shop("PUT", f"{PRIDE}/price/$value", b"3.10")).status == 204
    assert (await shop("PUT", f"{PRIDE}/thumbnail/$value", b"\x00\xff")).status == 204
    assert (await shop("PUT", f"{PRIDE}/tags", {"value": ["a"]})).status == 204
    body = await shop.get(PRIDE)
    assert (body["title"], body["description"], body["price"], body["tags"]) == ("P", "ä", 3.1, ["a"])
    assert body["thumbnail"] == "AP8="
    assert (await shop("DELETE", f"{PRIDE}/description")).status == 204
    assert (await shop("GET", f"{PRIDE}/description")).status == 204
    assert (await shop("DELETE", f"{PRIDE}/title")).code == "NOT_NULLABLE"
    assert (await shop("PUT", f"{PRIDE}/title", {"values": "x"})).code == "MALFORMED_BODY"
    assert (await shop("PUT", f"{PRIDE}/isbn", {"value": "x"})).code == "READ_ONLY"
    assert (await shop("PUT", f"{PRIDE}/ID", {"value": book(9)})).code == "READ_ONLY"


async def test_parts_of_a_complex_value_are_written(shop: Client) -> None:
    path = f"Orders({order(1)})/shipTo"
    assert (await shop("PATCH", path, {"city": "Bonn"})).status == 204
    assert (await shop.get(path))["street"] == "Allee 7"
    assert (await shop("PUT", f"{path}/street", {"value": "Weg 1"})).status == 204
    found = await shop.get(path)
    assert (found["street"], found["city"]) == ("Weg 1", "Bonn")
    assert (await shop("PUT", path, {"city": "Ulm"})).status == 204
    assert "Weg 1" not in str(await shop.get(path))
    assert (await shop("PUT", path, {"street": "Weg 2"})).code == "REQUIRED"
    assert (await shop("PUT", "Shops(1)/address/city", {"value": "Bonn"})).status == 204
    assert (await shop("GET", "Shops/$count?$filter=address/city%20eq%20'Bonn'")).body == b"1"
    assert (await shop("PATCH", path, {"planet": "Mars"})).code == "UNKNOWN_PROPERTY"


async def test_bodies_that_are_not_json_are_refused(shop: Client) -> None:
    for headers in (
        {"Content_Type": "application/xml"},
        {"Content_Type": "application/json;charset=latin-1"},
        {"Content_Encoding": "gzip"},
    ):
        assert (await shop("POST", "Books", NEW, **headers)).code == "UNSUPPORTED_MEDIA_TYPE"
    typed = "application/json;odata.metadata=minimal;IEEE754Compatible=true;charset=UTF-8"
    assert (await shop("POST", "Books", {**NEW, "price": "1.10"}, Content_Type=typed)).status == 201


async def test_the_host_authorizes_each_set_before_it_is_accessed(shop: Client) -> None:
    async def asked(method: str, path: str, body: Any = None) -> list[tuple[str, str | None]]:
        shop.hooks.asked.clear()
        await shop(method, path, body)
        return shop.hooks.asked

    assert await asked("GET", "Books") == [("read", "Books")]
    assert await asked("GET", f"{PRIDE}/author/books") == [("read", "Books"), ("read", "Authors"), ("read", "Books")]
    expanded = await asked("GET", "Authors?$expand=books($expand=genre),country")
    assert expanded == [("read", name) for name in ("Authors", "Books", "Genres", "Countries")]
    assert await asked("POST", "Books", NEW) == [("create", "Books")]
    child = await asked("POST", f"{EMMA}/chapters", {"number": 1, "title": "x"})
    assert child == [("pass", "Books"), ("create", "Chapters")]
    assert await asked("PATCH", f"{EMMA}/author", {}) == [("pass", "Books"), ("update", "Authors")]
    link = await asked("PUT", f"{EMMA}/author/$ref", {"@id": f"Authors({author(2)})"})
    assert link == [("pass", "Books"), ("pass", "Authors"), ("update", "Books")]
    assert await asked("DELETE", "Genres(6)") == [("delete", "Genres")]
    assert await asked("POST", f"{EMMA}/restock", {}) == [("invoke", "Books")]
    assert await asked("GET", "") == await asked("GET", "$metadata") == [("metadata", None)]
    assert ("update", "Authors") in await asked("PATCH", EMMA, {"author": {"name": "x"}})


async def test_an_unauthorized_request_changes_nothing(shop: Client) -> None:
    shop.hooks.refused = {
        ("delete", "Books"),
        ("create", "Books"),
        ("read", "Authors"),
        ("read", "Orders"),
        ("metadata", None),
    }
    for prefer, status in (("return=minimal", 204), ("return=representation", 403)):
        assert (await shop("PATCH", f"Orders({order(1)})", {"note": "x"}, Prefer=prefer)).status == status
    for method, path in (
        ("DELETE", EMMA),
        ("POST", "Books"),
        ("GET", f"{EMMA}/author"),
        ("GET", ""),
        ("GET", "Books?$expand=author"),
    ):
        answer = await shop(method, path, NEW if method == "POST" else None)
        assert (answer.status, answer.code) == (403, "FORBIDDEN")
    assert (await shop.get(EMMA))["title"] == "Emma"
