"""The program's commands, their options, and the environment variables for these."""

from __future__ import annotations

from collections.abc import Iterator

import click

from promenade import cli

__all__ = ["commands", "option_of", "variables_of"]


def commands(
    command: click.Command = cli.cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command that can be run, with its words."""
    if isinstance(command, click.Group):
        for name, one in command.commands.items():
            yield from commands(one, (*path, name))
    else:
        yield path, command


def variables_of(*words: str) -> dict[str, click.Parameter]:
    """Return the environment variables that a command reads; without words, those of all commands."""
    return {
        str(parameter.envvar): parameter
        for path, command in commands()
        if not words or path == words
        for parameter in command.params
        if parameter.envvar
    }


def option_of(words: tuple[str, ...], name: str) -> click.Parameter:
    """Return an option of a command by its name on the command line."""
    (found,) = (one for path, command in commands() if path == words for one in command.params if name in one.opts)
    return found
