import assert from "node:assert/strict";
import test from "node:test";

import {Modules} from "./loader.mjs";

const STORE = {code: "DE-HAM", name: "Hamburg", currency: "EUR", timeZone: "Europe/Berlin"};
const Lookup = {store: async () => STORE, read: async () => [STORE]};
const modules = new Modules({"promenade/simulator/Lookup": Lookup});
const Basket = modules.load("promenade/simulator/Basket");
const TestRequest = modules.load("promenade/simulator/TestRequest");

const LINE = Basket.line({articleNumber: "100", basePrice: "5.99"}, "2");
const FILLED = {
  ...Basket.empty(STORE),
  channel: "WEB",
  customer: {id: "C-1", group: "STAFF", card: "7", tier: "GOLD", points: "120"},
  payment: {means: "CARD", cardType: "VISA", cardNumber: "4111 1111 1111 1111"},
  coupons: ["WELCOME10"],
  fields: [{key: "origin", value: "ES"}],
  manual: {enabled: true, reason: "DAMAGED"},
  includeInactive: true,
  transaction: "T-1",
  lines: [
    {...LINE, typedEan: "4001", group: "coffee", manufacturer: "Roaster"},
    {...LINE, ref: "second", fields: [{key: "size", value: "L"}]}
  ]
};
const AT = "2026-12-24T09:30:15Z";

test("a test keeps what a price depends on, and no whole card number", () => {
  const kept = TestRequest.kept(Basket.request(FILLED), AT);
  assert.equal(kept.timestamp, AT);
  assert.equal(kept.paymentInfo.cardNumber, "41111111");
  assert.equal("includeMissedPromotions" in kept, false);
  assert.equal("timestamp" in TestRequest.kept(Basket.request({...FILLED, at: "2026-07-01T10:00"}), null), false);
  assert.equal("paymentInfo" in TestRequest.kept(Basket.request(Basket.empty(STORE)), AT), false);
});

test("the basket of a test is the one that was saved, at its time on the clock of the store", async () => {
  const short = await TestRequest.shorten(TestRequest.kept(Basket.request(FILLED), AT));
  const payment = {...FILLED.payment, cardNumber: "41111111"};
  assert.deepEqual(short, Basket.shorten({...FILLED, payment, at: "2026-12-24T10:30"}));
});

test("numbers and the ID of the store may stand in a test that a program has written", async () => {
  const items = [{articleNumber: "100", quantity: 2, unitPrice: 5.99}];
  assert.deepEqual(await TestRequest.shorten({posGroupId: "any", items}), {s: "DE-HAM", l: [["100", "2", "5.99"]]});
});
