"""What the program knows: its commands, their options, and the variables that stand for these."""

from __future__ import annotations

from collections.abc import Iterator

import click

from promenade import cli

__all__ = ["commands", "option_of", "variables_of"]


def commands(
    command: click.Command = cli.cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that can be run, with the words that name it."""
    if isinstance(command, click.Group):
        for name, one in command.commands.items():
            yield from commands(one, (*path, name))
    else:
        yield path, command


def variables_of(*words: str) -> dict[str, click.Parameter]:
    """The environment variables that a command reads, without words those of all commands."""
    return {
        str(parameter.envvar): parameter
        for path, command in commands()
        if not words or path == words
        for parameter in command.params
        if parameter.envvar
    }


def option_of(words: tuple[str, ...], name: str) -> click.Parameter:
    """An option of a command by its name on the command line."""
    (found,) = (one for path, command in commands() if path == words for one in command.params if name in one.opts)
    return found
