"""An identity provider: a real endpoint for its keys, and tokens of any kind, valid or not."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import JWSRegistry

__all__ = ["AUDIENCE", "ISSUER", "Asked", "KeyServer", "compact", "encoded", "new_ec", "new_rsa", "sign"]

ISSUER = "https://issuer.example"
AUDIENCE = "tills"

Asked = BaseHTTPRequestHandler
Key = RSAKey | ECKey


def new_rsa(key_id: str | None, bits: int = 2048) -> RSAKey:
    return RSAKey.generate_key(bits, None if key_id is None else {"kid": key_id}, private=True)


def new_ec(key_id: str | None, curve: Any = "P-256") -> ECKey:
    return ECKey.generate_key(curve, None if key_id is None else {"kid": key_id}, private=True)


class KeyServer:
    """Serves the public halves of ``keys``, or ``answers``; counts its requests."""

    def __init__(self, *keys: Key) -> None:
        self.keys: list[Key | dict[str, Any]] = list(keys)
        self.answers: Callable[[Asked], None] | None = None
        self.asked = 0
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked += 1
                if owner.answers is not None:
                    owner.answers(self)
                else:
                    owner.tell(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/keys"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def document(self) -> dict[str, Any]:
        """Return the published key set."""
        return {"keys": [key if isinstance(key, dict) else key.as_dict(private=False) for key in self.keys]}

    def tell(self, asked: Asked, body: bytes | None = None, status: int = 200, **headers: str) -> None:
        """Answer with ``body``, by default the keys."""
        body = json.dumps(self.document()).encode() if body is None else body
        asked.send_response(status)
        for name, value in headers.items():
            asked.send_header(name.replace("_", "-"), value)
        asked.send_header("Content-Length", str(len(body)))
        asked.end_headers()
        asked.wfile.write(body)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> KeyServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def encoded(value: Any) -> str:
    """Encode bytes, or the JSON of any other value, as Base64url."""
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def sign(text: str, key: Key, algorithm: str) -> bytes:
    """Sign a text with any algorithm that fits the key."""
    signature: bytes = JWSRegistry.algorithms[algorithm].sign(text.encode(), key)
    return signature


def compact(header: Any, payload: Any, key: Key, algorithm: str = "RS256") -> str:
    """Return a signed token with this header and payload, each given as bytes or as a value to encode as JSON."""
    text = f"{encoded(header)}.{encoded(payload)}"
    return f"{text}.{encoded(sign(text, key, algorithm))}"
