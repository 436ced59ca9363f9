import assert from "node:assert/strict";
import test from "node:test";

import {Modules} from "./loader.mjs";

const modules = new Modules({"sap/ui/model/Filter": class Filter {}});
const Address = modules.load("promenade/promotions/Address");
const Addresses = modules.load("promenade/generic/Addresses");
const Availability = modules.load("promenade/generic/Availability");
const Filters = modules.load("promenade/promotions/Filters");
const Link = modules.load("promenade/simulator/Link");
const ListState = modules.load("promenade/generic/ListState");

const ID = "22222222-2222-4222-8222-222222222222";
const NOW = Date.parse("2026-03-15T12:00:59Z");
const OWN_OR_ACTIVE = "(IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null)";

test("an address names what is active and its draft", () => {
  for (const isActive of [true, false]) {
    const key = Addresses.keyOf(ID, isActive);
    assert.ok(Addresses.isKey(key));
    assert.deepEqual(Addresses.parse(key), {id: ID, isActive});
  }
  assert.equal(Addresses.href("Promotions", ID, false), `#/promotion/${ID}%2Cdraft`);
  assert.equal(Addresses.href("Budgets", ID, true), `#/object/Budgets/${ID}`);
});

for (const text of ["", "1", `${ID},`, `${ID},drafts`, `${ID} or true`, "newest"]) {
  test(`${JSON.stringify(text)} is no key in an address`, () => {
    assert.equal(Addresses.isKey(text), false);
  });
}

test("what is as at first is left out of an address", () => {
  const defaults = {search: "", types: [], status: "all"};
  const state = {search: "tea", types: ["A", "B"], status: "all"};

  assert.deepEqual(Address.parameters(state, defaults), {"?query": {search: "tea", types: "A,B"}});
  assert.deepEqual(Address.read({search: "tea", types: "A,B"}, defaults), state);
  assert.deepEqual(Address.parameters(defaults, defaults), {});
  assert.deepEqual(Address.read(undefined, defaults), defaults);
});

test("a list's address holds what was asked for, and nothing that cannot be", () => {
  const meta = {has: (path) => path === "name", field: () => ({isSortable: true}), isDraft: true};
  const state = {search: "tea", filters: {}, status: "all", sort: {path: "name", isDescending: true}};

  const read = ListState.read({q: ListState.write(state)});

  assert.deepEqual(ListState.sound(read, meta), {search: "tea", status: "all", sort: state.sort});
  assert.equal(ListState.write({status: "all"}), "");
  assert.deepEqual(ListState.read({q: "{broken"}), {});
  assert.deepEqual(ListState.sound({search: 1, status: "x", sort: {path: "y"}}, meta), {
    search: "",
    status: "all",
    sort: null
  });
});

test("a list of promotions asks for whole minutes, and quotes what was typed", () => {
  assert.equal(Filters.of({}, NOW), OWN_OR_ACTIVE);
  assert.equal(
    Filters.of({validity: "over", status: "ACTIVE", types: ["A", "B"], search: "Tea's"}, NOW),
    [
      OWN_OR_ACTIVE,
      "(contains(tolower(name),'tea''s') or contains(tolower(code),'tea''s') or " +
        "contains(tolower(description),'tea''s'))",
      "status eq 'ACTIVE'",
      "(type eq 'A' or type eq 'B')",
      "validTo le 2026-03-15T12:00:00.000Z"
    ].join(" and ")
  );
});

test("an action may be called when its expression is true of the entity", () => {
  const expression = {
    $And: [{$Ne: [{$Path: "in/status"}, "ACTIVE"]}, {$Not: {$Path: "in/campaign/locked"}}]
  };
  const action = new Availability(expression, "in");
  const entity = (values) => (path) => values[path];

  assert.deepEqual(action.paths, ["status", "campaign/locked"]);
  assert.equal(action.test(entity({status: "DRAFT"})), true);
  assert.equal(action.test(entity({status: "ACTIVE"})), false);
  assert.equal(action.test(entity({status: "DRAFT", "campaign/locked": true})), false);
  assert.equal(new Availability(undefined, "in").test(entity({})), true);
});

for (const value of [{l: []}, {s: "DE-HAM", l: Array.from({length: 50}, () => ["100078", "1", "24.49"])}]) {
  test(`a link of ${JSON.stringify(value).length} characters is read as it was written`, async () => {
    const text = await Link.pack(value);

    assert.match(text, /^[jz][A-Za-z0-9_-]+$/);
    assert.deepEqual(await Link.unpack(text), value);
    await assert.rejects(Link.unpack(text.slice(0, -2)));
  });
}

test("what is no link of the simulator is refused", async () => {
  for (const text of ["", "x", "jbnVsbA", "j!", "z!"]) {
    await assert.rejects(Link.unpack(text), text);
  }
});
