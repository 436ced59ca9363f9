"""The lines of the log: one form for all of them, whoever writes them, as key=value pairs or as JSON.

structlog writes what this program logs; libraries log by the standard library, whose records get the same form here, so
that a server that starts well does not load structlog.
"""

# ruff: noqa: PLC0415 -- see above

from __future__ import annotations

import json
import logging
import re
import sys
import threading
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any

from promenade.log import configure_with, request_fields
from promenade.settings import LOG_FORMATS

__all__ = ["configure_log"]

LOGFMT, JSON = LOG_FORMATS
_KEYS = ("timestamp", "level", "event", "logger")
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
_BARE = re.compile(r"[^\s\"'=\\]+")


def configure_log(form: str = LOGFMT) -> None:
    """Log to standard error, one line per event, in one of `LOG_FORMATS`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(form))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells of each of its plugins
    logging.getLogger("mcp").setLevel(logging.WARNING)  # it tells of each request that it begins and ends
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)  # a line for each batch that is lost, not for each try
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # otherwise a store's link logs two useless lines a minute
    configure_with(partial(_configure_structlog, form))
    if form == JSON:  # what the interpreter itself would write as it likes
        logging.captureWarnings(True)
        sys.excepthook = _log_uncaught
        threading.excepthook = lambda given: _log_uncaught(
            given.exc_type, given.exc_value or given.exc_type(), given.exc_traceback
        )


def _log_uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Log an error that nobody has caught."""
    if not issubclass(kind, KeyboardInterrupt | SystemExit):
        logging.getLogger("promenade").critical("uncaught error", exc_info=(kind, error, traceback))


class _Lines(logging.Formatter):
    """Writes records of the standard library."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._render = _json if form == JSON else _logfmt

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "timestamp": datetime.fromtimestamp(record.created, UTC).strftime(_TIME),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            **request_fields(),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return self._render(fields)


def _json(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, default=str)


def _logfmt(fields: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in fields.items())


def _value(value: object) -> str:
    """Return a value that neither ends its line nor moves a terminal's cursor, whoever it comes from."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    text = str(value)
    is_printable = text.isprintable()
    if is_printable and _BARE.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=not is_printable).replace("\x7f", "\\u007f")


def _configure_structlog(form: str) -> None:
    import structlog

    render = _json if form == JSON else _logfmt
    structlog.configure(
        processors=[
            _of_request,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt=_TIME, utc=True),
            structlog.processors.format_exc_info,
            lambda logger, method, fields: render({key: fields[key] for key in (*_KEYS, *fields) if key in fields}),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _of_request(logger: object, method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add which request is being served, unless the event names another."""
    for name, value in request_fields().items():
        fields.setdefault(name, value)
    return fields
