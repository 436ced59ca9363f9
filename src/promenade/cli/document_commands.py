"""Commands for promotions as documents: export, validate, compare and apply them."""

# ruff: noqa: PLC0415 -- imports stand inside commands, so that `--help` answers at once

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from promenade.cli.console import database_options, in_one_line, option, print_json, with_database
from promenade.errors import Conflict, Invalid, NotFound
from promenade.settings import Settings

if TYPE_CHECKING:
    from promenade.store.driver.unit import Database
    from promenade.workflows.documents.normal import Document
    from promenade.workflows.documents.planning import Plan
    from promenade.workflows.documents.yaml_text import Mistake

_USER = "cli"
_EXIT_DIFFERENT = 3
_FILES_MAX = 20_000

_tenant = option("--tenant", "tenant_id", required=True, help="The tenant whose promotions they are.")
_paths = click.argument("paths", metavar="PATH...", nargs=-1, required=True)
_keeps_states = option(
    "--without-status", is_flag=True, help="Leave the states of promotions as they are; what is new is a draft."
)


@click.command("export")
@click.argument("codes", metavar="[CODE]...", nargs=-1)
@_tenant
@option("--to", "folder", type=click.Path(path_type=Path, file_okay=False), help="Folder of a file for each promotion.")
@option(
    "--definitions", is_flag=True, help="Also define the coupon types, budgets, campaigns and groups that they name."
)
@database_options
def export(codes: tuple[str, ...], tenant_id: str, folder: Path | None, definitions: bool, **options: Any) -> None:
    """Write the promotions with these codes, or all, as YAML documents, to standard output or a folder.

    In a folder, a promotion that has a file keeps it, and files that already say the same are left as they are.
    """

    async def work(database: Database) -> list[Document]:
        from promenade.workflows.documents.exporting import export_promotions

        return await export_promotions(database, tenant_id, codes, with_definitions=definitions)

    documents = with_database(Settings(**options), work)
    if folder is None:
        click.echo("---\n".join(one.text for one in documents), nl=False)
        return
    written = _write(folder, documents)
    click.echo(f"{_counted(len(documents), 'promotion')}, {_counted(written, 'file')} written to {folder}.")


@click.command()
@_paths
def validate(paths: tuple[str, ...]) -> None:
    """Check documents, files or folders of them, without a database."""
    documents = _load(paths)
    click.echo(f"{_counted(len(documents), 'document')}: nothing is wrong.")


@click.command()
@_paths
@_tenant
@option("--exit-code", is_flag=True, help=f"Exit with {_EXIT_DIFFERENT} if anything differs.")
@_keeps_states
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def diff(
    paths: tuple[str, ...], tenant_id: str, exit_code: bool, without_status: bool, as_json: bool, **options: Any
) -> None:
    """Show what applying documents would change in a tenant, and its promotions that no document is of."""
    documents = _load(paths)

    async def work(database: Database) -> tuple[list[Plan], list[str]]:
        from promenade.clock import clock
        from promenade.workflows.documents.applying import plan_all
        from promenade.workflows.documents.exporting import others

        plans = await plan_all(database, tenant_id, documents, at=clock(), keeps_states=without_status)
        return plans, await others(database, tenant_id, documents)

    plans, missing = with_database(Settings(**options), work)
    if as_json:
        print_json([*map(_row, plans), *({"promotion": name, "act": "missing"} for name in missing)])
    else:
        _show(plans, missing)
    if any(plan.faults for plan in plans):
        raise SystemExit(1)
    if exit_code and (missing or not all(plan.is_needless for plan in plans)):
        raise SystemExit(_EXIT_DIFFERENT)


@click.command()
@_paths
@_tenant
@option("--dry-run", is_flag=True, help="Check by all rules what would happen, and change nothing.")
@_keeps_states
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@database_options
def apply(
    paths: tuple[str, ...], tenant_id: str, dry_run: bool, without_status: bool, as_json: bool, **options: Any
) -> None:
    """Make the promotions of a tenant what documents say; each document is applied whole or not at all.

    Promotions that no document is of stay as they are.
    """
    documents = _load(paths)

    async def work(database: Database) -> list[Plan]:
        from promenade.clock import clock
        from promenade.ids import new_id
        from promenade.workflows.documents.applying import Author, apply_all

        author = Author(_USER, clock(), new_id)
        return await apply_all(database, tenant_id, documents, author, is_trial=dry_run, keeps_states=without_status)

    plans = with_database(Settings(**options), work)
    if as_json:
        print_json([_row(plan) for plan in plans])
    else:
        _show(plans)
        if dry_run:
            click.echo("This was a dry run: nothing was changed.")
    if any(plan.faults for plan in plans):
        raise SystemExit(1)


@click.command()
def schema() -> None:
    """Print the JSON Schema of documents, for editors."""
    from promenade.workflows.documents.schema import schema_text

    click.echo(schema_text(), nl=False)


document_commands = (export, validate, diff, apply, schema)


# --- files ------------------------------------------------------------------------------------------------------------


def _load(paths: Sequence[str]) -> list[Document]:
    """Read and check documents, in the order of their files; if one is wrong, print every fault and exit."""
    from promenade.workflows.documents.checking import check_document, check_together
    from promenade.workflows.documents.yaml_text import Malformed, read_documents

    documents: list[Document] = []
    faults: list[Mistake] = []
    for name, text in _texts(paths):
        try:
            parsed = read_documents(text, name)
        except Malformed as error:
            faults.append(error.fault)
            continue
        for one in parsed:
            document, found = check_document(one)
            faults += found
            documents += [] if document is None else [document]
    faults += check_together(documents)
    if faults:
        _show_faults(faults)
        raise SystemExit(1)
    if not documents:
        raise Invalid("NO_DOCUMENTS", f"There is no document in {', '.join(paths)}.")
    return documents


def _texts(paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    from promenade.workflows.documents.yaml_text import BYTES_MAX

    for path in paths:
        if path == "-":
            yield "standard input", sys.stdin.buffer.read(BYTES_MAX + 1)
            continue
        for file in _files(Path(path)) if Path(path).is_dir() else [Path(path)]:
            try:
                with file.open("rb") as stream:
                    yield str(file), stream.read(BYTES_MAX + 1)
            except OSError as error:
                raise NotFound("NO_SUCH_FILE", f"{file} cannot be read: {error.strerror}.") from None


def _files(folder: Path) -> list[Path]:
    """Return the YAML files of a folder and of those below it; what is hidden is not ours."""
    found = [file for ending in ("*.yaml", "*.yml") for file in folder.rglob(ending)]
    shown = [file for file in found if not any(part.startswith(".") for part in file.relative_to(folder).parts)]
    if len(shown) > _FILES_MAX:
        raise Invalid("TOO_MANY_FILES", f"{folder} has more than {_FILES_MAX} files.")
    return sorted(shown)


def _write(folder: Path, documents: Iterable[Document]) -> int:
    """Write the schema, and a file for each document or the one that it has already; return how many were written.

    Files that say the same are left as they are, with their comments. Raises Conflict (SEVERAL_DOCUMENTS).
    """
    from promenade.workflows.documents.schema import FILE_NAME, schema_text

    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE_NAME).write_text(schema_text(), "utf-8")
    there = _documents_in(folder)
    taken = {file.name.casefold() for file in folder.iterdir()}
    count = 0
    for one in documents:
        file, present = there.get(one.identity) or (folder / _file_name(one.name, taken), [])
        if one.text in [each.text for each in present]:
            continue
        if len(present) > 1:
            message = f"{file} holds several documents, of which {one.name} has changed: give it a file of its own."
            raise Conflict("SEVERAL_DOCUMENTS", message)
        hint = os.path.relpath(folder / FILE_NAME, file.parent)
        file.write_text(f"# yaml-language-server: $schema={hint}\n{one.text}", "utf-8")
        count += 1
    return count


def _documents_in(folder: Path) -> dict[tuple[str | None, str], tuple[Path, list[Document]]]:
    """Return the files that have documents already, each with all of its documents, by the promotion."""
    from promenade.workflows.documents.checking import check_document
    from promenade.workflows.documents.yaml_text import Malformed, read_documents

    found: dict[tuple[str | None, str], tuple[Path, list[Document]]] = {}
    for file in _files(folder):
        try:
            checked = [check_document(one)[0] for one in read_documents(file.read_bytes(), str(file))]
        except Malformed:
            continue
        documents = [one for one in checked if one is not None]
        found |= {one.identity: (file, documents) for one in documents}
    return found


def _file_name(name: str, taken: set[str]) -> str:
    """Return a name that every file system allows, and that no file has yet, in whatever case."""
    plain = "".join(one if one.isalnum() or one in "._-" else "_" for one in name)[:60].strip(".") or "promotion"
    number, found = 1, f"{plain}.yaml"
    while found.casefold() in taken:
        number += 1
        found = f"{plain}-{number}.yaml"
    taken.add(found.casefold())
    return found


# --- what is printed --------------------------------------------------------------------------------------------------


def _show_faults(faults: Iterable[Mistake]) -> None:
    for fault in faults:
        click.echo(in_one_line(str(fault)), err=True)


def _show(plans: Sequence[Plan], missing: Sequence[str] = ()) -> None:
    told: set[tuple[str, str]] = set()
    for plan in plans:
        _show_plan(plan, told)
    for name in missing:
        click.echo(in_one_line(f"- {name}: it is in no document, and stays as it is"))
    new, changed = (sum(1 for plan in plans if _act(plan) == act) for act in ("new", "changed"))
    faulty, same = (sum(1 for plan in plans if _act(plan) == act) for act in ("refused", "same"))
    if same == len(plans) and not missing:
        click.echo("No changes.")
        return
    counts = [f"{new} new", f"{changed} changed", f"{same} without changes"]
    counts += [f"{faulty} refused"] if faulty else []
    counts += [f"{len(missing)} in no document"] if missing else []
    click.echo(f"{', '.join(counts)}.")


def _show_plan(plan: Plan, told: set[tuple[str, str]]) -> None:
    act = _act(plan)
    if act == "same" and not plan.notes:
        return
    document = plan.document
    sign = {"new": "+", "changed": "~", "refused": "!", "same": " "}[act]
    click.echo(in_one_line(f"{sign} {document.name} ({document.parsed.source})"))
    made = plan.made_lines()
    for line in (*(one for key, one in made.items() if key not in told), *plan.changes, *plan.notes):
        click.echo(in_one_line(f"    {line}"))
    if act != "refused":
        told |= made.keys()
    _show_faults(plan.faults)


def _act(plan: Plan) -> str:
    return "refused" if plan.faults else "same" if plan.is_needless else "new" if plan.is_new else "changed"


def _row(plan: Plan) -> dict[str, Any]:
    return {
        "promotion": plan.document.name,
        "source": plan.document.parsed.source,
        "act": _act(plan),
        "changes": [*plan.made_lines().values(), *plan.changes],
        "notes": plan.notes,
        "faults": [{"line": one.line, "path": one.path, "message": one.message} for one in plan.faults],
    }


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
