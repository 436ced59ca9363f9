import assert from "node:assert/strict";
import test from "node:test";

import {Modules} from "./loader.mjs";

const Fitting = new Modules().load("promenade/simulator/Fitting");

const wanted = (parts) => Fitting.of({conditions: [], actions: [], loyaltyActions: [], ...parts});
const condition = (conditionType, more = {}) => ({conditionType, logicalConnector: "AND", ...more});
const named = (lines) => lines.map(({articleNumber, group, quantity}) => [articleNumber || group, quantity]);
const line = (quantity, unitPrice) => ({quantity, unitPrice});

test("conditions and actions that name the same articles are one line with the larger quantity", () => {
  const conditions = [condition("ARTICLE_GROUP", {articleGroupId: "G1", minQuantity: "3.000"})];
  const actions = [{actionType: "ARTICLE_GROUP", targetArticleGroupId: "G1", applicationQuantity: "1.000"}];
  assert.deepEqual(named(wanted({conditions, actions}).lines), [["G1", "3.000"]]);
});

test("the first group of conditions counts, and what it negates does not", () => {
  const conditions = [
    condition("ARTICLE", {articleNumber: "1"}),
    condition("CUSTOMER_GROUP", {logicalConnector: "NOT", value: "STAFF"}),
    condition("CHANNEL", {valueListItems: [{value: "WEB"}]}),
    condition("ARTICLE", {logicalConnector: "OR", articleNumber: "2"})
  ];
  const {lines, circumstances} = wanted({conditions});
  assert.deepEqual(named(lines), [["1", ""]]);
  assert.equal(circumstances.channel, "WEB");
  assert.equal(circumstances.customer.group, "");
});

test("a bundle asks for all of its pieces, those of one article together", () => {
  const bundleComponents = [
    {articleNumber: "1", quantity: "2.000"},
    {articleNumber: "2", quantity: "1.000"},
    {articleNumber: "1", quantity: "1.000"}
  ];
  assert.deepEqual(named(wanted({actions: [{actionType: "BUNDLE", bundleComponents}]}).lines), [
    ["1", "3"],
    ["2", "1.000"]
  ]);
});

test("what names no article needs any line, with the additional fields that are asked for", () => {
  const conditions = [condition("ADDITIONAL_FIELD", {fieldName: "daysLeft", value: "2"})];
  const [only, ...others] = wanted({conditions, actions: [{actionType: "RECEIPT"}]}).lines;
  assert.deepEqual(only.fields, [{key: "daysLeft", value: "2"}]);
  assert.equal(others.length, 0);
});

test("points and tiers, cards and manual discounts are circumstances", () => {
  const conditions = [
    condition("LOYALTY_ACCOUNT", {value: "GOLD"}),
    condition("LOYALTY_ACCOUNT", {value: "100", operator: "GREATER_THAN"}),
    condition("CREDIT_CARD_BIN", {value: "411111"}),
    condition("MANUAL_DISCOUNT", {value: "DAMAGED"})
  ];
  const {customer, payment, manual} = wanted({conditions}).circumstances;
  assert.deepEqual([customer.tier, customer.points, payment.cardNumber], ["GOLD", "101", "411111"]);
  assert.deepEqual(manual, {enabled: true, reason: "DAMAGED"});
});

test("pieces are as many as a quantity and an amount ask for", () => {
  assert.equal(Fitting.pieces({quantity: "2.500", amount: ""}, "1.99"), 3n);
  assert.equal(Fitting.pieces({quantity: "", amount: "10.00"}, "3.34"), 3n);
  assert.equal(Fitting.pieces({quantity: "", amount: "10.00"}, "3.33"), 4n);
  assert.equal(Fitting.pieces({quantity: "nonsense", amount: "10.00"}, "0"), 1n);
});

test("a threshold of the basket, or a number of pieces, raises the first line exactly as far as needed", () => {
  const lines = [line("1", "9.99"), line("2", "0.01")];
  const first = (more) => Fitting.raised(lines, {amount: "", pieces: "", ...more})[0].quantity;
  assert.equal(first({}), "1");
  assert.equal(first({amount: "10.01"}), "1");
  assert.equal(first({amount: "10.02"}), "2");
  assert.equal(first({pieces: "6"}), "4");
});

test("amounts and quantities add up exactly", () => {
  const above = (value) =>
    wanted({conditions: [condition("RECEIPT_AMOUNT", {operator: "GREATER_THAN", value})]}).amount;
  assert.deepEqual(["19.99", "0.7", "9007199254740993.01", "9"].map(above), [
    "20.99",
    "1.7",
    "9007199254740994.01",
    "10"
  ]);
  const bundleComponents = ["0.1", "0.2"].map((quantity) => ({articleNumber: "1", quantity}));
  assert.equal(wanted({actions: [{actionType: "BUNDLE", bundleComponents}]}).lines[0].quantity, "0.3");
});

test("a threshold is the least that a tier or a condition asks for", () => {
  const conditions = [
    condition("RECEIPT_AMOUNT", {value: "50.00"}),
    condition("ITEM_QUANTITY", {operator: "LTE", value: "9"})
  ];
  const actions = [
    {actionType: "SCALED_RECEIPT", scaledTiers: [{thresholdAmount: "20.00"}, {thresholdAmount: "99.00"}]}
  ];
  const {amount, pieces} = wanted({conditions, actions});
  assert.deepEqual([amount, pieces], ["50.00", ""]);
});

const ZONE = "Europe/Berlin";
const NOW = new Date("2026-11-28T09:30:00Z"); // a Saturday, half past ten there
const when = (given) => Fitting.when({from: null, to: null, times: [], ...given}, ZONE, NOW);

test("what runs now needs no time, and neither does what is over", () => {
  assert.equal(when({}), "");
  assert.equal(when({to: "2026-11-01T00:00:00Z"}), "");
});

test("what begins later is tried at its beginning", () => {
  assert.equal(when({from: "2026-12-01T11:00:00Z"}), "2026-12-01T12:00");
});

test("a window of time is tried when it is open next", () => {
  assert.equal(when({times: [{timeFrom: "17:00:00", timeTo: "19:00:00"}]}), "2026-11-28T17:00");
  assert.equal(when({times: [{weekdays: "MON,TUE"}]}), "2026-11-30T10:00");
  assert.equal(when({times: [{timeFrom: "08:00:00", timeTo: "09:00:00"}]}), "2026-11-29T08:00");
  assert.equal(when({times: [{dateFrom: "2026-12-24", dateTo: "2026-12-24"}]}), "2026-12-24T10:00");
  assert.equal(when({times: [{timeFrom: "22:00:00", timeTo: "02:00:00"}]}), "2026-11-28T22:00");
});

test("what never opens again needs no time", () => {
  assert.equal(when({times: [{dateTo: "2026-11-01"}]}), "");
});
