import assert from "node:assert/strict";
import test from "node:test";

import {Modules} from "./loader.mjs";

const modules = new Modules();
const Basket = modules.load("promenade/simulator/Basket");
const Missed = modules.load("promenade/simulator/Missed");
const Phrases = modules.load("promenade/simulator/Phrases");

const STORE = {code: "DE-HAM", name: "Hamburg", currency: "EUR", timeZone: "Europe/Berlin"};
const LINE = Basket.line({articleNumber: "100", basePrice: "5.99"}, "2");

const filled = () => ({
  ...Basket.empty(STORE),
  at: "2026-07-01T10:00",
  customer: {id: "C-1", group: "STAFF", card: "", tier: "GOLD", points: "120"},
  payment: {means: "CARD", cardType: "VISA", cardNumber: "4111111111111111"},
  coupons: ["WELCOME10"],
  fields: [{key: "origin", value: "ES"}],
  manual: {enabled: true, reason: ""},
  lines: [LINE, {...LINE, ref: "second", fields: [{key: "size", value: "L"}]}]
});

test("an empty basket says nothing, and cannot be priced", () => {
  assert.deepEqual(Basket.shorten(Basket.empty()), {});
  assert.equal(Basket.isComplete(Basket.empty(STORE)), false);
  assert.equal(Basket.isComplete({...Basket.empty(STORE), lines: [LINE]}), true);
});

test("the short form brings the basket back, without a card's number", () => {
  const short = Basket.shorten(filled());
  const basket = Basket.lengthen(JSON.parse(JSON.stringify(short)));

  assert.equal(short.p.n, "41111111");
  assert.deepEqual(Basket.shorten(basket), short);
  assert.deepEqual(basket.manual, {enabled: true, reason: ""});
  assert.equal(basket.lines[1].ref, "second");
});

for (const [name, short] of [
  ["lines that are none", {l: [["100", "1"]]}],
  ["numbers in place of texts", {l: [["100", 1, "5"]]}],
  ["a shop that is no text", {s: 5}],
  ["coupons that are no list", {k: "CODE"}]
]) {
  test(`a link with ${name} is refused`, () => {
    assert.throws(() => Basket.lengthen(short), /not a basket/);
  });
}

test("the request says what the basket says, in the shop's time", () => {
  const request = Basket.request(filled());

  assert.equal(request.timestamp, "2026-07-01T08:00:00Z");
  assert.deepEqual(request.customer, {
    customerId: "C-1",
    customerGroup: "STAFF",
    loyalty: {tier: "GOLD", points: 120}
  });
  assert.deepEqual(request.coupons, [{code: "WELCOME10"}]);
  assert.deepEqual(request.manualDiscount, {enabled: true});
  assert.deepEqual(
    request.items.map((one) => one.lineReference),
    ["1", "second"]
  );
  assert.equal(request.channel, undefined);
});

for (const [quantity, unitPrice, fault] of [
  ["1", "5.99", null],
  ["-1", "5.99", null],
  ["0.125", "0.00", null],
  ["0", "5.99", "quantity"],
  ["-0.000", "5.99", "quantity"],
  ["1.2345", "5.99", "quantity"],
  ["1e3", "5.99", "quantity"],
  ["1", "-5.99", "unitPrice"],
  ["1", "5.999", "unitPrice"],
  ["1", "", "unitPrice"]
]) {
  test(`${quantity} at ${unitPrice}: ${fault || "nothing is wrong"}`, () => {
    assert.equal(Basket.faultOf({quantity, unitPrice}), fault);
  });
}

test("missed promotions are narrowed down by words and by reason", () => {
  const missed = [
    {name: "Tea for two", reason: "Too few", detail: "one more", code: "FEW"},
    {name: "Coffee", reason: "Too few", detail: "two more", code: "FEW"},
    {name: "Staff", reason: "Not yours", detail: "", code: "WHO"}
  ];
  const names = (wanted) => Missed.among(missed, {text: "", code: "", ...wanted}).map((one) => one.name);

  assert.deepEqual(names({}), ["Tea for two", "Coffee", "Staff"]);
  assert.deepEqual(names({text: "TWO few"}), ["Tea for two", "Coffee"]);
  assert.deepEqual(names({text: "two", code: "WHO"}), []);
  assert.deepEqual(
    Missed.reasons(missed, [{code: "OLD", reason: "Over", count: 7}]).map(({code, count}) => [code, count]),
    [
      ["FEW", 2],
      ["WHO", 1],
      ["OLD", 0]
    ]
  );
});

test("what a promotion asks for is said in the person's language; an unknown phrase stays as it is", () => {
  const phrases = Phrases((key, values = []) => `<${[key.replace("simulator.", ""), ...values].join(" ")}>`);

  assert.equal(phrases.of("customer group STAFF or GOLD"), "<phrase.customerGroup STAFF <phrase.or> GOLD>");
  assert.equal(phrases.of("at least 100 loyalty points"), "<phrase.points <phrase.atLeast 100>>");
  assert.equal(
    phrases.of("a purchase between 08:00 and 10:00 on MON and TUE"),
    "<phrase.hoursOn 08:00 10:00 <day.MON> <phrase.and> <day.TUE>>"
  );
  assert.equal(phrases.of("something new"), "something new");
});
