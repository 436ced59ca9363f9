import assert from "node:assert/strict";
import {setTimeout as pause} from "node:timers/promises";
import test from "node:test";

import {Modules, TEXTS} from "./loader.mjs";

class Element {
  static focused = null;
  static closestTo() {
    return Element.focused;
  }
}
const listeners = new Map();
const page = {
  addEventListener: (name, listener) => listeners.set(name, listener),
  removeEventListener: (name) => listeners.delete(name),
  setInterval: () => 0,
  clearInterval() {}
};
globalThis.window = page;
globalThis.document = {...page, activeElement: {}, hidden: false};

const answers = [];
const shown = [];
const modules = new Modules({
  "sap/ui/core/Element": Element,
  "sap/ui/core/LabelEnablement": {getReferencingLabels: (control) => [control.label]},
  "promenade/generic/Format": {dateTime: (moment) => moment},
  "promenade/generic/Messages": {clear() {}, show: async ({message}) => shown.push(message)},
  "promenade/generic/Texts": TEXTS,
  "promenade/net/Http": {
    get: async () => {
      const answer = answers.shift();
      if (answer instanceof Error) {
        throw answer;
      }
      return answer;
    }
  },
  "promenade/session/Session": {current: () => ({user: "me"})}
});
const Unsaved = modules.load("promenade/generic/Unsaved");
const EditedDraft = modules.load("promenade/generic/EditedDraft");
Element.getElementById = (label) => ({getText: () => label});

const HERE = "promotion/1,draft";

/** A router at an address; `parsed` are the addresses that it has gone to. */
class Router {
  hash = HERE;
  parsed = [];

  getHashChanger() {
    return {
      getHash: () => this.hash,
      replaceHash: (hash) => {
        this.hash = hash;
      }
    };
  }

  parse(hash) {
    this.parsed.push(hash);
  }

  go(hash) {
    this.hash = hash;
    return this.parse(hash);
  }
}

/** A guard that says what was asked of it, in a list that several can share. */
function guard(name, log, {isChanged = true, may = true} = {}) {
  return {
    settled: async () => log.push(`${name} settled`),
    isChanged: () => isChanged,
    mayLeave: async () => {
      log.push(`${name} asked`);
      return may;
    },
    leave: () => log.push(`${name} left`)
  };
}

const isReloadStopped = () => {
  let isStopped = false;
  listeners.get("beforeunload")?.({
    preventDefault: () => {
      isStopped = true;
    }
  });
  return isStopped;
};

test("a page with changes is left once the person agrees", async () => {
  const [router, log] = [new Router(), []];
  Unsaved.guard(router, guard("page", log));
  assert.equal(isReloadStopped(), true);

  await router.go("home");

  assert.deepEqual(log, ["page settled", "page asked", "page left"]);
  assert.deepEqual([router.parsed, router.hash], [["home"], "home"]);
  assert.equal(isReloadStopped(), false);
});

test("who stays is at the same address, and is asked again", async () => {
  const [router, log] = [new Router(), []];
  Unsaved.guard(router, guard("page", log, {may: false}));

  await router.go("home");
  await router.go("home");

  assert.equal(router.hash, HERE);
  assert.deepEqual(router.parsed, []);
  assert.equal(log.filter((one) => one === "page asked").length, 2);
  Unsaved.release();
});

test("a page without changes is left without a question", async () => {
  const [router, log] = [new Router(), []];
  Unsaved.guard(router, guard("page", log, {isChanged: false}));
  assert.equal(isReloadStopped(), false);

  await router.go("home");

  assert.deepEqual(log, ["page settled", "page left"]);
  assert.deepEqual(router.parsed, ["home"]);
});

test("dialogs are asked before the page, the uppermost first, and one that refuses ends it", async () => {
  const [router, log] = [new Router(), []];
  Unsaved.guard(router, guard("page", log));
  const close = Unsaved.guardDialog(router, guard("dialog", log, {may: false}));
  Unsaved.guardDialog(router, guard("upper", log));

  await router.go("home");
  assert.deepEqual(log, ["upper settled", "upper asked", "dialog settled", "dialog asked"]);

  close();
  await router.go("home");
  assert.deepEqual(log.slice(4), [
    "upper settled",
    "upper asked",
    "page settled",
    "page asked",
    "page left",
    "upper left"
  ]);
});

test("a dialog over a page that is not guarded lets the router go when it closes", async () => {
  const router = new Router();
  const close = Unsaved.guardDialog(router, guard("dialog", []));

  close();
  close();
  await router.go("home");

  assert.deepEqual(router.parsed, ["home"]);
});

test("a page that goes on by itself while the person is asked is not led back", async () => {
  const router = new Router();
  Unsaved.guard(router, {
    isChanged: () => true,
    mayLeave: async () => {
      Unsaved.release();
      return false;
    }
  });

  await router.go("home");

  assert.deepEqual([router.hash, router.parsed], ["home", []]);
});

test("what was typed is taken before anything is asked", async () => {
  const taken = [];
  Element.focused = {onsapfocusleave: ({type}) => taken.push(type), getDomRef: () => null};
  const router = new Router();
  Unsaved.guard(router, guard("page", [], {isChanged: false}));

  isReloadStopped();
  await router.go("home");

  assert.deepEqual(taken, ["sapfocusleave", "sapfocusleave"]);
  Element.focused = null;
});

/** A field with a label: its change may be unsent, or what it holds no value of its type. */
const field = (label, {isUnsent = false, isInvalid = false} = {}) => ({
  label,
  getBinding: (name) =>
    name === "value"
      ? {
          hasPendingChanges: () => isUnsent,
          getDataState: () => ({getInvalidValue: () => (isInvalid ? "cheap" : undefined)})
        }
      : undefined,
  focus: () => shown.push(`focus ${label}`)
});
const container = (...fields) => ({findAggregatedObjects: (_deep, is) => fields.filter(is)});

test("fields are named, each once", () => {
  const fields = container(
    field("Name", {isUnsent: true}),
    field("Name", {isUnsent: true}),
    field("Price", {isInvalid: true}),
    field("Code")
  );

  assert.equal(Unsaved.words(fields, ["Places"]), "unsent Name, Places");
  assert.equal(Unsaved.words(container()), "unsentSome");
  assert.equal(Unsaved.hasWrong(fields), true);
  assert.equal(Unsaved.hasWrong(container(field("Code"))), false);
  assert.equal(Unsaved.question(fields, true), "unsentLeave");
  assert.equal(Unsaved.question(fields, false), "wrongLeave Price");
  assert.equal(Unsaved.leadToWrong(fields), true);
  assert.equal(shown.pop(), "focus Price");
});

const answered = (status) => Object.assign(new Error(), {status});

test("a draft is settled when the last of its changes was answered", async () => {
  const draft = new EditedDraft(() => {});
  let isSettled = false;
  draft.sent();
  draft.sent();
  const settled = draft.settled().then(() => {
    isSettled = true;
  });

  draft.answered();
  await pause(20);
  assert.deepEqual([isSettled, draft.isIdle()], [false, false]);

  draft.answered();
  await settled;
  assert.equal(draft.isIdle(), true);
});

for (const [name, active, hasActive, words] of [
  ["saved by another", {modifiedBy: "ann", modifiedAt: "noon"}, true, "lost.ended lost.changedBy ann noon"],
  ["saved in another window", {modifiedBy: "me"}, true, "lost.ended"],
  [
    "taken over",
    {DraftAdministrativeData: {CreatedByUser: "ann", CreationDateTime: "noon", DraftIsCreatedByMe: false}},
    true,
    "lost.takenOver ann noon"
  ],
  ["deleted", answered(404), false, "lost.deleted"]
]) {
  test(`a draft that was ${name} is lost, and the person is told once`, async () => {
    const lost = [];
    const draft = new EditedDraft((is) => lost.push(is));
    shown.length = 0;
    draft.start("Promotions", "1");
    answers.push(answered(404), active);

    assert.deepEqual(await Promise.all([draft.isLost(), draft.isLost()]), [true, true]);
    assert.equal(await draft.isLost(), true); // a change that is refused later has the same cause
    assert.deepEqual([lost, shown], [[hasActive], [words]]);
    draft.start("Promotions", "2");
    answers.push({ID: "2"});
    assert.equal(await draft.isLost(), false);
    draft.stop();
  });
}

test("who is being told that a draft is lost is told nothing else of it", async () => {
  const draft = new EditedDraft(() => {});
  shown.length = 0;
  draft.start("Promotions", "1");
  answers.push(answered(404), answered(404));
  const isFirstLost = draft.isLost();
  while (!shown.includes("lost.deleted")) {
    await pause(1);
  }

  assert.equal(await draft.isLost(), true);
  assert.equal(await isFirstLost, true);
});

test("a draft is not lost while it exists, or while the service cannot be asked", async () => {
  const draft = new EditedDraft(() => assert.fail());
  draft.start("Promotions", "1");

  answers.push({ID: "1"}, answered(503));
  assert.deepEqual([await draft.isLost(), await draft.isLost()], [false, false]);
  draft.stop();
});

test("a draft that the page ends itself is not reported, and is watched again when that fails", async () => {
  const draft = new EditedDraft(() => assert.fail());
  draft.start("Promotions", "1");

  assert.equal(await draft.ending(async () => draft.isLost()), false);
  answers.push({ID: "1"});
  assert.equal(await draft.isLost(), false);
  assert.equal(answers.length, 0);
  await draft.ending(async () => "done");
  assert.equal(await draft.isLost(), false);
});
