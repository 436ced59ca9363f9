import assert from "node:assert/strict";
import test from "node:test";

import {Modules, zoneOf} from "./loader.mjs";

/** Formatters as OpenUI5 has them, with what Node.js knows of German. */
function number({maxFractionDigits, minFractionDigits, decimals, style} = {}) {
  const format = new Intl.NumberFormat("de", {
    maximumFractionDigits: decimals ?? maxFractionDigits,
    minimumFractionDigits: decimals ?? minFractionDigits,
    notation: style === "short" ? "compact" : "standard"
  });
  return {format: (value) => format.format(value)};
}

const made = [];
const modules = new Modules({
  "promenade/generic/Zone": zoneOf("Europe/Berlin"),
  "sap/base/i18n/Formatting": {getLanguageTag: () => "en-GB"},
  "sap/ui/core/format/DateFormat": {
    getDateInstance: ({format, style}) => ({format: (date) => `${format || style} ${date.toISOString()}`}),
    getDateTimeWithTimezoneInstance: () => ({format: (date, zone) => `${date.toISOString()} ${zone}`}),
    getTimeInstance: () => ({format: (date) => `${date.getUTCHours()}:${date.getUTCMinutes()}`})
  },
  "sap/ui/core/format/NumberFormat": {
    getFloatInstance: (options) => {
      made.push(options);
      return number(options);
    },
    getPercentInstance: () => ({format: (value) => `${value} %`}),
    getCurrencyInstance: () => ({format: (value, currency) => `${value} ${currency}`})
  }
});
const Format = modules.load("promenade/generic/Format");
const Numbers = modules.load("promenade/reports/Numbers");
const Values = modules.load("promenade/imports/Values");
const Verdict = modules.load("promenade/reports/Verdict");
const {change} = modules.load("promenade/reports/Comparison");
const leftAtEnd = modules.load("promenade/reports/leftAtEnd");

const AMOUNT = {type: "Decimal", scale: 2};
const literal = (field, cell, isDecimalComma) => Values.ofCell(field, cell, isDecimalComma);

test("numbers lose zeros that say nothing, and no digits", () => {
  assert.equal(Format.number("1234.500"), "1.234,5");
  assert.equal(Format.number("2.000", 0), "2");
  assert.equal(Format.number("100"), "100");
  assert.equal(Format.percent("12.50"), "12,5 %");
  assert.equal(Format.money("10.00", "EUR"), "10.00 EUR");
  assert.equal(Format.money("10", null), "10,00");
});

test("nothing is written as nothing, and in reports as a dash", () => {
  for (const nothing of [null, undefined, ""]) {
    assert.deepEqual([Format.number(nothing), Format.money(nothing), Format.percent(nothing)], ["", "", ""]);
    assert.deepEqual([Format.date(nothing), Format.dateTime(nothing), Format.time(nothing)], ["", "", ""]);
    assert.equal(Numbers.whole(nothing), "–");
    assert.equal(Numbers.percent(nothing), "–");
    assert.equal(Numbers.date(nothing), "–");
  }
  assert.equal(Numbers.whole(0), "0");
});

test("a day is written as it stands, whatever the person's time zone", () => {
  assert.equal(Format.date("2026-11-15"), "medium 2026-11-15T00:00:00.000Z");
  assert.equal(Numbers.day("2026-11-15"), "MMMd 2026-11-15T00:00:00.000Z");
  assert.equal(Format.time("08:30:00"), "8:30");
});

test("weekdays begin with Monday, hours have two digits", () => {
  assert.equal(Numbers.weekday(1), "cccc 2024-01-01T00:00:00.000Z"); // a Monday
  assert.equal(Numbers.weekdayShort(7), "ccc 2024-01-07T00:00:00.000Z");
  assert.equal(Numbers.hour(8), "08:00");
});

test("a signed percentage has its plus", () => {
  assert.equal(Numbers.percent(5, true), "+5 %");
  assert.equal(Numbers.percent(-5, true), "-5 %");
  assert.equal(Numbers.percent(0, true), "0 %");
});

test("a formatter is made once", () => {
  const before = made.length;
  Numbers.decimal(1, 4);
  Numbers.decimal(2, 4);
  assert.equal(made.length, before + 1);
});

for (const [cell, isDecimalComma, written] of [
  ["1234.50", false, "1234.50"],
  ["1,234.50", false, "1234.50"],
  ["1.234,50", true, "1234.50"],
  ["1 234,5", true, "1234.5"],
  ["1'234.5", false, "1234.5"],
  ["+007", false, "7"],
  ["-0.10", false, "-0.10"],
  ["12345678901234567890.12", false, "12345678901234567890.12"]
]) {
  test(`the amount ${cell} is sent as ${written}, never by way of a float`, () => {
    assert.deepEqual(literal(AMOUNT, cell, isDecimalComma), {literal: written, problem: null});
  });
}

for (const [field, cell, problem] of [
  [AMOUNT, "1.234,50", "notANumber"],
  [AMOUNT, "1,23", "notANumber"],
  [AMOUNT, "1.234", "tooManyDecimals"],
  [AMOUNT, "1e3", "notANumber"],
  [{type: "Int32"}, "1.5", "notWhole"],
  [{type: "Boolean"}, "perhaps", "notYesOrNo"],
  [{type: "Guid"}, "123", "notAnId"],
  [{type: "Date"}, "31.02.2026", "notADay"],
  [{type: "DateTimeOffset"}, "2026-02-31", "notAMoment"],
  [{type: "TimeOfDay"}, "8:30", "notATime"],
  [{type: "String", maxLength: 2}, "abc", "tooLong"]
]) {
  test(`${cell} is a problem of a ${field.type}: ${problem}`, () => {
    assert.equal(literal(field, cell, false).problem, problem);
  });
}

test("cells become JSON of their field's type", () => {
  assert.equal(literal({type: "Boolean"}, "Ja").literal, "true");
  assert.equal(literal({type: "Boolean"}, "0").literal, "false");
  assert.equal(literal({type: "Date"}, "5.3.2026").literal, '"2026-03-05"');
  assert.equal(literal({type: "DateTimeOffset"}, "2026-07-01T10:00:00+02:00").literal, '"2026-07-01T10:00:00+02:00"');
  assert.equal(literal({type: "DateTimeOffset"}, "1.7.2026 10:00").literal, '"2026-07-01T08:00:00Z"');
  assert.equal(literal({type: "String", maxLength: 1}, "😀").problem, null);
});

test("an empty cell is null where that can be, and required where it must not", () => {
  assert.deepEqual(literal({type: "String", isNullable: true}, " "), {literal: "null"});
  assert.deepEqual(literal({type: "String", isRequired: true}, ""), {problem: "required"});
  assert.deepEqual(literal({type: "String"}, ""), {problem: null});
});

test("values of a JSON file are of their field's type", () => {
  assert.equal(Values.problemOf(AMOUNT, 1.5), null);
  assert.equal(Values.problemOf({type: "String"}, 1), "notAText");
  assert.equal(Values.problemOf({type: "Boolean"}, "true"), "notYesOrNo");
  assert.equal(Values.problemOf({type: "Boolean"}, true), null);
  assert.equal(Values.problemOf({type: "String"}, {}), "notAValue");
  assert.equal(Values.problemOf({type: "String"}, null), "required");
});

test("what is left of a budget is counted back, exactly", () => {
  const consumed = [
    {day: "2026-03-01", amount: "0.1"},
    {day: "2026-03-03", amount: "0.2"}
  ];

  assert.deepEqual(leftAtEnd("0.3", ["2026-03-01", "2026-03-02", "2026-03-03"], consumed), [0.5, 0.5, 0.3]);
});

const said = (key, ...values) => [key, ...values].join("(");

test("a verdict says how sure it is, and nothing that cannot be tested", () => {
  const baskets = {uplift: 12.5, level: 0.05, treated: 40, control: 50};

  assert.equal(Verdict.ofBaskets(said, {...baskets, pValue: null}), "cannotBeTested");
  assert.equal(Verdict.ofBaskets(said, {...baskets, treated: 1, pValue: 0.5}), "tooFew(1(50");
  assert.equal(
    Verdict.ofBaskets(said, {...baskets, pValue: 0.03}),
    "basketHigher(12,5 % aboutOf100(= 0,030(3 isSignificant"
  );
  assert.equal(
    Verdict.ofRates(said, {uplift: -1, level: 0.05, treated: 20, control: 50, pValue: 0.0503}),
    "rateLower(1 % aboutOf100(= 0,0503(5 isNotSignificant fewBaskets(30"
  );
  assert.equal(
    Verdict.ofBaskets(said, {...baskets, level: 0.01, pValue: 0.03}),
    "basketHigher(12,5 % aboutOf100(= 0,030(3 isNotSignificant"
  );
  assert.equal(
    Verdict.ofGain(said, {...baskets, pValue: 0.06}),
    "gainHigher(12,5 % aboutOf100(= 0,060(6 isNotSignificant"
  );
  assert.equal(
    Verdict.ofBaskets(said, {...baskets, uplift: 0, pValue: 0.0001}),
    "basketSame fewerThanOne(< 0,001 isSignificant"
  );
});

test("an estimate has two digits", () => {
  const written = [0, 7, 94, 123, 11_987, 999_999].map((count) => Numbers.about(count));
  assert.deepEqual(written, ["0", "7", "94", "120", "12.000", "1.000.000"]);
});

test("intervals of rates need enough baskets", () => {
  assert.equal(Verdict.intervalOfRates({treated: 29, treatedHits: 1, control: 100, controlHits: 1}), null);
  const [low, high] = Verdict.intervalOfRates({treated: 100, treatedHits: 60, control: 100, controlHits: 50});
  assert.ok(Math.abs(low + 3.72) < 0.01);
  assert.ok(Math.abs(high - 23.72) < 0.01);
});

test("a change is exact at zero, and nothing is divided by it", () => {
  const t = (key) => key;
  assert.equal(change(t, 0, 0), "0 %");
  assert.equal(change(t, null, undefined), "0 %");
  assert.equal(change(t, 12.5, 0), "isNew");
  assert.equal(change(t, -3, 0), "isNew");
  assert.equal(change(t, 0, 80), "-100 %");
  assert.equal(change(t, 0.1 + 0.2, 0.3), "0 %");
  assert.equal(change(t, 110, 100), "+10 %");
  assert.equal(change(t, -5, -10), "+50 %");
});
