// What could not be sent is kept, in order, and delivered once; what is refused is set aside and stops nothing.

import assert from "node:assert/strict";
import {readdir} from "node:fs/promises";
import {afterEach, beforeEach, test} from "node:test";
import {ClientCredentials, NotAllowed, Refused, TooMany, Unavailable, pauseAfter} from "promenade-client";
import {
  CONFIRM,
  SALE_AT,
  close,
  desk,
  isConfirmed,
  open,
  queueOf,
  sale,
  sales,
  up,
  voidOf,
  whileDown
} from "./desk.mjs";
import {BROKEN, BUSY, TIRED, WITHDRAWN, clientId, lostAnswer, newTransaction, secret, tillOn} from "./line.mjs";

let coupons = 49; // other files use those before

const transactions = (commands) => commands.map((one) => one.transactionId);

beforeEach(open);
afterEach(close);

test("a sale is confirmed when the line is back, with the time it was made", async () => {
  const {folder, line, till} = desk;
  const request = await sale();
  desk.queue = queueOf(folder, till, {now: () => SALE_AT});
  const {queue} = desk;
  await line.down(async () => {
    assert.equal(await queue.confirm(request), null);
    assert.equal((await queue.flush()).waiting, 1);
  });
  assert.equal(await isConfirmed(request), false);
  const [command] = await queueOf(folder).waiting(); // as another process finds it
  assert.deepEqual(
    [command.kind, command.transactionId, command.attempts, command.putAt],
    ["confirm", request.transactionId, 2, SALE_AT.toISOString()]
  );
  assert.match(command.lastError, /NO_ANSWER/);
  assert.equal((await queue.flush()).delivered, 1);
  assert.deepEqual(await queue.waiting(), []);
  const found = await till.transaction(request.transactionId);
  assert.equal(Date.parse(found.confirmation.confirmedAt), SALE_AT.getTime());
});

test("a sale is confirmed at once while the line is up, and leaves nothing behind", async () => {
  const {folder, queue} = desk;
  assert.equal((await queue.confirm(await sale())).confirmed, true);
  assert.deepEqual(await readdir(folder), []);
});

test("a sale whose answer was lost is sent again as it was", async () => {
  const {line, queue} = desk;
  const request = await sale();
  line.faults.push(lostAnswer);
  assert.equal(await queue.confirm(request), null);
  assert.equal(await isConfirmed(request), true);
  assert.equal((await queue.flush()).delivered, 1);
  const [first, second] = line.sent(CONFIRM).map((one) => one.body);
  assert.equal(first, second);
  assert.deepEqual([await queue.waiting(), await queue.refused()], [[], []]);
});

test("the commands of a transaction stay in order", async () => {
  const {queue} = desk;
  const requests = await sales(3);
  await whileDown(requests);
  assert.equal((await queue.cancel(voidOf(requests[1]))).cancelled, true);
  assert.deepEqual(transactions(await queue.waiting()), transactions([requests[0], requests[2]]));
  assert.equal((await up.transaction(requests[1].transactionId)).cancelled, true);
  assert.equal((await queue.flush()).delivered, 2);
  for (const one of requests) {
    assert.ok(await isConfirmed(one));
  }
});

test("commands that are not waited for keep the order in which they were given", async () => {
  const {line, queue} = desk;
  const request = await sale();
  const [confirmed, cancelled] = await Promise.all([queue.confirm(request), queue.cancel(voidOf(request))]);
  assert.deepEqual([confirmed.confirmed, cancelled.cancelled], [true, true]);
  assert.deepEqual(line.paths(), [CONFIRM, "/pos/v2/cancel"]);
});

test("a later command waits for an earlier one that fails", async () => {
  const {line, queue} = desk;
  const request = await sale();
  line.faults.push(BUSY, BUSY);
  assert.equal(await queue.confirm(request), null);
  assert.equal(await queue.cancel(voidOf(request)), null);
  assert.deepEqual(line.paths(), [CONFIRM, CONFIRM]);
  assert.equal((await queue.flush()).delivered, 2);
  assert.equal((await up.transaction(request.transactionId)).cancelled, true);
});

test("what is refused is set aside, told, and stops nothing", async () => {
  const {folder, till} = desk;
  const [good, told] = [await sale(), []];
  const bad = {...good, transactionId: "nobody's", header: {...good.header, transactionId: "nobody's"}};
  desk.queue = queueOf(folder, till, {tell: (aside) => told.push(aside)});
  const {queue} = desk;
  await whileDown([bad, good]);
  const flushed = await queue.flush();
  assert.deepEqual([flushed.delivered, flushed.waiting, flushed.stoppedBy], [1, 0, undefined]);
  assert.deepEqual([flushed.refused, told], [await queue.refused(), await queue.refused()]);
  const [aside] = told;
  assert.deepEqual([aside.kind, aside.transactionId], ["confirm", "nobody's"]);
  assert.deepEqual([aside.refusal.code, aside.refusal.status], ["ITERATION_NOT_FOUND", 404]);
  assert.match(aside.body, /"nobody's"/);
  assert.ok(await isConfirmed(good));
  await queue.again(aside.id);
  assert.equal((await queue.flush()).refused[0].id, aside.id);
  await queue.forget(aside.id);
  assert.deepEqual([await queue.waiting(), await queue.refused()], [[], []]);
  for (const id of [aside.id, "../turn", "turn"]) {
    await assert.rejects(queue.again(id), RangeError);
    await assert.rejects(queue.forget(id), RangeError);
  }
});

test("a refusal at the till is thrown and kept", async () => {
  const {queue} = desk;
  const request = await sale();
  await queue.confirm(request);
  const error = await queue.confirm({...request, appliedPromotions: []}).catch((one) => one);
  assert.ok(error instanceof Refused);
  assert.equal(error.code, "CONFIRM_MISMATCH");
  assert.deepEqual(
    (await queue.refused()).map((one) => one.id),
    [error.command]
  );
});

test("a redemption is delivered once and a no is set aside", async () => {
  const {line, queue, till} = desk;
  const transactionId = newTransaction();
  const held = await till.reserveCoupon({code: `SAVE-${(coupons += 1)}`, transactionId});
  const request = {reservationId: held.reservationId, transactionId};
  line.faults.push(lostAnswer);
  assert.equal(await queue.redeemCoupon(request), null);
  assert.equal((await queue.flush()).delivered, 1);
  assert.deepEqual(await queue.refused(), []);
  await assert.rejects(queue.redeemCoupon({...request, transactionId: "another"}), {name: "Refused", status: 200});
  const [aside] = await queue.refused();
  assert.equal(aside.refusal.status, 200);
  const free = await till.reserveCoupon({code: `SAVE-${(coupons += 1)}`, transactionId});
  assert.ok((await queue.releaseCoupon({reservationId: free.reservationId}, {transactionId: "T"})).cancelled);
});

test("a command that fails every time blocks no other", async () => {
  const {line, queue} = desk;
  const requests = await sales(6);
  await whileDown(requests);
  line.faults.push(BROKEN, BROKEN, BROKEN);
  const flushed = await queue.flush();
  assert.deepEqual([flushed.delivered, flushed.waiting], [0, 6]);
  assert.ok(flushed.stoppedBy instanceof Unavailable);
  line.requests = [];
  assert.equal((await queue.flush()).delivered, 6);
  const order = line
    .sent(CONFIRM)
    .map((one) => requests.findIndex((each) => one.body.includes(`"${each.transactionId}"`)));
  assert.deepEqual(order, [3, 4, 5, 0, 1, 2]); // those that had failed came last
});

for (const [what, fault, kind] of [
  ["too many requests", TIRED, TooMany],
  ["a withdrawn token", WITHDRAWN, NotAllowed]
]) {
  test(`a flush stops at ${what}, and loses nothing`, async () => {
    const {line, queue} = desk;
    await whileDown(await sales(2));
    line.faults.push(fault, fault);
    line.requests = [];
    const flushed = await queue.flush();
    assert.ok(flushed.stoppedBy instanceof kind);
    assert.deepEqual([flushed.waiting, new Set(line.sent(CONFIRM).map((one) => one.body)).size], [2, 1]);
    assert.deepEqual(await queue.refused(), []);
    line.faults = [];
    assert.equal((await queue.flush()).delivered, 2);
  });
}

test("a client without its scope loses no sale", async () => {
  const {folder, line, queue} = desk;
  const wrong = tillOn(line, {as: new ClientCredentials(clientId, secret, {scope: "svc.Admin"})});
  const narrow = queueOf(folder, wrong);
  assert.equal(await narrow.confirm(await sale()), null);
  assert.ok((await narrow.flush()).stoppedBy instanceof NotAllowed);
  assert.deepEqual([line.paths(), await narrow.refused()], [[], []]);
  assert.equal((await queue.flush()).delivered, 1);
});

test("the next flush heeds Retry-After", async () => {
  const {line, queue} = desk;
  line.faults.push(TIRED, TIRED);
  await queue.confirm(await sale());
  const flushed = await queue.flush();
  assert.deepEqual([pauseAfter(flushed, 0.5), pauseAfter(flushed, 30)], [3, 30]);
  assert.equal(pauseAfter(await queue.flush(), 0.5), 0.5);
});
