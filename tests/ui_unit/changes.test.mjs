import assert from "node:assert/strict";
import test from "node:test";

import {load} from "./loader.mjs";

const PROMOTION = {id: "p", modifiedAt: "2026-06-01T00:00:00Z"};

/** Whether the promotion counts as changed since a moment, by what the service answers. */
const since = (moment, {keptSince = null, counts = [0, 0, 0, 0]} = {}) =>
  load("promenade/promotions/Changes", {
    "promenade/reports/Service": {
      read: async (service, queries) =>
        queries.map(({set}) =>
          set === "TenantSettings" ? {rows: [{auditLogsSince: keptSince}], count: 1} : {rows: [], count: counts.shift()}
        )
    }
  }).since(PROMOTION, moment);

test("only entries and rules that were changed count", async () => {
  assert.equal(await since("2026-05-01T00:00:00Z"), false);
  assert.equal(await since("2026-05-01T00:00:00Z", {counts: [1, 0, 0, 0]}), true);
  assert.equal(await since("2026-05-01T00:00:00Z", {counts: [0, 0, 0, 2]}), true);
});

test("any change counts since a moment of which entries may have been deleted", async () => {
  assert.equal(await since("2026-05-01T00:00:00Z", {keptSince: "2026-04-30T00:00:00Z"}), false);
  assert.equal(await since("2026-05-01T00:00:00Z", {keptSince: "2026-05-02T00:00:00Z"}), true);
  assert.equal(await since("2026-06-01T00:00:00Z", {keptSince: "2026-06-02T00:00:00Z"}), false);
});
