import assert from "node:assert/strict";
import {Buffer} from "node:buffer";
import test from "node:test";

import {load} from "./loader.mjs";

const Ics = load("promenade/promotions/Ics");

const ROW = {
  promotion_ID: "0192f0c1-0000-7000-8000-000000000001",
  promotionName: "Tea; cups, and more",
  status: "ACTIVE",
  campaignCode: null,
  posGroups: [],
  startsAt: "2026-10-23T22:00:00Z",
  endsAt: "2026-10-25T23:00:00Z"
};
const GIVEN = {
  from: "2026-09-30T22:00:00Z",
  to: "2026-10-31T23:00:00Z",
  zone: "Europe/Berlin",
  now: new Date("2026-10-01T08:00:00.123Z"),
  origin: "https://shop.example",
  describe: () => "first line\nsecond \\ line"
};

const of = (...rows) =>
  Ics.of(
    rows.map((row) => ({...ROW, ...row})),
    GIVEN
  );
const unfolded = (text) => text.replaceAll("\r\n ", "").split("\r\n");

test("whole days are days in every calendar, over a change of the clock too", () => {
  const lines = unfolded(of({}));
  assert.ok(lines.includes("DTSTART;VALUE=DATE:20261024"));
  assert.ok(lines.includes("DTEND;VALUE=DATE:20261026"));
});

test("other times are moments", () => {
  const lines = unfolded(of({endsAt: "2026-10-25T10:00:00.000000Z"}));
  assert.ok(lines.includes("DTSTART:20261023T220000Z"));
  assert.ok(lines.includes("DTEND:20261025T100000Z"));
});

test("what is open has the bounds of the period, and what never runs is left out", () => {
  const lines = unfolded(of({startsAt: null, endsAt: null}));
  assert.ok(lines.includes("DTSTART;VALUE=DATE:20261001"));
  assert.ok(lines.includes("DTEND;VALUE=DATE:20261101"));
  assert.ok(!of({endsAt: ROW.startsAt}).includes("VEVENT"));
});

test("the same promotion has the same identity in every file", () => {
  const uid = "UID:0192f0c1-0000-7000-8000-000000000001@promenade";
  assert.ok(unfolded(of({})).includes(uid));
  assert.ok(unfolded(of({promotionName: "Another name", startsAt: null})).includes(uid));
});

test("signs with a meaning are escaped", () => {
  const lines = unfolded(of({}));
  assert.ok(lines.includes("SUMMARY:Tea\\; cups\\, and more"));
  assert.ok(lines.includes("DESCRIPTION:first line\\nsecond \\\\ line"));
});

test("no line has more than 75 octets, and none ends within a sign", () => {
  const name = "Käse für 1 € 🧀 ".repeat(20);
  const text = of({promotionName: name});
  for (const line of text.split("\r\n")) {
    assert.ok(Buffer.byteLength(line) <= 75, line);
    assert.ok(!line.includes("\ufffd"));
  }
  assert.ok(unfolded(text).includes(`SUMMARY:${name}`));
});

test("plans are tentative", () => {
  assert.ok(unfolded(of({status: "DRAFT"})).includes("STATUS:TENTATIVE"));
  assert.ok(unfolded(of({status: "ACTIVE"})).includes("STATUS:CONFIRMED"));
});
