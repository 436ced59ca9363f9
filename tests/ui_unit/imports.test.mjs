import assert from "node:assert/strict";
import test from "node:test";

import {Modules, zoneOf} from "./loader.mjs";

const modules = new Modules({"promenade/generic/Zone": zoneOf("Europe/Berlin")});
const Formulas = modules.load("promenade/resources/Formulas");
const Mapping = modules.load("promenade/imports/Mapping");
const Reading = modules.load("promenade/imports/Reading");
const Rows = modules.load("promenade/imports/Rows");

const FIELDS = [
  {name: "articleNumber", label: "Article number", words: "Artikelnummer", type: "String", isRequired: true},
  {name: "basePrice", label: "Base price", words: "Preis", type: "Decimal", scale: 2, isNullable: true}
];

for (const [text, written] of [
  ["=1+1", "'=1+1"],
  ["+A1", "'+A1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\uff1d1", "'\uff1d1"],
  [" =1", "' =1"],
  ["\tx", "'\tx"],
  ["'=1", "''=1"],
  ["a;=1", "a;'=1"],
  ["-12.50", "-12.50"],
  ["+49", "+49"],
  ["plain", "plain"],
  ["", ""]
]) {
  test(`${JSON.stringify(text)} is written as ${JSON.stringify(written)} and read as it was`, () => {
    assert.equal(Formulas.harmless(text), written);
    assert.equal(Formulas.restored(written), text);
  });
}

test("columns find their fields by name, label and translation, each once", () => {
  assert.deepEqual(Mapping.guess(["article_number", "Preis", "BASE PRICE", "_error", "other", ""], FIELDS), [
    "articleNumber",
    "basePrice",
    "",
    "",
    "",
    ""
  ]);
  assert.deepEqual(Mapping.twice(["a", "", "b", "a", ""]), ["a"]);
});

const ARTICLE = ["ean", "name", "currency", "unit", "articleGroupId", "isActive"].map((name) => ({name, label: name}));

for (const [heading, field] of [
  ["EAN", "ean"],
  ["GTIN", "ean"],
  ["gtin-13", "ean"],
  ["EAN / GTIN", "ean"],
  ["ARTIKEL_NR.", "articleNumber"],
  ["Art.-Nr.", "articleNumber"],
  ["  sku ", "articleNumber"],
  ["Preis (EUR)", "basePrice"],
  ["VK-Preis", "basePrice"],
  ["Grundpreis", "basePrice"],
  ["price*", "basePrice"],
  ["Artikelbezeichnung", "name"],
  ["Währungsschlüssel", "currency"],
  ["WAEHRUNGSCODE", "currency"],
  ["Wa\u0308hrungscode", "currency"],
  ["Warengruppe", "articleGroupId"],
  ["Aktiv", "isActive"],
  ["Farbe", ""],
  ["()", ""]
]) {
  test(`the heading ${heading} is ${field || "no field's"}`, () => {
    const fields = [...FIELDS, ...ARTICLE].map((one) =>
      one.name === "basePrice" ? {...one, german: "Grundpreis"} : one
    );
    assert.deepEqual(Mapping.guess([heading], fields), [field]);
  });
}

test("a column with our own name goes before one that others call so, wherever it stands", () => {
  assert.deepEqual(Mapping.guess(["Artikel", "Price", "Article number", "Base price"], FIELDS), [
    "",
    "",
    "articleNumber",
    "basePrice"
  ]);
});

test("rows of a table become JSON by their mapping, and say what is wrong", () => {
  const found = Rows.ofTable({
    rows: [
      ["100", "1,50"],
      ["=200", ""],
      ["", "x"]
    ],
    mapping: ["articleNumber", "basePrice"],
    fields: FIELDS,
    isDecimalComma: true
  });

  assert.deepEqual(JSON.parse(found.json), [
    {articleNumber: "100", basePrice: 1.5},
    {articleNumber: "=200", basePrice: null},
    {basePrice: "x"}
  ]);
  assert.deepEqual([found.count, found.bad, found.missing, found.twice], [3, 1, [], []]);
  assert.deepEqual(
    found.problems.map(({number, problems}) => [number, problems.map((one) => `${one.field.name} ${one.problem}`)]),
    [[3, ["articleNumber required", "basePrice notANumber"]]]
  );
});

test("a row with the key of an earlier one names that row and the key, however far apart they are", () => {
  const problemsOf = ({problems}) => problems.map((one) => [one.number, one.problems.map((two) => two.values)]);
  const keys = Array.from({length: 300}, (_, at) => `A${at}`);
  keys[299] = " A1 ";
  const shared = {fields: FIELDS, key: "articleNumber"};
  const rows = [...keys.map((key) => [key]), [""], [""]];
  const table = Rows.ofTable({rows, mapping: ["articleNumber"], isDecimalComma: false, ...shared});
  const objects = keys.map((articleNumber) => ({articleNumber}));

  assert.deepEqual(problemsOf(table)[0], [300, [[2, "A1"]]]);
  assert.equal(table.bad, 3); // and two rows without a key, which say nothing of each other
  assert.deepEqual(problemsOf(Rows.ofJson({rows: [...objects, null], text: "", parts: [], ...shared})), [
    [300, [[2, "A1"]]],
    [301, [undefined]]
  ]);
  assert.equal(Rows.ofTable({rows, mapping: ["articleNumber"], fields: FIELDS, key: null}).bad, 2);
});

test("required fields without a column are told once", () => {
  const {missing} = Rows.ofTable({rows: [["1"]], mapping: ["basePrice"], fields: FIELDS, isDecimalComma: false});

  assert.deepEqual(
    missing.map((one) => one.name),
    ["articleNumber"]
  );
});

test("rows of a JSON file are told what they do not know and what they lack", () => {
  const rows = [{articleNumber: "1", parts: [], colour: "red"}, "no row", {basePrice: null}];
  const found = Rows.ofJson({rows, text: "as it was", fields: FIELDS, parts: ["parts"]});

  assert.equal(found.json, "as it was");
  assert.deepEqual(
    found.problems.map(({problems}) => problems.map(({problem}) => problem)),
    [["unknownField"], ["notARow"], ["required"]]
  );
});

test("the first twenty rows are shown, and of rows with problems two hundred are told", () => {
  const rows = Array.from({length: 300}, () => ["", ""]);
  const found = Rows.ofTable({rows, mapping: ["articleNumber", "basePrice"], fields: FIELDS, isDecimalComma: false});

  assert.deepEqual([found.count, found.bad, found.shown.length, found.problems.length], [300, 300, 20, 200]);
});

test("a module that reads files finds the library that is shipped", () => {
  assert.ok(Object.keys(Reading).length);
});
