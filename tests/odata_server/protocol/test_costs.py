"""Short requests that are expensive: refused with a specific error before they cost anything, or answered quickly."""

from __future__ import annotations

import itertools

import httpx2
import pytest

from tests.kit.processor_time import processor_time

NESTED = [
    "round({})",
    "floor({})",
    "({} add 1)",
    "({} div 2)",
    "({} divby 2)",
    "({} mod 7)",
    "(-{})",
]
TEXTS = ["tolower({})", "trim({})", "substring({},1)", "concat({},'x')", "substring('abc',indexof({},'a'))"]
CHAIN = "concat({0},{0}) as {1}"


def nested(form: str, innermost: str, depth: int) -> str:
    for _ in range(depth):
        innermost = form.format(innermost)
    return innermost


def chain(form: str, first: str, count: int) -> list[str]:
    """Return computed values, each of which uses the previous one twice."""
    names = [first, *(f"c{number}" for number in range(count))]
    return [form.format(one, other) for one, other in itertools.pairwise(names)]


async def answered(reader: httpx2.AsyncClient, url: str) -> tuple[int, str]:
    with processor_time() as spent:
        answer = await reader.get(url)
    assert spent.seconds < 1.0, url[:200]
    assert answer.status_code in {200, 400}, answer.text
    return answer.status_code, answer.json().get("error", {}).get("code", "")


@pytest.mark.alone
@pytest.mark.parametrize("form", NESTED + TEXTS)
async def test_functions_nest_as_deep_as_the_database_follows(reader: httpx2.AsyncClient, form: str) -> None:
    """Each depth is either executed or refused; none ends in a database error."""
    bases = ["title"] if form in TEXTS else ["price", "stock", "rating"]
    for base in bases:
        for depth in (2, 4, 7, 11, 17, 24, 31, 39):
            value = "'x'" if base == "title" else "1"
            found = await answered(reader, f"/Books?$filter={nested(form, base, depth)} eq {value}&$select=title")
            assert found in {(200, ""), (400, "EXPRESSION_TOO_LARGE"), (400, "EXPRESSION_TOO_DEEP")}
            assert depth > 4 or found[0] == 200, (form, base, depth)


@pytest.mark.alone
async def test_lambdas_and_functions_together_are_followed_too(reader: httpx2.AsyncClient) -> None:
    inmost = nested("tolower({})", "s/heading", 18)
    inside = f"chapters/any(c:c/sections/any(s:{inmost} ne 'x' and not (c/number gt 5)))"
    url = f"/Books?$select=title&$filter=author/books/any(b:b/{inside})"
    assert (await answered(reader, url))[0] in {200, 400}


@pytest.mark.alone
@pytest.mark.parametrize(
    "url",
    [
        "/Books?$compute=" + ",".join(chain(CHAIN, "title", 20)),
        "/Books?$compute=" + ",".join(chain(CHAIN, "title", 19)) + "&$select=title&$filter=length(c18) gt 5",
        "/Books?$compute=" + ",".join(chain("{0} mul {0} as {1}", "price", 19)) + "&$orderby=c18&$select=title",
        "/Books?$apply=" + "/".join(f"compute({one})" for one in chain(CHAIN, "title", 18)),
        "/Books?$apply=groupby((title))/" + "/".join(f"compute({one})" for one in chain(CHAIN, "title", 18)),
        "/Books?$apply=groupby((title))/"
        + "/".join(
            f"groupby((title),aggregate({one.replace(' as ', ' with max as ')}))" for one in chain(CHAIN, "title", 18)
        ),
        (
            "/Books?$filter=@a&@a=@b or @b&@b=@c or @c&@c=@d or @d&@d=@e or @e&@e=@f or @f&@f=@g or @g&@g=@h or @h"
            "&@h=@i or @i&@i=@j or @j&@j=@k or @k&@k=@l or @l&@l=@m or @m&@m=@n or @n&@n=@o or @o&@o=true"
        ),
        "/Books?$filter=title eq @a&@a=@a",
        "/Books?$filter=title eq @a&@a=@b&@b=@a",
    ],
    ids=["compute", "filtered", "product", "apply", "grouped", "aggregated", "aliases", "own-alias", "circle"],
)
async def test_computed_names_count_with_the_size_of_their_expressions(reader: httpx2.AsyncClient, url: str) -> None:
    status, code = await answered(reader, url)
    assert status == 400
    assert code in {"EXPRESSION_TOO_LARGE", "EXPRESSION_TOO_DEEP"}


async def test_computed_values_may_build_on_each_other(reader: httpx2.AsyncClient) -> None:
    url = "/Books?$compute=price mul 2 as a,a add a as b&$select=title,b&$filter=b gt 40&$orderby=b desc&$top=1"
    (found,) = (await reader.get(url)).json()["value"]
    assert found["b"] == 100
    url = "/Books?$apply=compute(price mul stock as v)/groupby((language),aggregate(v with sum as t))"
    assert (await reader.get(f"{url}/compute(t mul 2 as u)&$orderby=u")).status_code == 200
