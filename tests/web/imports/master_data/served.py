"""The command `promenade` with an ingest that trusts a header instead of a certificate: `python -m ... serve ...`.

x-common-name is ``<name>@<tenant>``, or names the failure to simulate. CLOCK_FILE names a clock that tests move; with
WITHOUT_WORKER set, jobs stay as accepted.
"""

from __future__ import annotations

import os
from pathlib import Path

from starlette.types import Scope

from promenade import app
from promenade.cli import main
from promenade.errors import Forbidden, Unauthorized, Unavailable
from promenade.web.access.auth import Caller
from promenade.web.access.tls import certificates
from promenade.web.http.body import header
from tests.kit.moved_clock import MovedClock
from tests.kit.without_worker import rest


class ByHeader:
    """Authenticates by a header instead of certificates."""

    async def caller(self, scope: Scope) -> Caller:
        name = (header(scope, b"x-common-name") or b"").decode()
        if not name:
            raise Unauthorized("UNAUTHORIZED", "secret-tenant has no certificate.")
        if name == "stranger":
            raise Forbidden("NOT_TRUSTED", "stranger is unknown to secret-tenant.")
        if name == "unreachable":
            raise Unavailable("DATABASE_UNAVAILABLE", "The database of secret-tenant does not answer.")
        if name == "broken":
            raise LookupError("secret-tenant")
        return Caller(name.partition("@")[2], name, name, frozenset(), 0.0)


if __name__ == "__main__":
    vars(certificates)["Certificates"] = lambda *arguments: ByHeader()
    if "CLOCK_FILE" in os.environ:
        vars(app)["clock"] = MovedClock(Path(os.environ["CLOCK_FILE"]))
    if "WITHOUT_WORKER" in os.environ:
        vars(app)["run_worker"] = rest
    main()
