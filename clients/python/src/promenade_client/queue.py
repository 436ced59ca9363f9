"""Commands that survive a line that is down and a process that dies: kept first, sent then, delivered once.

`Queue` is for `Till`, `AsyncQueue` for `AsyncTill`; what both do is in `_Delivery`, as steps that they carry out.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from promenade_client import operations
from promenade_client.answers import CancelCouponResponse, CancelResponse, ConfirmResponse, RedeemCouponResponse
from promenade_client.calling import Operation, Wait
from promenade_client.errors import PromenadeError, Refused, TooMany, Unavailable
from promenade_client.requests import CancelCouponRequest, CancelRequest, ConfirmRequest, RedeemCouponRequest
from promenade_client.store import Command, SetAside, Store
from promenade_client.till import AsyncTill, Till

T = TypeVar("T")
_log = logging.getLogger("promenade_client")
_FAILURES_MAX = 3  # in succession, then the service is taken to be down
_TURN_PAUSE, _TURNS_MAX = 0.02, 250  # how often another sender is waited for: five seconds in all

_KINDS: dict[str, Operation[Any]] = {
    "confirm": Operation("POST", "/pos/v2/confirm", ConfirmResponse),
    "cancel": Operation("POST", "/pos/v2/cancel", CancelResponse),
    "redeem": Operation("POST", "/pos/coupons/redeem", RedeemCouponResponse),
    "release": Operation("POST", "/pos/coupons/cancel", CancelCouponResponse),
}


@dataclass(frozen=True, slots=True)
class Flushed:
    """What came of a flush. ``stopped_by`` is the error for which it ended before all had been tried."""

    delivered: int = 0
    refused: list[SetAside] = field(default_factory=list)
    waiting: int = 0
    stopped_by: PromenadeError | None = None

    def pause(self, every: float) -> float:
        """Return when to flush again: after ``every`` seconds, or later if the service has asked for it."""
        asked = self.stopped_by.retry_after if isinstance(self.stopped_by, TooMany | Unavailable) else None
        return max(every, asked or 0.0)


_Steps = Generator[Operation[Any] | Wait, Any, T]


class _Delivery:
    """The steps of both queues."""

    def __init__(self, store: Store, tell: Callable[[SetAside], None] | None, now: Callable[[], datetime]) -> None:
        self._store = store
        self._tell = tell
        self._now = now

    def confirm(self, request: ConfirmRequest) -> _Steps[ConfirmResponse | None]:
        if request.timestamp is None:
            request = replace(request, timestamp=self._now())
        return self._send("confirm", request.transaction_id, operations.confirm(request))

    def cancel(self, request: CancelRequest) -> _Steps[CancelResponse | None]:
        return self._send("cancel", request.transaction_id, operations.cancel(request))

    def redeem(self, request: RedeemCouponRequest) -> _Steps[RedeemCouponResponse | None]:
        return self._send("redeem", request.transaction_id, operations.redeem_coupon(request))

    def release(self, request: CancelCouponRequest, transaction_id: str) -> _Steps[CancelCouponResponse | None]:
        return self._send("release", transaction_id, operations.release_coupon(request))

    def _send(self, kind: str, transaction_id: str, operation: Operation[Any]) -> _Steps[Any]:
        """Keep a command, then try to deliver it after those of its transaction that wait before it."""
        number = self._store.put(kind, transaction_id, operation.content or b"", self._now())
        while True:
            command, outcome = yield from self._one((), transaction_id)
            if command is None:
                return (yield from self._answer_of(number, operation))
            if isinstance(outcome, Refused):
                if command.id == number:
                    raise outcome
            elif isinstance(outcome, PromenadeError):
                _log.warning("the %s of %s waits in the queue: %s", kind, transaction_id, outcome)
                return None
            elif command.id == number:
                return outcome

    def _answer_of(self, number: int, operation: Operation[Any]) -> _Steps[Any]:
        """Return what came of a command that another sender may have delivered: a repeat gets the same answer."""
        if any(one.id == number for one in self._store.waiting()):
            return None
        for aside in self._store.refused():
            if aside.id == number:
                refusal = Refused(aside.code, aside.message, field=aside.field, status=aside.status)
                refusal.command = number
                raise refusal
        outcome = yield operation
        return None if isinstance(outcome, PromenadeError) else outcome

    def flush(self) -> _Steps[Flushed]:
        """Deliver what waits, until all is delivered or the service is down."""
        delivered, failures = 0, 0
        refused: list[SetAside] = []
        tried: set[str] = set()
        stopped_by: PromenadeError | None = None
        while stopped_by is None:
            command, outcome = yield from self._one(tried, None)
            if command is None:
                break
            if isinstance(outcome, Refused):
                refused.append(_aside(command, outcome))
                failures = 0
            elif isinstance(outcome, Unavailable):
                tried.add(command.transaction_id)
                failures += 1
                if failures == _FAILURES_MAX or not outcome.was_sent:
                    stopped_by = outcome
            elif isinstance(outcome, PromenadeError):
                stopped_by = outcome
            else:
                delivered += 1
                failures = 0
        return Flushed(delivered, refused, self._store.count(), stopped_by)

    def _one(
        self, tried: set[str] | tuple[()], transaction_id: str | None
    ) -> _Steps[tuple[Command | None, object | PromenadeError]]:
        """Send one command in this sender's turn; return it with its answer or error, None if there is none to send."""
        for _ in range(_TURNS_MAX):
            with self._store.turn() as is_mine:
                if is_mine:
                    command = self._store.next(tried, transaction_id)
                    if command is None:
                        return None, None
                    outcome = yield replace(_KINDS[command.kind], content=command.body)
                    return command, self._settled(command, outcome)
            yield Wait(_TURN_PAUSE)
        return None, None

    def _settled(self, command: Command, outcome: object) -> object:
        """Record what came of a command; return its answer or its error."""
        refusal = _refusal(outcome)
        if refusal is not None:
            refusal.command = command.id
            aside = _aside(command, refusal)
            self._store.set_aside(aside)
            _log.error("the %s of %s was refused and set aside: %s", command.kind, command.transaction_id, refusal)
            if self._tell is not None:
                self._tell(aside)
            return refusal
        if isinstance(outcome, PromenadeError):
            self._store.failed(command.id, str(outcome))
        else:
            self._store.delivered(command.id)
        return outcome


def _refusal(outcome: object) -> Refused | None:
    """Return the error of a command that was refused for good, also of one that was answered by a business "no"."""
    match outcome:
        case Refused():
            return outcome
        case RedeemCouponResponse(is_redeemed=False) | CancelCouponResponse(is_released=False):
            return Refused(outcome.reason or "UNKNOWN", outcome.message, status=200)
    return None


def _aside(command: Command, refusal: Refused) -> SetAside:
    about = (command.id, command.kind, command.transaction_id, command.body, command.put_at)
    return SetAside(*about, refusal.code, refusal.message, refusal.field, refusal.status)


class _Kept:
    """What both queues say about their file."""

    def __init__(
        self,
        path: Path | str,
        tell: Callable[[SetAside], None] | None,
        now: Callable[[], datetime],
    ) -> None:
        self._store = Store(path)
        self._delivery = _Delivery(self._store, tell, now)

    def waiting(self) -> list[Command]:
        """Return the commands that wait, in the order in which they came."""
        return self._store.waiting()

    def refused(self) -> list[SetAside]:
        """Return the commands that were refused and set aside."""
        return self._store.refused()

    def again(self, number: int) -> None:
        """Let a command that was set aside wait again, at its old place. Raises LookupError."""
        self._store.again(number)

    def forget(self, number: int) -> None:
        """Delete a command that was set aside. Raises LookupError."""
        self._store.forget(number)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Queue(_Kept):
    """Commands kept in the file ``path`` until ``till`` has delivered them; the till stays the caller's to close.

    Each is on the disk before it is sent. Commands of one transaction are sent in order, and one command at a time,
    whatever number of threads and processes use the file. A command that is refused for good is set aside, logged, and
    told to ``tell``. ``now`` is the clock for times of sales.
    """

    def __init__(
        self,
        path: Path | str,
        till: Till,
        *,
        tell: Callable[[SetAside], None] | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        super().__init__(path, tell, now)
        self._till = till

    def confirm(self, request: ConfirmRequest) -> ConfirmResponse | None:
        """Keep a confirm and send it; return its answer, or None while it waits. Raises Refused.

        Without a ``timestamp`` it gets the present one: the sale is made now, whenever it is delivered.
        """
        return self._follow(self._delivery.confirm(request))

    def cancel(self, request: CancelRequest) -> CancelResponse | None:
        """Keep the cancel of a sale and send it, as `confirm` does."""
        return self._follow(self._delivery.cancel(request))

    def redeem_coupon(self, request: RedeemCouponRequest) -> RedeemCouponResponse | None:
        """Keep the redemption of a reserved code and send it, as `confirm` does; a "no" is raised as Refused."""
        return self._follow(self._delivery.redeem(request))

    def release_coupon(self, request: CancelCouponRequest, *, transaction_id: str) -> CancelCouponResponse | None:
        """Keep the release of a code that ``transaction_id`` has reserved and send it, as `redeem_coupon` does."""
        return self._follow(self._delivery.release(request, transaction_id))

    def flush(self) -> Flushed:
        """Deliver what waits, oldest first and in order within a transaction, until the service is down."""
        return self._follow(self._delivery.flush())

    @contextmanager
    def delivering(self, every: float = 30.0) -> Iterator[None]:
        """Flush in the background, now, every so many seconds, and at the end."""
        ends = threading.Event()

        def work() -> None:
            while True:
                if ends.wait(self._flush_and_go_on().pause(every)):
                    return

        worker = threading.Thread(target=work, name="promenade-queue", daemon=True)
        worker.start()
        try:
            yield
        finally:
            ends.set()
            worker.join()
            self._flush_and_go_on()

    def _flush_and_go_on(self) -> Flushed:
        try:
            return self.flush()
        except Exception:
            _log.exception("the queue could not be flushed; it is tried again")
            return Flushed()

    def _follow(self, steps: _Steps[T]) -> T:
        outcome: Any = None
        try:
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration as done:
                    answer: T = done.value
                    return answer
                outcome = self._carry_out(step)
        finally:
            steps.close()

    def _carry_out(self, step: Operation[Any] | Wait) -> object:
        if isinstance(step, Wait):
            self._till.sleep(step.seconds)
            return None
        try:
            return self._till.run(step, repeats=False)
        except PromenadeError as error:
            return error


class AsyncQueue(_Kept):
    """`Queue` for an `AsyncTill`: the same file, the same promises. The file is written in threads."""

    def __init__(
        self,
        path: Path | str,
        till: AsyncTill,
        *,
        tell: Callable[[SetAside], None] | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        super().__init__(path, tell, now)
        self._till = till

    async def confirm(self, request: ConfirmRequest) -> ConfirmResponse | None:
        """Keep a confirm and send it; return its answer, or None while it waits. Raises Refused.

        Without a ``timestamp`` it gets the present one: the sale is made now, whenever it is delivered.
        """
        return await self._follow(self._delivery.confirm(request))

    async def cancel(self, request: CancelRequest) -> CancelResponse | None:
        """Keep the cancel of a sale and send it, as `confirm` does."""
        return await self._follow(self._delivery.cancel(request))

    async def redeem_coupon(self, request: RedeemCouponRequest) -> RedeemCouponResponse | None:
        """Keep the redemption of a reserved code and send it, as `confirm` does; a "no" is raised as Refused."""
        return await self._follow(self._delivery.redeem(request))

    async def flush(self) -> Flushed:
        """Deliver what waits, oldest first and in order within a transaction, until the service is down."""
        return await self._follow(self._delivery.flush())

    @asynccontextmanager
    async def delivering(self, every: float = 30.0) -> AsyncIterator[None]:
        """Flush in the background, now, every so many seconds, and at the end."""
        ends = asyncio.Event()

        async def work() -> None:
            while not ends.is_set():
                flushed = await self._flush_and_go_on()
                with suppress(TimeoutError):
                    await asyncio.wait_for(ends.wait(), flushed.pause(every))

        worker = asyncio.create_task(work())
        try:
            yield
        finally:
            ends.set()
            await worker
            await self._flush_and_go_on()

    async def _flush_and_go_on(self) -> Flushed:
        try:
            return await self.flush()
        except Exception:
            _log.exception("the queue could not be flushed; it is tried again")
            return Flushed()

    async def _follow(self, steps: _Steps[T]) -> T:
        outcome: Any = None
        try:
            while True:
                advanced = await _whole(asyncio.to_thread(_advance, steps, outcome))
                if isinstance(advanced, _Done):
                    answer: T = advanced.value
                    return answer
                outcome = await self._carry_out(advanced)
        finally:
            steps.close()

    async def _carry_out(self, step: Operation[Any] | Wait) -> object:
        if isinstance(step, Wait):
            await self._till.sleep(step.seconds)
            return None
        try:
            return await self._till.run(step, repeats=False)
        except PromenadeError as error:
            return error


async def _whole(work: Coroutine[Any, Any, T]) -> T:
    """Await a step to its end, also if the caller is cancelled meanwhile: a thread cannot be."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


@dataclass(frozen=True, slots=True)
class _Done:
    value: Any


def _advance(steps: _Steps[Any], outcome: object) -> Operation[Any] | Wait | _Done:
    try:
        return steps.send(outcome)
    except StopIteration as done:
        return _Done(done.value)
