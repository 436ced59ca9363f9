"""Signatures as Standard Webhooks prescribes, made by its reference library."""

from __future__ import annotations

from datetime import datetime

from standardwebhooks import Webhook

__all__ = ["UnreadableSecret", "sign"]


class UnreadableSecret(Exception):
    """A secret that is not base64 with an optional `whsec_` before it, or is empty."""


def sign(secret: str | None, previous_secret: str | None, webhook_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """The headers webhook-id, webhook-timestamp and webhook-signature of one attempt made ``at`` (aware).

    While a secret is being rotated the one before signs too: two signatures, separated by a space. Without a
    ``secret`` there is no signature. Raises UnreadableSecret.
    """
    headers = {"webhook-id": webhook_id, "webhook-timestamp": str(int(at.timestamp()))}
    text = body.decode()
    signatures = [_signature(one, webhook_id, at, text) for one in (secret, previous_secret) if one]
    return headers | {"webhook-signature": " ".join(signatures)} if signatures else headers


def _signature(secret: str, webhook_id: str, at: datetime, text: str) -> str:
    try:
        return Webhook(secret).sign(webhook_id, at, text)
    except Exception as error:  # the library has no error of its own for all that can be wrong with a secret
        raise UnreadableSecret("the secret is not base64") from error
