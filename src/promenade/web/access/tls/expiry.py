"""Expiry of certificates and revocation lists: a metric, and warnings in the log beforehand."""

from __future__ import annotations

from datetime import datetime, timedelta

from promenade import metrics
from promenade.log import Logger

NOTICE = timedelta(days=30)
VALID, EXPIRES_SOON, EXPIRED = "VALID", "EXPIRES_SOON", "EXPIRED"
_DAY = timedelta(days=1)
_TOLD_KEPT_MAX = 1_000
_log = Logger("promenade.web")


def validity(left: timedelta, notice: timedelta = NOTICE) -> str:
    """Return VALID, EXPIRES_SOON or EXPIRED for what is valid for ``left`` more."""
    if left <= timedelta():
        return EXPIRED
    return EXPIRES_SOON if left <= notice else VALID


class ExpiryNotice:
    """Warns of each certificate or list that expires within 30 days, once a day."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], datetime] = {}

    def show(self, use: str, name: str, until: datetime) -> None:
        """Set the expiry metric of an item; ``use`` is listener, authority, crl or client."""
        metrics.drfout_certificate_expiry.labels(use, name).set(until.timestamp())

    def tell(self, use: str, name: str, until: datetime, at: datetime, notice: timedelta = NOTICE) -> None:
        """Warn of an item that expires within ``notice``, unless it was reported within the last day."""
        state = validity(until - at, notice)
        if state == VALID:
            return
        told = self._told.get((use, name))
        if told is not None and abs(at - told) < _DAY:  # abs: the clock may have been set back
            return
        if len(self._told) >= _TOLD_KEPT_MAX:
            self._told.clear()
        self._told[use, name] = at
        if state == EXPIRES_SOON:
            _log.warning("expires soon", use=use, name=name, until=until.isoformat())
        else:
            _log.error("has expired", use=use, name=name, until=until.isoformat())
