"""Passwords that people choose: Argon2id with 19 MiB and two passes (the second of OWASP's equivalent options).

Hashes are computed in a thread and one at a time, so that guessing exhausts neither memory nor processor. The
passwords that are guessed first are refused; there are no rules about characters.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Iterable
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from promenade.errors import Invalid, TooMany
from promenade.workflows.access.guessable import is_guessable

PASSWORD_LENGTH_MIN = 8
PASSWORD_BYTES_MAX = 1024
NOBODYS = "$argon2id$v=19$m=19456,t=2,p=1$0pdIZ21ZKYK+2IYYa1KHhA$BPv8BOfo9Jw8sDJbWlyx7CwrneltKdxx7A8hKmcL2xM"
"""A hash that no password has: verified for unknown names, so that they take as long as known ones."""

_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)

T = TypeVar("T")


def check_password(password: str, field: str = "password") -> str:
    """Return the password normalized for hashing (NFKC), so that it does not depend on the keyboard.

    Raises Invalid (PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG) about this ``field``.
    """
    normal = unicodedata.normalize("NFKC", password[: PASSWORD_BYTES_MAX + 1])
    if len(normal) < PASSWORD_LENGTH_MIN:
        text = f"A password must have at least {PASSWORD_LENGTH_MIN} characters."
        raise Invalid("PASSWORD_TOO_SHORT", text, field)
    if len(password) > PASSWORD_BYTES_MAX or len(normal.encode("utf-8")) > PASSWORD_BYTES_MAX:
        raise Invalid("PASSWORD_TOO_LONG", f"A password must have at most {PASSWORD_BYTES_MAX} bytes.", field)
    return normal


def hash_password(password: str) -> str:
    """Return the hash of a password, which takes tens of milliseconds. Raises Invalid."""
    return _HASHER.hash(check_password(password))


def require_unguessable(password: str, about: Iterable[str | None] = (), field: str = "password") -> None:
    """Raise Invalid (PASSWORD_GUESSABLE) for a password that is guessed soon: it is among those that leak most often,
    or a variant of one, a row of keys, a date, or made of our words or those ``about`` the person.
    """
    if is_guessable(password, about):
        text = "This password is among the first that are tried: choose another, such as some words in a row."
        raise Invalid("PASSWORD_GUESSABLE", text, field)


class Passwords:
    """Hashes and verifies passwords, one at a time; at most ``waiting_max`` attempts wait for their turn."""

    def __init__(self, waiting_max: int = 8) -> None:
        self._waiting_max = waiting_max
        self._one_at_a_time = asyncio.Semaphore(1)
        self._waiting = 0

    def require_turn(self) -> None:
        """Raise TooMany (TOO_MANY_ATTEMPTS) if too many attempts are waiting."""
        if self._waiting >= self._waiting_max:
            raise TooMany("TOO_MANY_ATTEMPTS", "Too many attempts at once; wait before the next.", 1)

    async def hash(self, password: str) -> str:
        """Return the hash of a password. Raises Invalid (PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG) and TooMany."""
        normal = check_password(password)
        return await self._in_turn(lambda: hash_password(normal))

    async def hash_new(self, password: str, about: Iterable[str | None], field: str = "password") -> str:
        """Return the hash of a password that a person chooses; ``about``: the names around the person.

        Raises what `hash` raises, and Invalid (PASSWORD_GUESSABLE), about this ``field``.
        """
        normal = check_password(password, field)
        names = tuple(about)

        def work() -> str:
            require_unguessable(normal, names, field)
            return hash_password(normal)

        return await self._in_turn(work)

    async def verify(self, password: str, hashed: str) -> bool:
        """Return whether the password has this hash. Raises TooMany (TOO_MANY_ATTEMPTS) if too many attempts wait."""
        try:
            normal = check_password(password)
        except Invalid:
            return False  # whatever the hash
        return await self._in_turn(lambda: _is_password(normal, hashed))

    async def _in_turn(self, work: Callable[[], T]) -> T:
        self.require_turn()
        self._waiting += 1
        try:
            async with self._one_at_a_time:
                return await asyncio.to_thread(work)
        finally:
            self._waiting -= 1


def _is_password(password: str, hashed: str) -> bool:
    try:
        return _HASHER.verify(hashed, password)
    except (Argon2Error, InvalidHashError):
        return False
