"""When certificates and revocation lists run out: shown as a metric, and told in the log a while before."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from promenade import metrics

__all__ = ["NOTICE", "ExpiryNotice"]

NOTICE = timedelta(days=30)
_DAY = timedelta(days=1)
_TOLD_KEPT_MAX = 1_000
_log = structlog.get_logger("promenade.web")


class ExpiryNotice:
    """Tells of each thing that runs out within 30 days, once a day."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], datetime] = {}

    def show(self, use: str, name: str, until: datetime) -> None:
        """Let the metric say until when a thing is good; ``use`` is listener, authority, crl or client."""
        metrics.drfout_certificate_expiry.labels(use, name).set(until.timestamp())

    def tell(self, use: str, name: str, until: datetime, at: datetime, notice: timedelta = NOTICE) -> None:
        """Warn of a thing that runs out within ``notice``, unless it was told within the last day."""
        if until - at > notice:
            return
        told = self._told.get((use, name))
        if told is not None and abs(at - told) < _DAY:  # a clock may have been set back
            return
        if len(self._told) >= _TOLD_KEPT_MAX:
            self._told.clear()
        self._told[use, name] = at
        if until > at:
            _log.warning("expires soon", use=use, name=name, until=until.isoformat())
        else:
            _log.error("has expired", use=use, name=name, until=until.isoformat())
