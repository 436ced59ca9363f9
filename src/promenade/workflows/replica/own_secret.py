"""A store replaces the secret of its link itself: when it is due, and an enrolment code at once.

INVARIANT: the next secret is in the store's database before the cloud is asked, and the present one stays there until
the cloud has answered. So whenever the store stops, one of the two is accepted, and the same request is sent again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from promenade.log import Logger
from promenade.store.driver.unit import Database
from promenade.store.replica.link import begin_secret, end_secret, read_link
from promenade.workflows.replica.cloud_client import HttpCloudClient
from promenade.workflows.uplink import CloudRefused, CloudUnreachable

_UNAUTHORIZED = 401
_log = Logger(__name__)


async def keep_secret(database: Database, client: HttpCloudClient, make: Callable[[], str] | None = None) -> bool:
    """Do as `replace_secret` does, but do not stop the link if the cloud fails: another round tries again.

    As long as the present secret is accepted, nothing is missing. Only raises Unavailable, if the store's own database
    is unreachable.
    """
    try:
        return await replace_secret(database, client, make)
    except (CloudRefused, CloudUnreachable) as error:
        _log.warning("uplink.secret_kept", reason=error.message)
        return False


async def replace_secret(database: Database, client: HttpCloudClient, make: Callable[[], str] | None = None) -> bool:
    """Replace the secret if ``client`` was told that it is due, or if that was begun; return whether it was replaced.

    ``make`` returns 256 random bits as text; None: only what was begun is brought to its end. Raises CloudUnreachable
    and CloudRefused; then the store has both secrets, and begins no third.
    """
    link = await database.read(read_link, system=True)
    if link is None or link.settings.client_id != client.access.client_id:
        return False  # the settings have changed: the worker takes them up
    client_id, present, following = link.settings.client_id, link.settings.client_secret, link.next_secret
    if present != client.access.client_secret:  # another process has replaced it
        client.use_secret(present)
    if following is None:
        if make is None or not client.is_secret_due:
            return False
        following = make()
        begin = partial(begin_secret, client_id=client_id, present=present, following=following)
        await database.write(begin, system=True)
        link = await database.read(read_link, system=True)
        if link is None or link.next_secret != following:
            return False  # another process was first
    await _ask(client, present, following)
    await database.write(partial(end_secret, client_id=client_id, following=following), system=True)
    client.use_secret(following)
    _log.info("uplink.secret_replaced", client=client_id)
    return True


async def _ask(client: HttpCloudClient, present: str, following: str) -> None:
    try:
        await client.replace_secret(present, following)
    except CloudRefused as error:
        if error.status != _UNAUTHORIZED:
            raise
        await client.replace_secret(following, following)  # it was replaced, and the answer got lost
