"""Promenade for tills and webshops: `Till` and `AsyncTill` call the service, `Queue` and `AsyncQueue` keep what could
not be sent.

Requests are in `promenade_client.requests`, answers in `promenade_client.answers`.
"""

from promenade_client.calling import ApiKey, ClientCredentials, Patience
from promenade_client.errors import Fault, NotAllowed, PromenadeError, Refused, TooMany, Unavailable
from promenade_client.operations import Article
from promenade_client.queue import AsyncQueue, Flushed, Queue
from promenade_client.sale import confirmation
from promenade_client.store import Command, SetAside
from promenade_client.till import AsyncTill, Till

__all__ = [
    "ApiKey",
    "Article",
    "AsyncQueue",
    "AsyncTill",
    "ClientCredentials",
    "Command",
    "Fault",
    "Flushed",
    "NotAllowed",
    "Patience",
    "PromenadeError",
    "Queue",
    "Refused",
    "SetAside",
    "Till",
    "TooMany",
    "Unavailable",
    "confirmation",
]

__version__ = "0.1.0"
