"""What a check has found, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from promenade.web.access.tls.expiry import EXPIRED, EXPIRES_SOON, validity

CLOCKS_DIFFER, CLOCKS_DIFFER_MUCH = 5.0, 60.0
"""Seconds from which a difference between two clocks is worth a word, and from which promotions begin too late."""


class Verdict(Enum):
    """How bad it is."""

    OK = "OK"
    WARN = "WARN"
    """It works, and will not for ever."""
    FAIL = "FAIL"
    SKIPPED = "SKIPPED"
    """It could not be looked at, because of something else that was found."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: ``check`` is its stable name, ``remedy`` is there unless all is well."""

    check: str
    verdict: Verdict
    message: str
    remedy: str | None = None

    @staticmethod
    def ok(check: str, message: str) -> Finding:
        """All is well."""
        return Finding(check, Verdict.OK, message)

    @staticmethod
    def warn(check: str, message: str, remedy: str) -> Finding:
        """It works, and will not for ever."""
        return Finding(check, Verdict.WARN, message, remedy)

    @staticmethod
    def fail(check: str, message: str, remedy: str) -> Finding:
        """It does not work."""
        return Finding(check, Verdict.FAIL, message, remedy)

    @staticmethod
    def skipped(check: str) -> Finding:
        """It could not be looked at."""
        return Finding(check, Verdict.SKIPPED, "Not looked at, because the database cannot be used.")


def worst(findings: Sequence[Finding]) -> Verdict:
    """Return how bad the worst of them is."""
    verdicts = {one.verdict for one in findings}
    return next((one for one in (Verdict.FAIL, Verdict.WARN) if one in verdicts), Verdict.OK)


def judge_clock(ahead_seconds: float, of: str, check: str = "clock") -> Finding:
    """Judge by how many seconds this machine's clock is ahead of the clock ``of`` another one."""
    apart = abs(ahead_seconds)
    if apart < CLOCKS_DIFFER:
        return Finding.ok(check, f"It agrees with the clock of {of}.")
    message = f"It is {apart:.0f} seconds {'ahead of' if ahead_seconds > 0 else 'behind'} the clock of {of}."
    remedy = "Let both machines set their clocks by NTP (`timedatectl set-ntp true`)."
    verdict = Verdict.FAIL if apart >= CLOCKS_DIFFER_MUCH else Verdict.WARN
    return Finding(check, verdict, message, remedy)


def judge_expiry(what: str, left: timedelta, remedy: str) -> Finding:
    """Judge by how long a certificate or a list of revocations is still valid."""
    state = validity(left)
    if state == EXPIRED:
        return Finding.fail("certificate", f"{what} expired {-left.days} days ago.", remedy)
    if state == EXPIRES_SOON:
        return Finding.warn("certificate", f"{what} expires in {left.days} days.", remedy)
    return Finding.ok("certificate", f"{what} is valid for {left.days} more days.")
