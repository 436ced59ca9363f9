import assert from "node:assert/strict";
import test from "node:test";

import {Modules, TEXTS} from "./loader.mjs";

/** Of each kind a few types; the table itself is held against the engine elsewhere. */
const SHAPES = {
  Conditions: {
    ARTICLE: {fields: ["articleNumber"], needs: [["articleNumber", "articleListItems", "values"]]},
    CUSTOMER: {fields: ["operator", "values", "valueTo"], needs: [["values"]]},
    CUSTOMER_GROUP: {fields: ["operator", "values", "valueTo"], needs: [["values"]]},
    LOYALTY_ACCOUNT: {fields: ["fieldName", "operator", "values", "valueTo"], needs: [["values"]]},
    RECEIPT_AMOUNT: {isNumeric: true, fields: ["operator", "values", "valueTo"], needs: [["values", "minAmount"]]},
    TIME_PERIOD: {fields: ["dateFrom", "dateTo"], needs: [["dateFrom", "dateTo"]]},
    TIME_WINDOW: {fields: ["timeFrom", "timeTo"], needs: [["timeFrom", "timeTo"]]}
  },
  DiscountActions: {
    LOYALTY: {fields: [], needs: []},
    RECEIPT: {fields: ["discountType", "discountValue"], needs: [["discountType"], ["discountValue"]]},
    SCALED_RECEIPT: {fields: ["scaledTiers"], needs: [["scaledTiers"]]}
  },
  LoyaltyActions: {ADD_FIXED: {fields: ["points"], needs: [["points"]]}}
};

const modules = new Modules({"promenade/rules/Shapes": SHAPES, "promenade/rules/Texts": TEXTS});
const Rows = modules.load("promenade/rules/Rows");
const Checks = modules.load("promenade/rules/Checks");

const PROMOTION = "11111111-1111-4111-8111-111111111111";
const ID = "22222222-2222-4222-8222-222222222222";
const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const condition = (values) => ({
  ID,
  "@odata.etag": 'W/"1"',
  conditionType: "CUSTOMER_GROUP",
  operator: "EQUALS",
  value: null,
  valueTo: null,
  valueCategory: "CUSTOMER_GROUP_ID",
  valueListItems: [],
  articleListItems: [],
  sequence: 10,
  logicalConnector: "AND",
  promotion_ID: PROMOTION,
  createdAt: "2026-01-01T00:00:00Z",
  parameterSummary: "in words",
  ...values
});

const discount = (values) => ({
  ID,
  "@odata.etag": 'W/"2"',
  actionType: "RECEIPT",
  discountType: "PERCENTAGE",
  discountValue: "10.00",
  minQuantity: "2.000",
  scaledTiers: [],
  quantityTiers: [],
  bundleComponents: [],
  articleListItems: [],
  exclusions: [],
  sequence: 10,
  ...values
});

const faultsOf = (kind, values, others = []) => {
  const row = Rows.blank(kind, values);
  return Checks.of(row, [row, ...others]);
};

// ---- reading and writing rows

test("a row is read without what the service keeps for itself, and is not changed", () => {
  const row = Rows.read("Conditions", condition({value: "STAFF"}));

  assert.deepEqual(Object.keys(row.values).sort(), [
    "articleListItems",
    "conditionType",
    "logicalConnector",
    "operator",
    "sequence",
    "valueCategory",
    "valueTo",
    "values"
  ]);
  assert.deepEqual(row.values.values, [{value: "STAFF"}]);
  assert.deepEqual([row.id, row.etag, row.summary], [ID, 'W/"1"', "in words"]);
  assert.equal(Rows.isChanged(row), false);
  assert.deepEqual(Rows.requests([row], [], PROMOTION), []);
});

test("quantities lose their zeros, amounts keep them, and neither is a change", () => {
  const row = Rows.read("DiscountActions", discount({}));

  assert.equal(row.values.minQuantity, "2");
  assert.equal(row.values.discountValue, "10.00");
  assert.equal(Rows.isChanged(row), false);
});

test("an empty field is nothing, and notes of validation are no change", () => {
  const row = Rows.read("DiscountActions", discount({maxDiscountAmount: null, scaledTiers: [{ID: "t", sequence: 1}]}));
  row.values.maxDiscountAmount = "";
  row.values.scaledTiers[0].faults = {thresholdAmount: "missing"};

  assert.equal(Rows.isChanged(row), false);
});

test("only what was changed is sent, with the version that was read", () => {
  const row = Rows.read("DiscountActions", discount({}));
  row.values.discountValue = "15";

  assert.deepEqual(Rows.requests([row], [], PROMOTION), [
    {
      method: "PATCH",
      url: `DiscountActions(${ID})`,
      headers: {"if-match": 'W/"2"'},
      body: {discountValue: "15"},
      rule: row.key
    }
  ]);
});

test("one value is sent as a value, several as a list of their category", () => {
  const row = Rows.read("Conditions", condition({value: "STAFF"}));
  row.values.values = [{value: "STAFF"}, {value: "GOLD"}];
  const [{body: several}] = Rows.requests([row], [], PROMOTION);
  row.values.values = [{value: "GOLD"}];
  const [{body: single}] = Rows.requests([row], [], PROMOTION);

  assert.deepEqual(several, {
    value: null,
    valueListItems: [
      {valueCategory: "CUSTOMER_GROUP_ID", value: "STAFF"},
      {valueCategory: "CUSTOMER_GROUP_ID", value: "GOLD"}
    ]
  });
  assert.deepEqual(single, {value: "GOLD", valueListItems: []});
});

test("what is removed goes first; what was never saved is not deleted", () => {
  const stored = Rows.read("Conditions", condition({}));
  const never = Rows.blank("Conditions", {conditionType: "CUSTOMER"});
  const added = Rows.blank("LoyaltyActions", {actionType: "ADD_FIXED", points: "5"});

  const [remove, create, ...rest] = Rows.requests([added], [stored, never], PROMOTION);

  assert.deepEqual([remove.method, remove.url, remove.headers], ["DELETE", `Conditions(${ID})`, {"if-match": 'W/"1"'}]);
  assert.deepEqual([create.method, create.url, create.body.ID], ["POST", "LoyaltyActions", added.id]);
  assert.equal(create.body.promotion_ID, PROMOTION);
  assert.match(added.id, UUID4);
  assert.deepEqual(rest, []);
});

test("another number takes the place of a reference that was read", () => {
  const row = Rows.read(
    "Conditions",
    condition({article_ID: "a", articleNumber: null, article: {articleNumber: "100"}})
  );
  assert.equal(row.values.articleNumber, "100");
  row.values.articleNumber = "200";

  const [{body}] = Rows.requests([row], [], PROMOTION);

  assert.deepEqual(body, {articleNumber: "200", article_ID: null});
});

test("a discount on a list of articles says that it is one", () => {
  const row = Rows.blank("DiscountActions", {actionType: "RECEIPT", articleListItems: [{articleNumber: "1"}]});

  assert.equal(Rows.requests([row], [], PROMOTION)[0].body.targetArticleList, true);
});

test("a copy says the same under another ID, without IDs of its items", () => {
  const row = Rows.read("DiscountActions", discount({scaledTiers: [{ID: "t", sequence: 1, thresholdAmount: "5.00"}]}));
  const copy = Rows.duplicate(row);

  assert.notEqual(copy.id, row.id);
  assert.equal(copy.stored, null);
  assert.deepEqual(copy.values.scaledTiers, [{sequence: 1, thresholdAmount: "5.00"}]);
});

test("rows get places only where they are out of order", () => {
  const rows = [10, 20, 30].map((sequence) => Rows.blank("Conditions", {sequence}));
  Rows.arrange(rows);
  assert.deepEqual(
    rows.map((row) => row.values.sequence),
    [10, 20, 30]
  );

  rows.reverse();
  rows[0].values.sequence = null;
  Rows.arrange(rows);
  assert.deepEqual(
    rows.map((row) => row.values.sequence),
    [10, 20, 30]
  );
});

for (const [values, field] of [
  [{value: "100"}, "points"],
  [{operator: "GTE", value: "100"}, "points"],
  [{value: "GOLD"}, "tier"],
  [{value: "100", valueCategory: "LOYALTY_TIER"}, "tier"],
  [{fieldName: "Points", operator: "EQUALS", value: "GOLD"}, "points"]
]) {
  test(`a loyalty condition with ${JSON.stringify(values)} is about ${field}`, () => {
    const row = Rows.read(
      "Conditions",
      condition({conditionType: "LOYALTY_ACCOUNT", operator: null, valueCategory: null, ...values})
    );
    assert.equal(row.values.fieldName, field);
  });
}

// ---- what is wrong with a row

for (const [value, fault] of [
  ["10", undefined],
  ["10.555", "fault.places 2"],
  ["10.550", undefined],
  ["ten", "fault.number"],
  ["1e1", "fault.number"],
  ["-1", "fault.negative"],
  ["101", "fault.percentage"]
]) {
  test(`a discount of ${value} percent: ${fault || "nothing is wrong"}`, () => {
    const {discountValue} = faultsOf("DiscountActions", {
      actionType: "RECEIPT",
      discountType: "PERCENTAGE",
      discountValue: value
    });
    assert.equal(discountValue, fault);
  });
}

test("a condition needs one of the fields that its type may be told by", () => {
  const empty = {conditionType: "ARTICLE", articleListItems: [], values: []};

  assert.deepEqual(faultsOf("Conditions", empty), {articleNumber: "fault.required"});
  assert.deepEqual(faultsOf("Conditions", {...empty, articleNumber: "100"}), {});
  assert.deepEqual(faultsOf("Conditions", {...empty, articleListItems: [{ean: "4"}]}), {});
  assert.deepEqual(faultsOf("Conditions", {conditionType: "CUSTOMER_GROUP", values: []}), {values: "fault.empty"});
});

test("a range has two ends, the lower one first", () => {
  const between = (from, to) =>
    faultsOf("Conditions", {
      conditionType: "RECEIPT_AMOUNT",
      operator: "BETWEEN",
      values: [{value: from}],
      valueTo: to
    });

  assert.deepEqual(between("5", "50"), {});
  assert.deepEqual(between("50", "5"), {valueTo: "fault.order"});
  assert.deepEqual(between("9", "10"), {}); // as numbers, not as texts
  assert.deepEqual(between("5", ""), {valueTo: "fault.required"});
  assert.deepEqual(between("x", "5"), {values: "fault.number"});
});

test("times and days are ones, and a period ends after it begins", () => {
  const time = {conditionType: "TIME_WINDOW", values: []};
  const period = {conditionType: "TIME_PERIOD", values: []};

  assert.deepEqual(faultsOf("Conditions", {...time, timeFrom: "22:00", timeTo: "06:00"}), {});
  assert.deepEqual(faultsOf("Conditions", {...time, timeFrom: "24:00", timeTo: "06:00"}), {timeFrom: "fault.time"});
  assert.deepEqual(faultsOf("Conditions", {...period, dateFrom: "2026-02-01", dateTo: "2026-01-01"}), {
    dateTo: "fault.order"
  });
});

test("tiers are complete and differ, and what is wrong is put at each", () => {
  const tiers = [
    {thresholdAmount: "10", discountType: "ABSOLUTE", discountValue: "1"},
    {thresholdAmount: "10.00", discountType: "ABSOLUTE", discountValue: "2"},
    {thresholdAmount: "20", discountType: "ABSOLUTE", discountValue: ""}
  ];
  const {scaledTiers} = faultsOf("DiscountActions", {actionType: "SCALED_RECEIPT", scaledTiers: tiers});

  assert.deepEqual(
    tiers.map((tier) => tier.faults),
    [{thresholdAmount: "fault.sameTier"}, {thresholdAmount: "fault.sameTier"}, {discountValue: "fault.required"}]
  );
  assert.equal(scaledTiers, "fault.required");
});

test("loyalty points that a discount promises need a rule that gives them", () => {
  const loyalty = {actionType: "LOYALTY"};
  const points = Rows.blank("LoyaltyActions", {actionType: "ADD_FIXED"});

  assert.equal(faultsOf("DiscountActions", loyalty)[""], "fault.noPoints");
  assert.equal(faultsOf("DiscountActions", loyalty, [points])[""], undefined);
});
