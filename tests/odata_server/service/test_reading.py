"""Responses to GET: lists, entities, values, counts, references; their links, ETags and formats."""

from __future__ import annotations

import pytest

from tests.odata_server.bookshop import author, book, chapter, order
from tests.odata_server.service.shelves import Client

EMMA = f"Books({book(2)})"
PRIDE = f"Books({book(1)})"


async def test_a_list_has_only_its_context_and_its_rows(reader: Client) -> None:
    answer = await reader("GET", "Countries")
    assert answer.headers["Content-Type"] == "application/json;metadata=minimal"
    assert answer.json == {
        "@context": "/shop/$metadata#Countries",
        "value": [
            {"code": "DE", "name": "Germany"},
            {"code": "GB", "name": "United Kingdom"},
            {"code": "IE", "name": "Ireland"},
            {"code": "US", "name": "United States"},
        ],
    }


async def test_an_entity_has_its_tag_and_exact_values(reader: Client) -> None:
    answer = await reader("GET", PRIDE)
    body = answer.json
    assert answer.headers["ETag"] == body["@etag"] == 'W/"7"'
    assert body["@context"] == "/shop/$metadata#Books/$entity"
    assert b'"price":9.99,' in answer.body
    assert body["sold"] == 20_000_000_000
    assert body["createdAt"] == "2024-05-01T08:30:00Z"
    assert body["tags"] == ["classic", "love"]
    assert "purchasePrice" not in body
    wizard = await reader.get(f"Books({book(4)})")
    assert wizard["thumbnail"] == "iVBORw=="


async def test_a_4_0_client_gets_4_0_forms(reader: Client) -> None:
    answer = await reader("GET", "Books?$count=true&$top=1&$select=title,price,sold", OData_MaxVersion="4.0")
    assert answer.headers["OData-Version"] == "4.0"
    assert answer.headers["Content-Type"] == "application/json;odata.metadata=minimal"
    assert list(answer.json) == ["@odata.context", "@odata.count", "value"]
    assert list(answer.json["value"][0]) == ["@odata.etag", "ID", "title", "price", "sold"]
    quoted = await reader.get(
        "Books?$top=1&$select=price,sold",
        OData_MaxVersion="4.0",
        Accept="application/json;odata.metadata=minimal;IEEE754Compatible=true",
    )
    assert quoted["value"][0]["price"] == "9.99"
    assert quoted["value"][0]["sold"] == "20000000000"


async def test_metadata_none_has_no_annotations_but_counts_and_links(reader: Client) -> None:
    body = await reader.get(
        "Books?$count=true&$select=title", Accept="application/json;metadata=none", Prefer="maxpagesize=2"
    )
    assert list(body) == ["@count", "value", "@nextLink"]
    assert list(body["value"][0]) == ["ID", "title"]
    answer = await reader("GET", f"{PRIDE}?$select=title", Accept="application/json;odata.metadata=none")
    assert list(answer.json) == ["ID", "title"]
    assert answer.headers["ETag"] == 'W/"7"'


async def test_metadata_full_adds_types_and_urls(reader: Client) -> None:
    body = await reader.get(f"{PRIDE}?$select=price", Accept="application/json;metadata=full")
    assert body["@type"] == "#Bookshop.Book"
    assert body["@id"] == body["@editLink"] == f"/shop/{PRIDE}"
    assert body["price@type"] == "#Decimal"
    assert body["author@navigationLink"] == f"/shop/{PRIDE}/author"
    assert body["#Bookshop.order"] == {"title": "order", "target": f"/shop/{PRIDE}/Bookshop.order"}
    countries = await reader.get("Countries('DE')", Accept="application/json;metadata=full")
    assert "@editLink" not in countries


async def test_pages_follow_each_other_to_the_end(reader: Client) -> None:
    url, titles, pages = "Books?$select=title&$orderby=title%20desc&$count=true", [], 0
    while url:
        answer = await reader("GET", url, Prefer="odata.maxpagesize=3")
        assert answer.headers["Preference-Applied"] == "maxpagesize=3"
        assert answer.json["@count"] == 8
        titles += [row["title"] for row in answer.json["value"]]
        url = answer.json.get("@nextLink", "").removeprefix("/shop/")
        pages += 1
    assert pages == 3
    assert titles == sorted(titles, reverse=True)
    assert len(set(titles)) == 8


async def test_top_zero_with_count_returns_only_the_count(reader: Client) -> None:
    body = await reader.get("Books?$top=0&$count=true")
    assert body == {"@context": "/shop/$metadata#Books", "@count": 8, "value": []}


async def test_paths_continue_through_navigations(reader: Client) -> None:
    assert (await reader.get(f"{PRIDE}/author/country"))["name"] == "United Kingdom"
    assert (await reader.get(f"{PRIDE}/author/books({book(2)})/title"))["value"] == "Emma"
    chapters = await reader.get(f"{PRIDE}/chapters?$select=title&$orderby=number%20desc&$top=1")
    assert chapters["@context"] == "/shop/$metadata#Chapters(title)"
    assert [row["title"] for row in chapters["value"]] == ["A letter"]
    assert (await reader.get(f"{PRIDE}/translations(language='de')"))["title"] == "Stolz und Vorurteil"
    assert (await reader.get(f"{PRIDE}/translations('fr')"))["title"] == "Orgueil et Préjugés"
    assert len((await reader.get("Books/$filter(stock%20gt%20100)"))["value"]) == 1


async def test_a_path_through_a_missing_entity_is_404_and_a_null_target_is_204(reader: Client) -> None:
    nobody = "Books(99999999-0000-4000-8000-000000000000)"
    for path in (
        "",
        "/chapters",
        "/author",
        "/title",
        "/title/$value",
        "/chapters/$count",
        "/author/$ref",
        "/chapters/$ref",
    ):
        assert (await reader("GET", nobody + path)).status == 404, path
    assert (await reader("GET", f"{PRIDE}/chapters({chapter(4)})")).status == 404
    assert (await reader("GET", f"Books({book(8)})/author")).status == 204
    assert (await reader("GET", f"Books({book(8)})/author/$ref")).status == 204
    assert (await reader("GET", f"Books({book(8)})/author/name")).status == 404
    assert (await reader.get(f"Books({book(8)})/chapters"))["value"] == []


async def test_property_values_are_read_as_json_and_as_raw_values(reader: Client) -> None:
    assert await reader.get(f"{PRIDE}/price") == {
        "@context": f"/shop/$metadata#{PRIDE}/price",
        "value": 9.99,
    }
    raw = await reader("GET", f"{PRIDE}/price/$value", Accept="application/json")
    assert (raw.headers["Content-Type"], raw.body) == ("text/plain;charset=utf-8", b"9.99")
    assert (await reader("GET", f"{PRIDE}/available/$value")).body == b"true"
    assert (await reader("GET", f"{PRIDE}/published/$value")).body == b"1813-01-28T00:00:00Z"
    thumbnail = await reader("GET", f"Books({book(4)})/thumbnail/$value")
    assert (thumbnail.headers["Content-Type"], thumbnail.body) == ("application/octet-stream", b"\x89PNG")
    assert (await reader.get(f"Books({book(4)})/thumbnail"))["value"] == "iVBORw=="
    for null in ("rating", "rating/$value"):
        assert (await reader("GET", f"Books({book(5)})/{null}")).status == 204
    assert (await reader.get(f"{PRIDE}/tags?$top=1&$skip=1&$count=true")) == {
        "@context": f"/shop/$metadata#{PRIDE}/tags",
        "@count": 2,
        "value": ["love"],
    }
    assert (await reader("GET", f"{PRIDE}/tags/$count")).body == b"2"
    assert (await reader.get(f"Orders({order(1)})/shipTo"))["city"] == "Köln"
    assert (await reader.get(f"Orders({order(1)})/shipTo/city"))["value"] == "Köln"
    assert (await reader("GET", f"Orders({order(2)})/shipTo/city")).status == 204
    assert (await reader.get("Shops(1)/openingTime"))["value"].startswith("09:30:00")


async def test_counts_obey_filter_and_search(reader: Client) -> None:
    assert (await reader("GET", "Books/$count")).body == b"8"
    assert (await reader("GET", "Books/$count?$filter=stock%20gt%2012", Accept="application/json")).body == b"3"
    assert (await reader("GET", "Books/$count?$search=Emma")).body == b"1"
    assert (await reader("GET", f"{PRIDE}/chapters/$count")).body == b"3"


async def test_references_are_read_by_ref(reader: Client) -> None:
    assert await reader.get(f"{PRIDE}/author/$ref") == {
        "@context": "/shop/$metadata#$ref",
        "@id": f"/shop/Authors({author(1)})",
    }
    found = await reader.get(f"Authors({author(1)})/books/$ref?$orderby=title&$count=true")
    assert found["@count"] == 2
    assert found["value"] == [{"@id": f"/shop/{EMMA}"}, {"@id": f"/shop/{PRIDE}"}]


async def test_entities_by_id_and_queries_in_bodies(reader: Client) -> None:
    assert (await reader.get(f"$entity?$id={EMMA}&$select=title"))["title"] == "Emma"
    assert (await reader.get(f"$entity?$id=https://elsewhere.example/shop/{EMMA}"))["title"] == "Emma"
    answer = await reader(
        "POST", "Books/$query", b"$filter=title%20eq%20'Emma'&$select=title", Content_Type="text/plain"
    )
    assert [row["title"] for row in answer.json["value"]] == ["Emma"]


@pytest.mark.parametrize("header", ['W/"7"', '"7"', '"1", W/"7"', "*"])
async def test_an_unchanged_entity_is_answered_with_304(reader: Client, header: str) -> None:
    for path in (PRIDE, f"{PRIDE}/title", f"{PRIDE}/title/$value"):
        answer = await reader("GET", path, If_None_Match=header)
        assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", 'W/"7"')
    assert (await reader("GET", PRIDE, If_None_Match='W/"8"')).status == 200
    assert (await reader("GET", PRIDE, If_Match='W/"8"')).code == "PRECONDITION_FAILED"


async def test_the_host_adds_members_to_successful_json_responses(reader: Client) -> None:
    reader.hooks.added = {"minorVersion": 13, "title": "mine"}
    assert (await reader.get("Countries"))["minorVersion"] == 13
    body = await reader.get(EMMA)
    assert (body["minorVersion"], body["title"]) == (13, "Emma")
    assert (await reader.get("greet(name='Bo')"))["minorVersion"] == 13
    assert "minorVersion" not in await reader.get("")
    assert "minorVersion" not in (await reader("GET", "Nothing")).json


async def test_context_urls_name_the_selected_properties(reader: Client) -> None:
    assert (await reader.get("Books?$select=title,price&$top=1"))["@context"] == "/shop/$metadata#Books(title,price)"
    assert (await reader.get(f"{EMMA}?$select=title"))["@context"] == "/shop/$metadata#Books(title)/$entity"
    assert (await reader.get("Profile"))["@context"] == "/shop/$metadata#Profile"
    assert (await reader.get("Profile/motto"))["@context"] == "/shop/$metadata#Profile/motto"
    translation = f"Translations(book_ID={book(1)},language='de')"
    assert (await reader.get(f"{translation}/title"))["@context"] == f"/shop/$metadata#{translation}/title"
    applied = await reader.get("Books?$apply=groupby((language),aggregate(stock%20with%20sum%20as%20total))")
    assert applied["@context"] == "/shop/$metadata#Books(language,total)"
    assert {"language": "de", "total": 42} in applied["value"]
    author_name = await reader.get(f"{PRIDE}?$select=title&$expand=author($select=name)", OData_MaxVersion="4.0")
    assert author_name["@odata.context"] == "/shop/$metadata#Books(title,author(name))/$entity"
    assert (await reader.get("Books?$top=1&$expand=author"))["@context"] == "/shop/$metadata#Books(author())"
