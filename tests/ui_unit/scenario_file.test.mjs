import assert from "node:assert/strict";
import test from "node:test";

import {load} from "./loader.mjs";

const ScenarioFile = load("promenade/simulator/ScenarioFile");

const basketOf = (text) => ScenarioFile.read(`basket:\n${text}`).basket;

test("a file that was written reads back as it was", () => {
  const entries = {
    title: 'A "quoted" title: with # signs',
    tags: ["one", "two"],
    basket: [{article: "SHIRT", quantity: "2", price: "30.00"}],
    expect: {applied: [], missed: {PROMO: {code: "BELOW", gap: "5.00"}}, net: null, certain: true}
  };

  assert.deepEqual(ScenarioFile.read(ScenarioFile.write(entries)), entries);
});

test("rows of a list and entries of what is expected have a line each", () => {
  const text = ScenarioFile.write({basket: [{a: "1"}, {a: "2"}], expect: {one: {net: "1"}, other: {net: "2"}}});

  assert.deepEqual(text.trimEnd().split("\n"), [
    "basket:",
    '  - {"a":"1"}',
    '  - {"a":"2"}',
    "expect:",
    '  "one": {"net":"1"}',
    '  "other": {"net":"2"}'
  ]);
});

test("only true, false and null are more than text", () => {
  assert.deepEqual(basketOf("  - [true, false, null, ~, yes, True, 007, 1.50, 0x1F, 2026-01-01, '', \"null\"]"), [
    [true, false, null, "~", "yes", "True", "007", "1.50", "0x1F", "2026-01-01", "", "null"]
  ]);
});

test("blocks, folded text and comments are understood", () => {
  const text = [
    "# a comment",
    "why: >",
    "  Two lines",
    "  become one.",
    "note: |",
    "  First.",
    "  Second.",
    "basket:",
    "- article: SHIRT # not part of it",
    "  fields: {origin: 'It''s', url: a#b}",
    "empty:"
  ].join("\r\n");

  assert.deepEqual(ScenarioFile.read(`\ufeff${text}`), {
    why: "Two lines become one.\n",
    note: "First.\nSecond.\n",
    basket: [{article: "SHIRT", fields: {origin: "It's", url: "a#b"}}],
    empty: null
  });
});

for (const [name, text, line] of [
  ["an anchor", "basket:\n  - &one {a: 1}", "2"],
  ["an alias", "basket: []\nother: *one", "2"],
  ["a tag", "basket: []\n\nother: !!str 3", "3"],
  ["a key written twice", "title: x\nbasket: []\nbasket: []", "3"],
  ["text outside of a list", "basket: []\nother: [a] b", "2"],
  ["a list without its end", "basket: [", "1"],
  ["two documents", "basket: []\n---\nbasket: []", "1"],
  ["nothing", "", "1"],
  ["a list in place of entries", "- 1", "1"],
  ["entries without a basket", "title: x", "1"]
]) {
  test(`${name} is refused, with the line`, () => {
    assert.throws(() => ScenarioFile.read(text), {name: "SyntaxError", message: line});
  });
}

test("a key of every object is merely a key", () => {
  const [row] = basketOf('  - {"__proto__": {"polluted": true}, "constructor": x}');

  assert.deepEqual(Object.keys(row).sort(), ["__proto__", "constructor"]);
  assert.equal({}.polluted, undefined);
});

test("a file that is nested too deeply is refused and not followed", () => {
  assert.throws(() => ScenarioFile.read(`basket: ${"[".repeat(10_000)}`), SyntaxError);
});
