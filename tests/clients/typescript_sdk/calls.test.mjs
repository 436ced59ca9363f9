// Calls of a till: a sale from basket to side effects, repeats, deadlines, tokens, and an error of each kind.

import assert from "node:assert/strict";
import {createServer} from "node:http";
import {inspect} from "node:util";
import {after, before, beforeEach, test} from "node:test";
import {
  ApiKey,
  ClientCredentials,
  NotAllowed,
  PromenadeError,
  Refused,
  Till,
  TooMany,
  Unavailable,
  confirmation,
  isRedeemed,
  isReleased
} from "promenade-client";
import {
  BUSY,
  Hour,
  Line,
  TIRED,
  WITHDRAWN,
  answer,
  basket,
  clientId,
  credentials,
  lostAnswer,
  lostBefore,
  newTransaction,
  secret,
  tillOn,
  url
} from "./line.mjs";

const TYPE_ID = "0e000000-0000-4000-8000-000000000001";
let coupons = 0;
let line, hour, till;

beforeEach(() => {
  line = new Line();
  hour = new Hour();
  till = tillOn(line, {hour});
});

const errorOf = (promise) =>
  promise.then(
    () => assert.fail("it succeeded"),
    (error) => error
  );

// --- what a till does ------------------------------------------------------------------------------------------------

test("a sale is priced, confirmed, read and cancelled", async () => {
  const transaction = newTransaction();
  const priced = await till.evaluate(basket(transaction));
  assert.deepEqual(priced.totals.grandTotal, {value: "9.00", currency: "EUR"});
  assert.equal(priced.lineItems[0].lineTotal.value, "10.00");
  assert.equal((await till.confirm(confirmation(priced))).confirmed, true);
  const found = await till.transaction(transaction);
  assert.deepEqual([found.confirmed, found.cancelled, found.confirmation.transactionCounter], [true, false, 1]);
  assert.deepEqual(await till.iteration(transaction, 1), priced);
  let effects;
  do {
    effects = await till.sideEffects(transaction, 1);
  } while (effects.status !== "COMPLETED");
  const cancelled = await till.cancel({transactionId: transaction, transactionCounter: 1, reason: "Void"});
  assert.deepEqual([cancelled.cancelled, cancelled.budgetsGivenBack], [true, []]);
});

test("goods come back by a negative quantity, and the refund is what was paid", async () => {
  const [sold, returned] = [newTransaction(), newTransaction()];
  await till.confirm(confirmation(await till.evaluate(basket(sold))));
  const additionalFields = Object.entries({originalTransactionId: sold, originalLineReference: "1"}).map(
    ([key, value]) => ({key, value})
  );
  const items = [{articleNumber: "A-1", quantity: "-1", unitPrice: "5.00", additionalFields}];
  const priced = await till.evaluate(basket(returned, {items}));
  const {status, amount, pointsTakenBack} = priced.lineItems[0].refund;
  assert.deepEqual([status, amount.value, pointsTakenBack], ["MATCHED", "4.50", 0]);
  assert.equal(priced.totals.payable.value, "-4.50");
  await till.confirm(confirmation(priced));
  const {lines} = (await till.transaction(sold)).confirmation;
  assert.equal(Number(lines[0].returnedQuantity), 1);
});

test("a coupon is validated, reserved, released and redeemed", async () => {
  const [code, transactionId] = [`SAVE-${(coupons += 1)}`, newTransaction()];
  assert.equal((await till.validateCoupon({code})).valid, true);
  let held = await till.reserveCoupon({code, transactionId});
  assert.deepEqual(await till.reserveCoupon({code, transactionId}), held);
  assert.ok(held.expiresAt);
  assert.ok(isReleased(await till.releaseCoupon({reservationId: held.reservationId})));
  assert.ok(isReleased(await till.releaseCoupon({reservationId: held.reservationId})));
  held = await till.reserveCoupon({code, transactionId});
  const request = {reservationId: held.reservationId, transactionId};
  assert.equal((await till.redeemCoupon(request)).redeemed, true);
  const again = await till.redeemCoupon(request);
  assert.deepEqual([again.redeemed, isRedeemed(again)], [false, true]);
  assert.ok(!isRedeemed(await till.redeemCoupon({...request, transactionId: "another"})));
  const activation = await till.activateCoupon({code, customerId: "C1"});
  assert.deepEqual([activation.activated, activation.reason], [false, "ALREADY_REDEEMED"]);
});

test("coupons are issued once although the answer is lost", async () => {
  line.faults.push(lostAnswer);
  const request = {couponTypeId: TYPE_ID, customerIds: ["C1", "C2"], metadata: {from: "SDK", weight: 1.5}};
  assert.equal((await till.issueCoupons(request)).issuedCount, 2);
  const [first, second] = line.sent().map((one) => one.headers["idempotency-key"]);
  assert.equal(first, second);
  await till.issueCoupons(request, {key: newTransaction()});
  assert.notEqual(line.sent().at(-1).headers["idempotency-key"], first);
});

test("points, articles and the heartbeat are there", async () => {
  assert.equal((await till.loyalty("nobody/at all")).balance, 0);
  const imported = await till.importArticles([{articleNumber: "TS-1", name: "Tea", basePrice: "2.50", ean: null}]);
  assert.deepEqual([imported.failed, imported.results[0].articleNumber], [0, "TS-1"]);
  assert.equal((await till.heartbeat()).status, "UP");
  await assert.rejects(till.loyalty(".."), TypeError);
});

// --- repeats ---------------------------------------------------------------------------------------------------------

test("a confirm whose answer was lost is sent again and counts once", async () => {
  const transaction = newTransaction();
  const request = confirmation(await till.evaluate(basket(transaction)));
  line.faults.push(lostAnswer, lostBefore, BUSY, lostAnswer);
  line.requests = [];
  const confirmed = await till.confirm(request);
  assert.equal(confirmed.confirmed, true);
  assert.deepEqual(line.paths(), Array(5).fill("/pos/v2/confirm"));
  assert.equal(new Set(line.sent().map((one) => one.body)).size, 1);
  assert.deepEqual(await till.confirm(request), confirmed);
  assert.equal((await till.transaction(transaction)).iterations.length, 1);
});

test("pauses grow and heed Retry-After", async () => {
  line.faults.push(BUSY, BUSY, TIRED, BUSY);
  assert.equal((await till.heartbeat()).status, "UP");
  assert.deepEqual(hour.waits, [0.2, 0.4, 3, 1.6]);
});

test("a date in Retry-After counts from the date of the answer", async () => {
  const told = {"retry-after": "Fri, 01 May 2026 10:00:07 GMT", date: "Fri, 01 May 2026 10:00:00 GMT"};
  line.faults.push(answer(503, "busy", told));
  assert.equal((await till.heartbeat()).status, "UP");
  assert.deepEqual(hour.waits, [7]);
});

test("pauses differ between tills by luck, and grow no further than the longest", async () => {
  line.isDown = true;
  await errorOf(tillOn(line, {hour, luck: () => 0, deadline: 60, longestPause: 1}).heartbeat());
  assert.deepEqual(hour.waits.slice(0, 5), [0.1, 0.2, 0.4, 0.5, 0.5]);
});

test("a call ends at its deadline", async () => {
  line.isDown = true;
  const begun = hour.now;
  const error = await errorOf(tillOn(line, {hour, deadline: 2}).heartbeat());
  assert.ok(error instanceof Unavailable);
  assert.deepEqual([error.code, error.wasSent], ["NO_ANSWER", false]);
  assert.ok(hour.now - begun < 2);
  assert.deepEqual(hour.waits, [0.2, 0.4, 0.8]);
});

test("a wait beyond the deadline is not begun", async () => {
  line.faults.push(TIRED);
  const error = await errorOf(tillOn(line, {hour, deadline: 2}).heartbeat());
  assert.ok(error instanceof TooMany);
  assert.deepEqual([error.code, error.retryAfter, hour.waits], ["RATE_LIMITED", 3, []]);
});

test("times that nobody means in seconds are not taken", () => {
  for (const patience of [{timeout: 5000}, {deadline: 0}, {firstPause: -1}, {longestPause: NaN}]) {
    const [name] = Object.keys(patience);
    assert.throws(() => new Till(url, credentials, {patience}), {name: "RangeError", message: new RegExp(name)});
  }
});

// --- errors ----------------------------------------------------------------------------------------------------------

test("a refusal names code, field and all faults", async () => {
  const items = [{articleNumber: "A-1", quantity: "0", unitPrice: "1.234"}];
  const error = await errorOf(till.evaluate(basket(undefined, {items})));
  assert.ok(error instanceof Refused && error instanceof PromenadeError);
  assert.deepEqual([error.status, error.code, error.field], [400, "VALIDATION_FAILED", "items[0].quantity"]);
  assert.deepEqual(error.faults.map(({code, field}) => [code, field]).sort(), [
    ["QUANTITY_ZERO", "items[0].quantity"],
    ["TOO_MANY_DECIMALS", "items[0].unitPrice"]
  ]);
  assert.ok(error.correlationId);
  assert.match(error.message, /^VALIDATION_FAILED: ./);
  assert.deepEqual(hour.waits, []);
  await assert.rejects(till.transaction("nobody's"), {name: "Refused", code: "TRANSACTION_NOT_FOUND"});
});

test("a number of JavaScript is no amount, and nothing is sent", async () => {
  const items = [{articleNumber: "A-1", quantity: "1", unitPrice: 5}];
  await assert.rejects(till.evaluate(basket(undefined, {items})), {
    name: "TypeError",
    message: /items\[0\]\.unitPrice/
  });
  for (const wrong of ["5,00", "1e3", "", " 5", "NaN", "+5", ".5"]) {
    await assert.rejects(till.simulate(basket(undefined, {items: [{...items[0], unitPrice: wrong}]})), TypeError);
  }
  await assert.rejects(till.simulate(basket(undefined, {timestamp: "2026-05-04T10:30:00"})), /timestamp.*zone/);
  assert.deepEqual(line.requests, []);
});

test("a wrong secret is not allowed, and no secret is shown", async () => {
  const wrong = new ClientCredentials(clientId, "wrong");
  const error = await errorOf(tillOn(line, {as: wrong}).heartbeat());
  assert.ok(error instanceof NotAllowed);
  assert.deepEqual([error.status, error.code, line.tokens()], [401, "invalid_client", 1]);
  for (const one of [wrong, new ApiKey("wrong"), new Till(url, wrong)]) {
    assert.doesNotMatch(inspect(one, {depth: 9, showHidden: true}) + JSON.stringify(one), /wrong/);
  }
});

test("a scope that the client has not is not allowed, and no verdict about the request", async () => {
  const error = await errorOf(
    tillOn(line, {as: new ClientCredentials(clientId, secret, {scope: "svc.Admin"})}).heartbeat()
  );
  assert.ok(error instanceof NotAllowed);
  assert.deepEqual([error.code, line.paths()], ["invalid_scope", []]);
});

for (const [what, strange] of Object.entries({
  "a page": answer(200, "<html>Log in to the network</html>"),
  "an unknown page": answer(404, "nothing here"),
  "another address": answer(302, "", {location: "http://127.0.0.1:1/"}),
  "another message": answer(200, []),
  "a message without its fields": answer(200, {status: "UP"})
})) {
  test(`${what} is no verdict`, async () => {
    line.faults.push(strange);
    assert.equal((await till.heartbeat()).status, "UP");
    assert.deepEqual(hour.waits, [0.2]);
  });
}

test("another address of the service is not taken for a refusal", async () => {
  const elsewhere = tillOn(line, {hour, at: `${url}/elsewhere`, as: new ApiKey("k"), deadline: 0.1});
  await assert.rejects(elsewhere.heartbeat(), {name: "Unavailable"});
  for (const wrong of ["promenade.example", "", undefined]) {
    assert.throws(() => new Till(wrong, credentials), TypeError);
  }
  assert.throws(() => new Till(url, {clientId, secret}), /ClientCredentials or ApiKey/);
  assert.throws(() => new ClientCredentials(clientId, undefined), /clientSecret/);
});

test("a store gets the key of its till", async () => {
  const sent = [];
  const fetch = async (address, request) => {
    sent.push(request);
    return answer(401, {error: {code: "UNAUTHORIZED", message: "The API key is invalid."}})();
  };
  const store = new Till("http://store/", new ApiKey("secret"), {fetch});
  await assert.rejects(store.heartbeat(), {name: "NotAllowed"});
  assert.equal(sent.length, 1);
  assert.equal(sent[0].headers["x-api-key"], "secret");
});

// --- the platform's fetch --------------------------------------------------------------------------------------------

let strange;
const led = [];
before(async () => {
  strange = createServer((request, response) => {
    led.push(request.url);
    if (request.url === "/led") {
      response.writeHead(307, {location: `${url}/pos/heartbeat`}).end();
    } else if (request.url.startsWith("/pos/")) {
      response.writeHead(307, {location: "/led"}).end();
    }
  });
  await new Promise((listening) => strange.listen(0, "127.0.0.1", listening));
});
after(() => {
  strange.closeAllConnections();
  strange.close();
});

test("what is not answered in time may have been sent; credentials are not led elsewhere", async () => {
  const at = `http://127.0.0.1:${strange.address().port}`;
  const hung = await errorOf(
    new Till(`${at}/hangs`, new ApiKey("k"), {patience: {deadline: 1, timeout: 1}}).heartbeat()
  );
  assert.ok(hung instanceof Unavailable);
  assert.deepEqual([hung.code, hung.wasSent], ["NO_ANSWER", true]);
  const once = {firstPause: 60, longestPause: 60}; // longer than the deadline
  const away = await errorOf(new Till(at, new ApiKey("k"), {patience: once}).heartbeat());
  assert.deepEqual([away.code, away.status], ["HTTP_307", 307]);
  assert.ok(!led.includes("/led"));
});

test("what could not be connected was not sent", async () => {
  const gone = createServer();
  await new Promise((listening) => gone.listen(0, "127.0.0.1", listening));
  const {port} = gone.address();
  await new Promise((closed) => gone.close(closed));
  const patience = {deadline: 0.1};
  const nobody = await errorOf(new Till(`http://127.0.0.1:${port}`, new ApiKey("k"), {patience}).heartbeat());
  assert.deepEqual([nobody.code, nobody.wasSent], ["NO_ANSWER", false]);
  assert.match(nobody.message, /ECONNREFUSED/);
});

test("the platform's fetch and clock are the default", async () => {
  assert.equal((await new Till(url, credentials).heartbeat()).status, "UP");
});

// --- tokens ----------------------------------------------------------------------------------------------------------

test("a token is kept, and renewed once before it ends, for all who wait for it", async () => {
  await Promise.all(Array.from({length: 5}, () => till.heartbeat()));
  await till.heartbeat();
  assert.equal(line.tokens(), 1);
  hour.now += 4 * 3600 - 61;
  await till.heartbeat();
  assert.equal(line.tokens(), 1);
  hour.now += 2; // a minute before the end
  await Promise.all(Array.from({length: 8}, () => till.heartbeat()));
  assert.equal(line.tokens(), 2);
});

test("a withdrawn token is renewed once", async () => {
  line.faults.push(WITHDRAWN);
  assert.equal((await till.heartbeat()).status, "UP");
  assert.deepEqual([line.tokens(), hour.waits], [2, []]);
  line.faults.push(WITHDRAWN, WITHDRAWN);
  await assert.rejects(till.heartbeat(), {name: "NotAllowed", message: /withdrawn/});
  assert.equal(line.tokens(), 3);
});

test("one withdrawn token is renewed once for all calls", async () => {
  await till.heartbeat();
  line.faults.push(WITHDRAWN, WITHDRAWN);
  await Promise.all([till.heartbeat(), till.heartbeat()]);
  assert.equal(line.tokens(), 2);
});

test("a token is asked for again while the issuer is busy", async () => {
  let asked = 0;
  const busy = async (address, request) => ((asked += 1) < 3 ? BUSY() : fetch(address, request));
  const patience = {clock: hour.clock, luck: () => 1};
  const patient = new Till(url, credentials, {patience, fetch: busy, sleep: hour.sleep});
  assert.equal((await patient.heartbeat()).status, "UP");
  assert.deepEqual([asked, hour.waits], [4, [0.2, 0.4]]);
});
