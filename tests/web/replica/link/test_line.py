"""The line between a store and its cloud, which other tests lay."""

from __future__ import annotations

import gc
import socket

import pytest

from tests.web.replica.link.line import Line


@pytest.mark.parametrize("turns", range(6))
def test_a_line_that_ends_as_somebody_connects_leaves_no_connection_open(turns: int) -> None:
    """It ends so many turns of its loop after a connection was made; what is left open is a warning, thus an error."""
    with socket.create_server(("127.0.0.1", 0)) as far:
        line = Line(far.getsockname()[1]).__enter__()
        near: list[socket.socket] = []

        def end_after(turns: int) -> None:
            if turns:
                line._loop.call_soon(end_after, turns - 1)
            else:
                line._loop.stop()

        def connect() -> None:
            near.append(socket.create_connection(("127.0.0.1", line.port)))
            end_after(turns)

        line._loop.call_soon_threadsafe(connect)
        line._thread.join()
        near[0].close()
    gc.collect()
