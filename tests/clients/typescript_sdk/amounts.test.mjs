// Amounts stay what they are, from the till to the service and back, and can be added up.

import assert from "node:assert/strict";
import {test} from "node:test";
import {Till, confirmation, fromUnits, toUnits} from "promenade-client";
import {basket, credentials, url} from "./line.mjs";

const till = new Till(url, credentials);
let state = Number(process.env.PROMENADE_TEST_SEED ?? 1);

/** A number below `limit`; the seed repeats them. */
function drawn(limit) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

test("amounts are exact to the cent", async () => {
  for (let round = 0; round < 20; round += 1) {
    const lines = Array.from({length: 1 + drawn(5)}, () => [BigInt(drawn(10 ** 9)), BigInt(1 + drawn(99))]);
    const items = lines.map(([cents, quantity]) => ({
      articleNumber: "B-1",
      quantity: String(quantity),
      unitPrice: fromUnits(cents, 2)
    }));
    const priced = await till.simulate(basket(undefined, {items}));
    const totals = priced.lineItems.map((one) => one.lineTotal.value);
    assert.deepEqual(
      totals,
      lines.map(([cents, quantity]) => fromUnits(cents * quantity, 2))
    );
    const sum = totals.reduce((whole, one) => whole + toUnits(one, 2), 0n);
    assert.equal(priced.totals.grandTotal.value, fromUnits(sum, 2));
  }
});

test("every digit of an answer is kept", async () => {
  const body = JSON.stringify(await till.simulate(basket()))
    .replace(/"value":"(-?[\d.]+)"/g, '"value":$1')
    .replace(/"(discountValue|savingsPercent)":"([\d.]+)"/g, '"$1":$2')
    .replace('"value":9.00', '"value":90071992547409931.10');
  const fetch = async () => new Response(body);
  const {ApiKey} = await import("promenade-client");
  const priced = await new Till(url, new ApiKey("k"), {fetch}).simulate(basket());
  assert.equal(priced.lineItems[0].lineNet.value, "90071992547409931.10");
  assert.equal(priced.totals.grandTotal.value, "9.00");
});

test("texts that look like amounts stay texts, and what is no message is none", async () => {
  const {ApiKey} = await import("promenade-client");
  const receiptId = '12.50 "n5" \\ s1 \u2028 \u0000';
  const priced = await till.evaluate(basket(undefined, {header: {receiptId: 'R 12.50 "n5" \\ s1'}}));
  assert.equal(priced.meta.header.receiptId, 'R 12.50 "n5" \\ s1');
  const beat = {
    status: receiptId,
    version: "1",
    mode: "cloud",
    btpConnectivity: "CONNECTED",
    lastSync: null,
    pendingTransactions: 0,
    promotionsLoaded: 3,
    uptime: 1,
    addedByALaterVersion: {deep: [1.5]}
  };
  const answered = (body) =>
    new Till(url, new ApiKey("k"), {fetch: async () => new Response(body), patience: {deadline: 0.01}}).heartbeat();
  const {addedByALaterVersion, ...known} = beat;
  assert.deepEqual(addedByALaterVersion, {deep: [1.5]});
  assert.deepEqual(await answered(JSON.stringify(beat)), known);
  const wrong = [
    {...beat, uptime: 1.5},
    {...beat, uptime: "1"},
    {...beat, uptime: 2 ** 60},
    {...beat, status: 5},
    {...beat, status: null},
    [beat],
    null
  ].map((one) => JSON.stringify(one));
  for (const body of [...wrong, JSON.stringify(beat).replace('"uptime":1', '"uptime":01'), '{"a":1', ""]) {
    await assert.rejects(answered(body), {name: "Unavailable", code: "UNREADABLE_ANSWER"}, body);
  }
});

test("units are whole and exact", () => {
  for (const [text, decimals, units] of [
    ["8.69", 2, 869n],
    ["-0.05", 2, -5n],
    ["5", 0, 5n],
    ["5", 2, 500n],
    ["1.500", 2, 150n],
    ["90071992547409931.10", 2, 9007199254740993110n]
  ]) {
    assert.equal(toUnits(text, decimals), units);
  }
  assert.deepEqual(
    [fromUnits(-5n, 2), fromUnits(0n, 2), fromUnits(7n, 0), fromUnits(869n, 2)],
    ["-0.05", "0.00", "7", "8.69"]
  );
  for (const wrong of ["8.695", "8,69", "", "1e3", "NaN"]) {
    assert.throws(() => toUnits(wrong, 2), RangeError);
  }
});

test("a confirmation names what was granted", async () => {
  const [priced, simulated] = [await till.evaluate(basket()), await till.simulate(basket())];
  const [discount] = priced.lineItems[0].discounts;
  assert.deepEqual([discount.totalDiscount.value, discount.discountValue], ["1.00", "10.00"]);
  const request = confirmation(priced, {receiptId: "R-1"});
  assert.deepEqual([request.header.transactionCounter, request.header.receiptId], [1, "R-1"]);
  assert.deepEqual(request.appliedPromotions, [{promotionId: discount.promotionId}]);
  assert.deepEqual(confirmation(priced, {withdrawn: [discount.promotionId]}).appliedPromotions, []);
  assert.throws(() => confirmation(simulated), /simulation/);
});

test("the time of a sale may be a Date", async () => {
  const timestamp = new Date("2026-05-04T12:30:00+02:00");
  const priced = await till.simulate(basket(undefined, {timestamp}));
  assert.equal(Date.parse(priced.meta.evaluatedAt), timestamp.getTime());
});
