"""The POS service: `/pos/v2/...` and the equivalent action addresses `/pos/...`, with the same body and answer."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from urllib.parse import parse_qs

from starlette.convertors import Convertor, register_url_convertor
from starlette.types import Receive, Scope

from promenade import metrics
from promenade.errors import Invalid, NotFound, PromenadeError
from promenade.web.access.auth import Authentication, Caller
from promenade.web.http.body import header, read_body, require_json
from promenade.web.http.endpoint import Answer, Endpoint, Handler
from promenade.web.pricing.decode import decode_cancel, decode_confirm, decode_evaluate, decode_prices
from promenade.web.pricing.encode import (
    encode_evaluation,
    encode_loyalty,
    encode_prices,
    encode_side_effects,
    encode_transaction,
)
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricedIteration, PricingRequest, evaluate, simulate
from promenade.workflows.pricing.prices import list_prices
from promenade.workflows.pricing.replay import as_answered
from promenade.workflows.sales.cancel import cancel
from promenade.workflows.sales.confirm import confirm
from promenade.workflows.sales.reading import read_iteration, read_loyalty, read_transaction
from promenade.workflows.sales.side_effects import side_effects_status
from promenade.workflows.sales.side_effects_requeue import requeue_side_effects

ADMINISTRATOR = "svc.Admin"
SCOPES = ("svc.POSReader", ADMINISTRATOR)
CANCEL_BYTES_MAX = 64 * 1024
_COUNTER_MAX = 2_147_483_647
_VERSION_40 = (b"odata-version", b"4.0")
_VERSION_401 = (b"odata-version", b"4.01")


class _Counter(Convertor[str]):
    """Digits at the end of a path; not an int, because a text of thousands of digits cannot become one."""

    regex = "[0-9]{1,10}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("counter", _Counter())

_Price = Callable[[Context, str, PricingRequest], Awaitable[PricedIteration]]


class _Watch:
    """A tenant's evaluation metrics, cached: each look-up by labels costs as much as decoding a line."""

    __slots__ = ("failed", "priced", "refused", "seconds", "simulated")

    def __init__(self, tenant_id: str) -> None:
        self.priced = metrics.evaluations.labels(tenant_id, "priced")
        self.simulated = metrics.evaluations.labels(tenant_id, "simulated")
        self.refused = metrics.evaluations.labels(tenant_id, "refused")
        self.failed = metrics.evaluations.labels(tenant_id, "failed")
        self.seconds = metrics.evaluate_duration.labels(tenant_id)


class Pos:
    """The handlers of the POS service."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        self._context = context
        self._authenticator = authenticator
        self._watches: dict[str, _Watch] = {}

    def endpoints(self) -> list[Endpoint]:
        """Return the routes, hot ones first; every action is also available under its qualified OData name."""
        actions: dict[str, Handler] = {
            "evaluate": self._evaluate,
            "simulate": self._simulate,
            "prices": self._prices,
            "confirm": self._confirm,
            "cancel": self._cancel_sale,
        }
        endpoints = [
            Endpoint(f"/pos/{prefix}{name}", {"POST": handler})
            for prefix in ("v2/", "", "PosService.")
            for name, handler in actions.items()
        ]
        # A transaction ID may contain slashes, which arrive decoded.
        transaction = "/pos/v2/transactions/{transaction_id:path}"
        side_effects = f"{transaction}/{{transaction_counter}}/side-effects"
        return [
            *endpoints,
            Endpoint(side_effects, {"GET": self._side_effects}),
            Endpoint(f"{side_effects}/requeue", {"POST": self._requeue}),
            Endpoint(f"{transaction}/{{transaction_counter:counter}}", {"GET": self._iteration}),
            Endpoint(transaction, {"GET": self._transaction}),
            Endpoint("/pos/v2/customers/{customer_id:path}/loyalty", {"GET": self._loyalty}),
        ]

    async def _caller(self, scope: Scope) -> Caller:
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(*SCOPES)
        return caller

    async def _evaluate(self, scope: Scope, receive: Receive) -> Answer:
        """Price a basket and store the result as the next iteration of its transaction.

        With `?strict=true` unknown fields are refused, each with the nearest known one; otherwise they are ignored.
        """
        return await self._price(scope, receive, evaluate, is_simulation=False)

    async def _simulate(self, scope: Scope, receive: Receive) -> Answer:
        """Price a basket and store nothing: no iteration, no counter, nothing is used up. `?strict=true` as above."""
        return await self._price(scope, receive, simulate, is_simulation=True)

    async def _price(self, scope: Scope, receive: Receive, price: _Price, *, is_simulation: bool) -> Answer:
        self._context.tills.seen()
        caller = await self._caller(scope)
        require_json(scope)
        body = await read_body(scope, receive)
        watch = self._watch_of(caller.tenant_id)
        started = time.perf_counter()
        try:
            request = decode_evaluate(
                body, is_simulation=is_simulation, client_id=caller.client_id, is_strict=_is_strict(scope)
            )
            priced = await price(self._context, caller.tenant_id, request)
        except PromenadeError:
            watch.refused.inc()
            raise
        except Exception:
            watch.failed.inc()
            raise
        answer = encode_evaluation(
            priced,
            tenant_id=self._context.shown_tenant_id(caller.tenant_id),
            source=self._context.source,
            instance_id=self._context.shown_instance_id,
            include_missed=request.include_missed,
            quoted=_wants_quoted_numbers(scope),
        )
        (watch.simulated if is_simulation else watch.priced).inc()
        watch.seconds.observe(time.perf_counter() - started)
        metrics.promotions_applied.inc(len(priced.outcome.applied))
        return Answer(answer, headers=[_odata_version(scope)])

    async def _prices(self, scope: Scope, receive: Receive) -> Answer:
        """Return what single articles cost, each as a basket of one unit of it. `?strict=true` as above."""
        caller = await self._caller(scope)
        require_json(scope)
        request = decode_prices(await read_body(scope, receive), is_strict=_is_strict(scope))
        listed = await list_prices(self._context, caller.tenant_id, request)
        answer = encode_prices(
            listed,
            tenant_id=self._context.shown_tenant_id(caller.tenant_id),
            source=self._context.source,
            instance_id=self._context.shown_instance_id,
            quoted=_wants_quoted_numbers(scope),
        )
        return Answer(answer, headers=[_odata_version(scope)])

    def _watch_of(self, tenant_id: str) -> _Watch:
        # INVARIANT: only existing tenants get here, which limits the number of metrics.
        watch = self._watches.get(tenant_id)
        if watch is None:
            watch = self._watches[tenant_id] = _Watch(tenant_id)
        return watch

    async def _confirm(self, scope: Scope, receive: Receive) -> Answer:
        """Confirm an iteration as a sale, once. The same confirm again gets the same answer and changes nothing."""
        self._context.tills.seen()
        caller = await self._caller(scope)
        require_json(scope)
        command = decode_confirm(await read_body(scope, receive))
        answer = await confirm(self._context, caller.tenant_id, command)
        return Answer(answer.body, headers=[_odata_version(scope)])

    async def _cancel_sale(self, scope: Scope, receive: Receive) -> Answer:
        """Undo a confirmed sale as a whole, once. A repeated cancel gets the same answer and changes nothing."""
        self._context.tills.seen()
        caller = await self._caller(scope)
        require_json(scope)
        command = decode_cancel(await read_body(scope, receive, CANCEL_BYTES_MAX))
        return Answer(await cancel(self._context, caller.tenant_id, command), headers=[_odata_version(scope)])

    async def _side_effects(self, scope: Scope, receive: Receive) -> Answer:
        """Return the status of the sale's side effects, up to a second old."""
        caller = await self._caller(scope)
        transaction_id, counter = _iteration(scope)
        result = await side_effects_status(self._context, caller.tenant_id, transaction_id, counter)
        return Answer(encode_side_effects(result), headers=[_odata_version(scope)])

    async def _iteration(self, scope: Scope, receive: Receive) -> Answer:
        """Return what evaluate answered for an iteration, the same bytes."""
        caller = await self._caller(scope)
        try:
            transaction_id, counter = _iteration(scope)
            stored = await read_iteration(self._context, caller.tenant_id, transaction_id, counter)
        except (Invalid, NotFound) as missing:
            # Or the whole is the ID of a transaction, such as till-7/0042.
            parameters = scope["path_params"]
            with suppress(NotFound):
                return await self._state(
                    scope, caller, f"{parameters['transaction_id']}/{parameters['transaction_counter']}"
                )
            raise missing from None
        answer = encode_evaluation(
            as_answered(stored, stored.outcome),
            tenant_id=self._context.shown_tenant_id(caller.tenant_id),
            source=self._context.source,
            instance_id=self._context.shown_instance_id,
            include_missed=stored.settings.include_missed,
            quoted=_wants_quoted_numbers(scope),
        )
        return Answer(answer, headers=[_odata_version(scope)])

    async def _transaction(self, scope: Scope, receive: Receive) -> Answer:
        """Return a transaction's iterations, whether one was confirmed, and what was returned of its lines."""
        caller = await self._caller(scope)
        return await self._state(scope, caller, scope["path_params"]["transaction_id"])

    async def _state(self, scope: Scope, caller: Caller, transaction_id: str) -> Answer:
        if not _is_name(transaction_id):
            raise NotFound("TRANSACTION_NOT_FOUND", "There is no such transaction.")
        state = await read_transaction(self._context, caller.tenant_id, transaction_id)
        return Answer(encode_transaction(state), headers=[_odata_version(scope)])

    async def _loyalty(self, scope: Scope, receive: Receive) -> Answer:
        """Return a customer's points and the latest bookings."""
        caller = await self._caller(scope)
        customer_id = scope["path_params"]["customer_id"]
        if not _is_name(customer_id):
            raise Invalid("VALIDATION_FAILED", "A customer ID has 1 to 50 characters.", "customerId")
        account = await read_loyalty(self._context, caller.tenant_id, customer_id)
        return Answer(encode_loyalty(account), headers=[_odata_version(scope)])

    async def _requeue(self, scope: Scope, receive: Receive) -> Answer:
        """Requeue failed side effects. For operators, after the cause of the failure is fixed."""
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(ADMINISTRATOR)
        transaction_id, counter = _iteration(scope)
        result = await requeue_side_effects(self._context, caller.tenant_id, transaction_id, counter, user=caller.user)
        return Answer(encode_side_effects(result), headers=[_odata_version(scope)])


def _iteration(scope: Scope) -> tuple[str, int]:
    """Return the iteration identified by the URL."""
    parameters = scope["path_params"]
    transaction_id, text = parameters["transaction_id"], parameters["transaction_counter"]
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= _COUNTER_MAX):
        message = "The counter must be a whole number of at least 1."
        raise Invalid("VALIDATION_FAILED", message, "transactionCounter")
    if not _is_name(transaction_id):
        raise NotFound("ITERATION_NOT_FOUND", "There is no such iteration.")
    return transaction_id, int(text)


def _is_name(text: str) -> bool:
    """Return whether a text of the URL may be the ID of a transaction or a customer."""
    return 1 <= len(text) <= 50 and "\0" not in text


def _is_strict(scope: Scope) -> bool:
    """Return whether unknown fields are to be refused. Raises Invalid (VALIDATION_FAILED)."""
    if not scope["query_string"]:
        return False
    given = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("strict", ["false"])
    if any(one not in ("true", "false") for one in given):
        raise Invalid("VALIDATION_FAILED", "`strict` must be true or false.", "strict")
    return "true" in given


def _odata_version(scope: Scope) -> tuple[bytes, bytes]:
    return _VERSION_401 if header(scope, b"odata-maxversion") == b"4.01" else _VERSION_40


def _wants_quoted_numbers(scope: Scope) -> bool:
    """Return whether the client asked for numbers as strings (OData JSON format, 3.2), lacking exact numbers."""
    accept = header(scope, b"accept")
    return accept is not None and b"ieee754compatible=true" in accept.lower().replace(b" ", b"")
