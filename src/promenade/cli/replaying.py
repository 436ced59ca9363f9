"""The command that prices a stored iteration again, and what it prints about differences."""

# ruff: noqa: PLC0415 -- imports stand inside the command, so that `--help` answers at once

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, prepare_database, run
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.workflows.context import Context
    from promenade.workflows.pricing.evaluate import PricedIteration
    from promenade.workflows.pricing.replay import Replayed


@click.command()
@click.argument("tenant_id", metavar="TENANT")
@click.argument("transaction_id", metavar="TRANSACTION")
@click.argument("transaction_counter", metavar="COUNTER", type=click.IntRange(1))
@database_options
def replay(tenant_id: str, transaction_id: str, transaction_counter: int, **options: Any) -> None:
    """Price a stored iteration again from its stored data, and print the response that a till would get.

    On standard error follows whether the price is the same as the stored one; if not, the fields that differ, and the
    exit status is 1.
    """

    async def work(settings: Settings) -> tuple[bytes, list[str] | None]:
        from promenade.app import opened_context
        from promenade.workflows.pricing.replay import replay as replay_iteration

        async with opened_context(settings) as context:
            replayed = await replay_iteration(context, tenant_id, transaction_id, transaction_counter)
            now = _response(context, tenant_id, replayed, replayed.after())
            if replayed.is_same:
                return now, None
            return now, _differences(replayed, _response(context, tenant_id, replayed, replayed.before()), now)

    settings = Settings(**options)
    prepare_database(settings, creates=False)
    import msgspec

    response, differences = run(work(settings))
    click.echo(msgspec.json.format(response))
    click.echo(f"same as stored: {'yes' if differences is None else 'no'}", err=True)
    if differences is not None:
        for line in differences:
            click.echo(line, err=True)
        raise SystemExit(1)


def _response(context: Context, tenant_id: str, replayed: Replayed, priced: PricedIteration) -> bytes:
    """Encode a price as evaluate answers it."""
    from promenade.web.pricing.encode import encode_evaluation

    return encode_evaluation(
        priced,
        tenant_id=context.shown_tenant_id(tenant_id),
        source=context.source,
        instance_id=context.shown_instance_id,
        include_missed=replayed.stored.settings.include_missed,
    )


def _differences(replayed: Replayed, before: bytes, after: bytes) -> list[str]:
    """One line for each field of the response that differs; if none does, for what only the stored record has."""
    import json
    from decimal import Decimal

    import msgspec

    shown = [json.loads(one, parse_float=Decimal) for one in (before, after)]
    if lines := list(changes(*shown)):
        return lines
    records = [msgspec.msgpack.decode(one) for one in (replayed.stored.outcome_bytes, replayed.outcome_bytes)]
    return ["The responses are equal; in the stored record differ:", *changes(*records)]


def changes(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Compare two JSON values: lines such as ``totals.discount.value: 15.00 -> 10.00``, in the order of the fields.

    A value that is missing is ``...`` here, and `-` in the line.
    """
    kinds = {type(one) for one in (before, after) if one is not ...}
    if kinds == {dict}:
        old, new = ({} if one is ... else one for one in (before, after))
        for name in dict.fromkeys((*old, *new)):
            yield from changes(old.get(name, ...), new.get(name, ...), f"{path}.{name}" if path else name)
    elif kinds == {list}:
        entries = zip_longest(*([] if one is ... else one for one in (before, after)), fillvalue=...)
        for place, (old, new) in enumerate(entries):
            yield from changes(old, new, f"{path}[{place}]")
    elif before != after:
        yield f"{path}: {_text(before)} -> {_text(after)}"


def _text(value: Any) -> str:
    """Write a value in one line, numbers as they were sent."""
    import json
    from decimal import Decimal

    if value is ...:
        return "-"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
