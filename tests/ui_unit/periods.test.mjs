// The stores are in Berlin, with summer time from 29 March to 25 October 2026; the machine may be anywhere.
import assert from "node:assert/strict";
import test from "node:test";

import {Modules, zoneOf} from "./loader.mjs";

const modules = new Modules({
  "promenade/generic/Zone": zoneOf("Europe/Berlin"),
  "sap/ui/core/format/DateFormat": {
    getDateInstance: ({pattern}) => ({format: (date) => `${pattern}:${date.getUTCMonth() + 1}/${date.getUTCDate()}`})
  }
});
const Reported = modules.load("promenade/reports/Period");
const Calendar = modules.load("promenade/promotions/Period");
const Clock = modules.load("promenade/generic/Clock");

const TODAY = new Date("2026-03-15T22:30:00Z");

for (const [preset, from, to] of [
  ["last7", "2026-03-09", "2026-03-15"],
  ["last28", "2026-02-16", "2026-03-15"],
  ["thisMonth", "2026-03-01", "2026-03-15"],
  ["lastMonth", "2026-02-01", "2026-02-28"],
  ["last365", "2025-03-16", "2026-03-15"]
]) {
  test(`${preset} has both its ends and knows its name`, () => {
    assert.deepEqual(Reported.of(preset, TODAY), {from, to});
    assert.equal(Reported.nameOf({from, to}, TODAY), preset);
  });
}

test("any other period is a custom one", () => {
  assert.equal(Reported.nameOf({from: "2026-03-10", to: "2026-03-15"}, TODAY), "custom");
});

test("last month of January is December of the year before", () => {
  assert.deepEqual(Reported.of("lastMonth", new Date("2026-01-31T12:00:00Z")), {from: "2025-12-01", to: "2025-12-31"});
});

test("a day on which the clock changes has 23 or 25 hours", () => {
  assert.deepEqual(Reported.moments({from: "2026-03-29", to: "2026-03-29"}), {
    begin: "2026-03-28T23:00:00Z",
    end: "2026-03-29T22:00:00Z"
  });
  assert.deepEqual(Reported.moments({from: "2026-10-25", to: "2026-10-25"}), {
    begin: "2026-10-24T22:00:00Z",
    end: "2026-10-25T23:00:00Z"
  });
});

test("every day of a period is there once, over changes of the clock and leap days", () => {
  assert.deepEqual(Reported.days({from: "2026-03-28", to: "2026-03-30"}), ["2026-03-28", "2026-03-29", "2026-03-30"]);
  assert.deepEqual(Reported.days({from: "2028-02-28", to: "2028-03-01"}), ["2028-02-28", "2028-02-29", "2028-03-01"]);
  assert.deepEqual(Reported.days({from: "2026-03-30", to: "2026-03-28"}), []);
});

test("a calendar goes from month to month and from quarter to quarter", () => {
  assert.equal(Calendar.of(new Date("2026-11-30T12:00:00Z"), "month"), "2026-11");
  assert.equal(Calendar.of(new Date("2026-11-30T12:00:00Z"), "quarter"), "2026-10");
  assert.equal(Calendar.step("2026-12", "month", 1), "2027-01");
  assert.equal(Calendar.step("2026-01", "quarter", -1), "2025-10");
  assert.equal(Calendar.title("2026-11", "quarter"), "qqqq y:10/1");
});

test("the scale of a month has a tick for each day, that of a quarter one for each week", () => {
  const month = Calendar.scale("2026-03", "month", TODAY);
  const quarter = Calendar.scale("2026-01", "quarter", TODAY);

  assert.equal(month.ticks.length, 31);
  assert.deepEqual(
    month.ticks.filter((one) => one.isToday).map((one) => one.lower),
    ["d:3/15"]
  );
  assert.equal(month.ticks.filter((one) => one.isOff).length, 9);
  assert.equal(month.ticks.at(-1).until, 1);
  assert.ok(month.today > 0.48);
  assert.ok(month.today < 0.49);
  assert.equal(quarter.ticks.length, 14); // Thursday, 1 January, is in a week of its own
  assert.equal(Calendar.scale("2026-05", "month", TODAY).today, null);
});

test("the clock of a shop is read in its own time zone", () => {
  assert.equal(Clock.wall("2026-07-01T10:00:00Z", "Asia/Tokyo"), "2026-07-01T19:00:00");
  assert.equal(Clock.moment("2026-07-01T19:00", "Asia/Tokyo"), "2026-07-01T10:00:00Z");
  assert.equal(Clock.wall("2026-07-01T00:00:00Z", ""), "2026-07-01T00:00:00");
  assert.equal(Clock.moment("no time", "UTC"), null);
});

test("a shop's clock is right on both sides of a change to summer time", () => {
  assert.equal(Clock.moment("2026-03-29T01:59", "Europe/Berlin"), "2026-03-29T00:59:00Z");
  assert.equal(Clock.moment("2026-03-29T03:00", "Europe/Berlin"), "2026-03-29T01:00:00Z");
  assert.equal(Clock.moment("2026-10-25T03:30", "Europe/Berlin"), "2026-10-25T02:30:00Z");
});

test("a time that the clock skips is the one that it shows instead, and one that it shows twice the first", () => {
  assert.equal(Clock.moment("2026-03-29T02:30", "Europe/Berlin"), "2026-03-29T01:30:00Z");
  assert.equal(Clock.moment("2026-10-25T02:30", "Europe/Berlin"), "2026-10-25T00:30:00Z");
  assert.equal(Clock.moment("2026-11-01T01:30", "America/New_York"), "2026-11-01T05:30:00Z");
});

test("the last day that can be written ends with its last second, and a first one has a begin", () => {
  assert.equal(Clock.end("9999-12-31", "Europe/Berlin"), "9999-12-31T22:59:59Z");
  assert.equal(Clock.end("9999-12-31", "America/New_York"), "9999-12-31T23:59:59Z");
  assert.equal(Clock.day("9999-12-31T23:59:59Z", "Pacific/Auckland"), "9999-12-31");
  assert.equal(Clock.begin("0026-01-01", "UTC"), "0026-01-01T00:00:00Z");
});

test("a day begins where its midnight is skipped, and ends after 23 or 25 hours", () => {
  assert.equal(Clock.begin("2026-09-06", "America/Santiago"), "2026-09-06T04:00:00Z"); // at one o'clock
  assert.equal(Clock.isBegin("2026-09-06T04:00:00Z", "America/Santiago"), true);
  assert.equal(Clock.end("2026-03-29", "Europe/Berlin"), "2026-03-29T22:00:00Z");
  assert.equal(Clock.end("2026-10-25", "Europe/Berlin"), "2026-10-25T23:00:00Z");
  assert.equal(Clock.isBegin("2026-10-25T23:00:00.000000Z", "Europe/Berlin"), true);
  assert.equal(Clock.isBegin("2026-10-25T22:00:00Z", "Europe/Berlin"), false);
});

for (const [from, to, comparison, first, last] of [
  ["2026-03-09", "2026-03-15", "before", "2026-03-02", "2026-03-08"],
  ["2026-03-15", "2026-03-15", "before", "2026-03-14", "2026-03-14"],
  ["2026-03-01", "2026-03-31", "before", "2026-01-29", "2026-02-28"],
  ["2026-03-01", "2026-03-31", "year", "2025-03-01", "2025-03-31"],
  ["2028-02-29", "2028-03-10", "year", "2027-02-28", "2027-03-10"]
]) {
  test(`${from} to ${to} is compared with ${comparison}`, () => {
    assert.deepEqual(Reported.compared({from, to}, comparison), {from: first, to: last});
  });
}

test("a period is compared with nothing unless somebody asks", () => {
  assert.equal(Reported.compared({from: "2026-03-01", to: "2026-03-31"}, null), null);
});
