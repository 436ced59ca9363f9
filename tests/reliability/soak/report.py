"""The final report of a soak: calls of each kind, availability and response times, against the operating targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tests.reliability.soak.history import History

__all__ = ["TARGETS", "Measured", "measure", "report"]


@dataclass(frozen=True, slots=True)
class Measured:
    """Shares in percent, times in seconds."""

    availability: float
    errors: float
    evaluate_p50: float
    evaluate_p95: float
    evaluate_p99: float
    evaluate_max: float

    def missed(self) -> list[str]:
        """Return descriptions of the missed targets."""
        found = []
        if self.availability < TARGETS.availability:
            found.append(f"availability {self.availability:.3f} % is below {TARGETS.availability} %")
        if self.errors >= TARGETS.errors:
            found.append(f"5xx rate {self.errors:.3f} % is not below {TARGETS.errors} %")
        for name in ("evaluate_p95", "evaluate_p99"):
            took, target = getattr(self, name), getattr(TARGETS, name)
            if took >= target:
                found.append(f"{name} {took * 1000:.0f} ms is not below {target * 1000:.0f} ms")
        return found


TARGETS = Measured(99.5, 1.0, 0.0, 0.5, 2.0, 0.0)
"""The operating targets of the specification (Limits)."""
AVAILABLE_SECONDS = 2.0


def measure(history: History) -> Measured:
    """Compute availability: the share of requests answered below 500 within two seconds. Unsent requests do not
    count.
    """
    calls = history.calls
    good = sum(0 < one.status < 500 and one.seconds <= AVAILABLE_SECONDS for one in calls)
    errors = sum(one.status >= 500 for one in calls)
    took = sorted(one.seconds for one in calls if one.kind == "evaluate" and one.outcome == "ok") or [0.0]
    return Measured(
        100 * good / max(1, len(calls)),
        100 * errors / max(1, len(calls)),
        _percentile(took, 50),
        _percentile(took, 95),
        _percentile(took, 99),
        took[-1],
    )


def report(
    history: History, seconds: float, busy: float, settled: float, checks: dict[str, int], faults: Sequence[str]
) -> str:
    """Return the report as text. ``seconds`` is the duration of the load, ``busy`` the share of the processors' time
    that the machine worked meanwhile, ``settled`` the time until all work was done.
    """
    measured = measure(history)
    lines = [
        f"{len(history.calls):,} operations in {seconds:.1f} s ({len(history.calls) / max(seconds, 0.001):,.0f}/s)"
    ]
    lines += [f"  {'kind':<20}{'ok':>9}{'refused':>9}{'unknown':>9}{'P95 ms':>9}{'max ms':>9}"]
    for kind, ends in sorted(history.by_kind().items(), key=lambda one: -sum(one[1].values())):
        took = sorted(one.seconds for one in history.calls if one.kind == kind)
        figures = f"{_percentile(took, 95) * 1000:>9.0f}{took[-1] * 1000:>9.0f}"
        lines.append(f"  {kind:<20}{ends['ok']:>9}{ends['refused']:>9}{ends['unknown']:>9}{figures}")
    said = Counter((one.kind, one.code) for one in history.calls if one.outcome != "ok")
    lines.append("not done: " + ", ".join(f"{kind} {code or '-'} {n}" for (kind, code), n in said.most_common()))
    lines += [
        f"quiet {settled:.1f} s after the last answer; {history.not_sent} connections refused and made elsewhere",
        f"processors    {100 * busy:8.1f} % busy",
        f"availability  {measured.availability:8.3f} %   target {TARGETS.availability} %",
        f"5xx           {measured.errors:8.3f} %   target below {TARGETS.errors} %",
        f"evaluate P50  {measured.evaluate_p50 * 1000:8.1f} ms",
        f"evaluate P95  {measured.evaluate_p95 * 1000:8.1f} ms  target below {TARGETS.evaluate_p95 * 1000:.0f} ms",
        f"evaluate P99  {measured.evaluate_p99 * 1000:8.1f} ms  target below {TARGETS.evaluate_p99 * 1000:.0f} ms",
        f"evaluate max  {measured.evaluate_max * 1000:8.1f} ms",
        "checked: " + ", ".join(f"{name} {number:,}" for name, number in sorted(checks.items())),
    ]
    lines += [f"BROKEN: {fault[:1500]}" for fault in faults[:40]] or ["every invariant holds"]
    return "\n".join(lines)


def _percentile(ordered: Sequence[float], percent: int) -> float:
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]
