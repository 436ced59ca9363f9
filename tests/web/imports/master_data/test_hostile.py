"""Documents made to consume resources or reach other hosts: each gets a fault, at once and cheaply (reliability X2)."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import math
import re
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.web.http.test_bounds import mebibytes
from tests.web.imports.master_data.conftest import Ingest, accepted, fault
from tests.web.imports.master_data.messages import envelope, item

MILLION = 1_000_000
SIZE = 19 * 2**20
XI = "http://www.w3.org/2001/XInclude"
XSI = "http://www.w3.org/2001/XMLSchema-instance"


def sent(items: str = "", *, declaration: str = "", more: str = "") -> str:
    return envelope(items + item(), message_id="m-1", declaration=declaration, more=more)


def laughs() -> str:
    entities = "".join(f'<!ENTITY l{number + 1} "{f"&l{number};" * 10}">' for number in range(9))
    return sent("<a>&l9;</a>", declaration=f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY l0 "lol">{entities}]>')


def doctype(inside: str, encoding: str = "UTF-8") -> str:
    return sent("<a>&x;</a>", declaration=f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a {inside}>')


def attributes(count: int, prefix: str = "") -> str:
    return sent("<a " + " ".join(f'{prefix}a{number}="u"' for number in range(count)) + "/>")


EXTERNAL = '[<!ENTITY x SYSTEM "{url}">]'
GOOD = sent()
DOCUMENTS: dict[str, Callable[[str], str | bytes]] = {
    "billion laughs": lambda _: laughs(),
    "quadratic blow-up": lambda _: doctype(f'[<!ENTITY x "{"x" * MILLION}">]').replace("&x;", "&x;" * 1000),
    "external entity": lambda url: doctype(EXTERNAL.format(url=url)),
    "a file as entity": lambda _: doctype(EXTERNAL.format(url="file:///etc/passwd")),
    "parameter entity": lambda url: doctype(f'[<!ENTITY % p SYSTEM "{url}"> %p;]'),
    "external DTD": lambda url: doctype(f'SYSTEM "{url}"'),
    "DTD in UTF-16": lambda url: doctype(EXTERNAL.format(url=url), "UTF-16").encode("utf-16"),
    "DTD in UTF-16, unmarked": lambda url: doctype(EXTERNAL.format(url=url), "UTF-16").encode("utf-16-le"),
    "DTD in UTF-16BE": lambda url: codecs.BOM_UTF16_BE + doctype(EXTERNAL.format(url=url)).encode("utf-16-be"),
    "DTD in UTF-7": lambda url: doctype(EXTERNAL.format(url=url), "UTF-7").replace("<!", "+ADwAIQ-"),
    "DTD in UTF-32": lambda url: doctype(EXTERNAL.format(url=url), "UTF-32").encode("utf-32"),
    "DTD in EBCDIC": lambda url: doctype(EXTERNAL.format(url=url), "cp500").encode("cp500"),
    "DTD behind a comment": lambda url: f"<!-- --{doctype(EXTERNAL.format(url=url)).partition('?>')[2]}",
    "DTD behind what seems a comment": lambda _: sent('<a b="<!--"/><!DOCTYPE a>-->'),
    "DTD late": lambda _: sent("<!DOCTYPE a>"),
    "DTD in overlong letters": lambda _: GOOD.encode().replace(b"A-1", b"\xc0\xbc!DOCTYPE a>"),
    "undefined entity": lambda _: sent("<a>&x;</a>"),
    "style sheet": lambda url: sent(declaration=f'<?xml-stylesheet href="{url}"?>'),
    "processing instruction": lambda _: sent("<?php ?>"),
    "second declaration": lambda _: sent('<?xml version="1.0" encoding="UTF-7"?>'),
    "XInclude": lambda url: sent(f'<xi:include xmlns:xi="{XI}" href="{url}"/>'),
    "XInclude of text": lambda _: sent(f'<i:include xmlns:i="{XI}" href="file:///etc/passwd" parse="text"/>'),
    "schemaLocation": lambda url: sent(more=f' xmlns:i="{XSI}" i:schemaLocation="urn:x {url}"'),
    "noNamespaceSchemaLocation": lambda url: sent(more=f' xmlns:i="{XSI}" i:noNamespaceSchemaLocation="{url}"'),
    "depth": lambda _: sent("<a>" * 100_000 + "</a>" * 100_000),
    "depth without end": lambda _: sent("<a>" * 700_000),
    "many elements": lambda _: sent("<a/>" * 4 * MILLION),
    "many comments": lambda _: sent("<!---->" * 2 * MILLION),
    "many sections": lambda _: sent("<![CDATA[]]>" * MILLION),
    "many references": lambda _: sent(f"<a>{'&lt;' * 4 * MILLION}</a>"),
    "many attributes": lambda _: attributes(MILLION),
    "a hundred attributes": lambda _: attributes(100),
    "nearly as many": lambda _: attributes(MILLION - 1000),
    "five thousand attributes": lambda _: attributes(5000),
    "many namespaces": lambda _: attributes(100_000, "xmlns:"),
    "four thousand namespaces": lambda _: attributes(4000, "xmlns:"),
    "an attribute twice": lambda _: sent('<a b="" b=""/>'),
    "long element name": lambda _: sent(f"<{'a' * SIZE}/>"),
    "long attribute name": lambda _: sent(f'<a {"a" * SIZE}=""/>'),
    "long attribute": lambda _: sent(f'<a b="{"x" * SIZE}"/>'),
    "long namespace": lambda _: sent(f'<a xmlns="{"x" * SIZE}"/>'),
    "long comment": lambda _: sent(f"<!--{'x' * SIZE}-->"),
    "wrong declared encoding": lambda _: sent(declaration='<?xml version="1.0" encoding="UTF-16"?>'),
    "contradiction to the mark": lambda _: sent(declaration='<?xml version="1.0" encoding="UTF-8"?>').encode("utf-16"),
    "UTF-16 without a mark": lambda _: GOOD.encode("utf-16-le"),
    "UTF-16 cut": lambda _: GOOD.encode("utf-16")[:-1],
    "unknown encoding": lambda _: sent(declaration='<?xml version="1.0" encoding="x-none"?>'),
    "Latin-1 as UTF-8": lambda _: GOOD.replace("A-1", "Käse").encode("latin-1"),
    "half a character": lambda _: GOOD.encode().replace(b"A-1", b"\xed\xa0\x80"),
    "XML 1.1": lambda _: sent(declaration='<?xml version="1.1"?>'),
    "NUL": lambda _: GOOD.replace("A-1", "A\0-1"),
    "NUL by reference": lambda _: GOOD.replace("A-1", "A&#0;-1"),
    "nothing but NULs": lambda _: b"\0" * SIZE,
    "truncated": lambda _: GOOD[:-10],
    "truncated in a comment": lambda _: GOOD + "<!-- ",
    "trailing garbage": lambda _: GOOD + "garbage",
    "two documents": lambda _: GOOD + GOOD,
    "gzip": lambda _: gzip.compress(GOOD.encode()),
    "empty": lambda _: b"",
    "blank": lambda _: b" " * SIZE,
}  # fmt: skip


def seconds(pid: int) -> float:
    """Return the processor time that all threads of a process have used, to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


@dataclass
class Bait:
    """A server that nobody may call, which records its callers."""

    url: str
    bitten: list[object]


@pytest.fixture
def bait() -> Iterator[Bait]:
    listener = socket.create_server(("127.0.0.1", 0))
    bait = Bait(f"http://127.0.0.1:{listener.getsockname()[1]}/bait", [])

    def wait() -> None:
        with contextlib.suppress(OSError):  # until it is closed
            while True:
                bait.bitten.append(listener.accept())

    waiting = threading.Thread(target=wait)
    waiting.start()
    yield bait
    listener.shutdown(socket.SHUT_RDWR)
    waiting.join()
    listener.close()


@pytest.mark.alone
@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_hostile_document_is_a_fault_and_costs_nothing(ingest: Ingest, bait: Bait, document: str) -> None:
    body = DOCUMENTS[document](bait.url)
    ingest.soap("<a/>")  # everything is loaded
    pid = ingest.service.pid
    spent = grown = math.inf
    for _ in range(3):  # so that at least one is not disturbed by other load on the machine
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # reset the peak
        used, held = seconds(pid), mebibytes(pid, "VmRSS")
        answer = ingest.soap(body)
        spent = min(spent, seconds(pid) - used)
        grown = min(grown, mebibytes(pid, "VmHWM") - held)
        if spent < 0.1:
            break
    status, code, text = fault(answer)
    assert (status, code) == (400, "Client")
    assert not re.search(r"passwd|root:|lol|bait", text)
    assert not bait.bitten
    assert spent < 0.1
    assert grown < 64
    assert not ingest.jobs()


def test_unusual_but_valid_xml_is_accepted(ingest: Ingest) -> None:
    odd = "<!-- <!DOCTYPE a [<!ENTITY x 'y'>]> <?php ?> --><b><![CDATA[<!DOCTYPE <?php ]]></b>"
    accepted(ingest.soap(f"\n{sent(odd)}\n<!-- -->\n"))


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_compressed_bodies_are_not_read(ingest: Ingest, encoding: str) -> None:
    headers = {"content-type": "text/xml", "content-encoding": encoding, "x-common-name": ingest.name}
    answer = ingest.http.post("/api/v1/master-data/soap", content=gzip.compress(GOOD.encode()), headers=headers)
    assert fault(answer)[:2] == (400, "Client")


@pytest.mark.alone
def test_the_largest_possible_message_is_refused_within_bounds(ingest: Ingest) -> None:
    pid = ingest.service.pid
    ingest.soap("<a/>")
    for inside in ("<a></a>" * 749_000, "<a/>" * 749_000, f"<a>{'&lt;' * 499_000}</a>", f"<a>{'x' * SIZE}</a>"):
        Path(f"/proc/{pid}/clear_refs").write_text("5")
        used, held = seconds(pid), mebibytes(pid, "VmRSS")
        assert ingest.soap(sent(inside)[:-1]).status_code == 400
        assert seconds(pid) - used < 1.5
        assert mebibytes(pid, "VmHWM") - held < 64
