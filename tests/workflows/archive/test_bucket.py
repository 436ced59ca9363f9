"""An archive in a bucket: the same files as in a directory, through a server that speaks the protocol of S3 (moto)."""

from __future__ import annotations

import hashlib
import random
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from promenade.errors import Unavailable
from promenade.store.archive.reading import KINDS
from promenade.store.driver.unit import Database
from promenade.workflows.archive.checking import Checked, check_archive
from promenade.workflows.archive.places import Bucket, Directory, Place, open_place
from promenade.workflows.archive.writing import Written, write_archive
from tests.kit.databases import Databases
from tests.workflows.archive.filled import add_rows
from tests.workflows.archive.test_archive import LATER, files, opened

TENANT = "acme"


@pytest.fixture
async def database(databases: Databases) -> AsyncIterator[Database]:
    """On SQLite alone: a bucket does not know where rows are from."""
    url = databases.create("sqlite")
    async with opened(url) as database:
        yield database
    databases.drop(url)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Any]]:
    """The address of an empty bucket, and a client of another maker."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": "tests",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    client.create_bucket(Bucket="logs")
    yield f"s3://logs/promenade?endpoint={endpoint}", client
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/moto-api/reset", method="POST")).close()
    server.stop()


def objects(client: Any) -> dict[str, str]:
    """Return the objects that hold something, by key, with their digests."""
    listed = client.list_objects_v2(Bucket="logs").get("Contents", [])
    found = {one["Key"]: client.get_object(Bucket="logs", Key=one["Key"])["Body"].read() for one in listed}
    return {key: hashlib.sha256(data).hexdigest() for key, data in found.items() if not key.endswith("/")}


async def write(database: Database, place: Place, **rest: Any) -> list[Written]:
    told: list[Written] = []
    await write_archive(database, place, TENANT, list(KINDS.values()), at=LATER, tell=told.append, **rest)
    return told


async def verdicts(database: Database, place: Place) -> set[str]:
    told: list[Checked] = []
    await check_archive(database, place, TENANT, list(KINDS.values()), at=LATER, tell=told.append)
    return {one.verdict for one in told}


async def test_a_bucket_holds_the_files_of_a_directory(
    database: Database, bucket: tuple[str, Any], tmp_path: Path, seed: int
) -> None:
    address, client = bucket
    for _ in range(4):
        await add_rows(database, TENANT, random.Random(seed), 20)
        seed += 1
    place = open_place(address)
    assert isinstance(place, Bucket)
    assert {one.result for one in await write(database, place)} == {"written"}
    await write(database, Directory(tmp_path))
    assert objects(client) == {f"promenade/{name}": digest for name, digest in files(tmp_path).items()}
    assert client.list_objects_v2(Bucket="logs", Prefix="promenade/_")["KeyCount"] == 0
    assert await verdicts(database, place) == {"same"}
    assert await write(database, place) == []
    assert {one.result for one in await write(database, place, again=True)} == {"unchanged"}


async def test_a_bucket_that_is_not_there_is_an_error_in_one_line(
    database: Database, bucket: tuple[str, Any], seed: int
) -> None:
    await add_rows(database, TENANT, random.Random(seed), 20)
    await add_rows(database, TENANT, random.Random(seed + 1), 20)
    address, client = bucket
    with pytest.raises(Unavailable) as failed:
        await write(database, open_place(address.replace("//logs", "//other")))
    assert failed.value.code == "ARCHIVE_UNAVAILABLE"
    assert objects(client) == {}
