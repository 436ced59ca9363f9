"""How a process that is asked to stop takes leave of its load balancer.

On SIGTERM it goes on serving for some seconds, but says that it is not ready and closes each connection after an
answer, so that nobody sends it a request that it will not answer. Then it stops: no new connections, and what is under
way is finished. A second SIGTERM, or an interrupt from the keyboard, stops it at once.
"""

from __future__ import annotations

import asyncio
import signal
from types import FrameType

from promenade.log import Logger

_log = Logger(__name__)


class Leaving:
    """Whether this process is about to stop. ``seconds``: how long it still serves; 0: not at all."""

    def __init__(self, seconds: float = 0) -> None:
        self._seconds = seconds
        self.has_begun = False

    def await_signal(self) -> None:
        """Delay what SIGTERM does so far. Call it in the event loop of the main thread, once the server runs."""
        if not self._seconds:
            return
        loop, stops = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)

        def stop(number: int, frame: FrameType | None) -> None:
            if callable(stops):
                stops(number, frame)

        def begin() -> None:
            _log.info("process.leaves", serves_seconds=self._seconds)
            loop.call_later(self._seconds, stop, int(signal.SIGTERM), None)

        def asked(number: int, frame: FrameType | None) -> None:
            if self.has_begun:
                stop(number, frame)
                return
            self.has_begun = True
            loop.call_soon_threadsafe(begin)

        signal.signal(signal.SIGTERM, asked)
