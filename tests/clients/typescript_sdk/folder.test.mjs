// Several senders of one folder, deliveries in the background, and what becomes of files that are not as they were.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {readdir, readFile, utimes, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {afterEach, beforeEach, test} from "node:test";
import {Queue} from "promenade-client";
import {FileStore} from "promenade-client/file-store";
import {CONFIRM, SALE_AT, close, desk, open, queueOf, quiet, sale, sales, up, voidOf, whileDown} from "./desk.mjs";
import {BUSY, Hour, Line, tillOn} from "./line.mjs";

beforeEach(open);
afterEach(close);

// --- several senders -------------------------------------------------------------------------------------------------

test("several senders of one folder send nothing twice, and one at a time", async () => {
  const {folder} = desk;
  const requests = await sales(12);
  await whileDown(requests);
  let [underWay, most] = [0, 0];
  const bodies = [];
  const shared = new Line();
  const fetchOf = shared.fetch;
  shared.fetch = async (address, request) => {
    if (!address.endsWith(CONFIRM)) {
      return fetchOf(address, request);
    }
    underWay += 1;
    most = Math.max(most, underWay);
    bodies.push(request.body);
    return fetchOf(address, request).finally(() => (underWay -= 1));
  };
  const sleep = {sleep: (seconds) => new Promise((wake) => setTimeout(wake, seconds * 1000))};
  const flushed = await Promise.all(
    [1, 2, 3].map(() => queueOf(folder, tillOn(shared, {hour: Object.assign(new Hour(), sleep)})).flush())
  );
  assert.equal(
    flushed.reduce((sum, one) => sum + one.delivered, 0),
    12
  );
  assert.deepEqual([most, bodies.length, new Set(bodies).size], [1, 12, 12]);
});

for (const isRefused of [false, true]) {
  test(`another sender was faster, and what came of a sale is known: ${isRefused ? "refused" : "done"}`, async () => {
    const {folder, line, queue} = desk;
    const good = await sale();
    const request = isRefused ? {...good, header: {...good.header, transactionCounter: 2}} : good;
    const release = await new FileStore(folder).turn();
    const hour = new Hour();
    let isFirst = true;
    hour.sleep = async () => {
      if (isFirst) {
        isFirst = false;
        await release();
        const flushed = await queueOf(folder, up).flush();
        assert.deepEqual([flushed.delivered, flushed.refused.length], isRefused ? [0, 1] : [1, 0]);
      }
    };
    const answered = queueOf(folder, tillOn(line, {hour})).confirm(request);
    if (isRefused) {
      const error = await answered.catch((one) => one);
      assert.deepEqual([error.code, error.command], ["ITERATION_NOT_FOUND", (await queue.refused())[0].id]);
    } else {
      assert.equal((await answered).confirmed, true);
    }
  });
}

const HOLDER = `
import {FileStore} from "promenade-client/file-store";
console.log(typeof (await new FileStore(process.argv[2]).turn()));
setInterval(() => {}, 1000);
`;

test("a process that is sending is waited for until it dies", async () => {
  const {folder, line} = desk;
  const [request, hour] = [await sale(), new Hour()];
  await writeFile("holder.mjs", HOLDER);
  const other = spawn(process.execPath, ["holder.mjs", folder], {stdio: ["ignore", "pipe", "inherit"]});
  const died = new Promise((resolve) => other.on("exit", resolve));
  try {
    const [said] = await new Promise((resolve) => other.stdout.once("data", (...data) => resolve(data)));
    assert.equal(String(said), "function\n");
    desk.queue = queueOf(folder, tillOn(line, {hour}));
    const {queue} = desk;
    assert.equal(await queue.confirm(request), null);
    assert.equal((await queue.flush()).delivered, 0);
    assert.deepEqual(line.requests, []);
    assert.ok(Math.abs(hour.waits.reduce((sum, one) => sum + one) - 10) < 0.001);
  } finally {
    other.kill("SIGKILL");
    await died;
  }
  assert.equal((await queueOf(folder).flush()).delivered, 1);
  assert.deepEqual(await readdir(folder), []);
});

test("a turn that nobody has touched for half a minute is taken over", async () => {
  const {folder} = desk;
  const [one, other] = [new FileStore(folder), new FileStore(folder)];
  const late = await one.turn();
  assert.equal(await other.turn(), undefined);
  const before = new Date(Date.now() - 31_000);
  await utimes(join(folder, "turn"), before, before);
  assert.equal(await other.turn(), undefined); // the stale one is removed
  const taken = await other.turn();
  assert.equal(typeof taken, "function");
  await late();
  assert.equal(await one.turn(), undefined);
  await taken();
  assert.equal(typeof (await one.turn()), "function");
});

// --- in the background, and the folder -------------------------------------------------------------------------------

test("what waits is delivered in the background, and at the end", async () => {
  const {line, queue} = desk;
  const request = await sale();
  line.faults.push(BUSY);
  assert.equal(await queue.confirm(request), null);
  const delivered = new Promise((resolve) => line.faults.push(async (passOn) => passOn().finally(resolve)));
  const often = queue.delivering({every: 0.01});
  await delivered;
  await often.stop();
  assert.deepEqual(await queue.waiting(), []);
  const seldom = queue.delivering({every: 3600});
  await line.down(() => queue.cancel(voidOf(request)));
  await seldom.stop();
  assert.deepEqual(await queue.waiting(), []);
  assert.equal((await up.transaction(request.transactionId)).cancelled, true);
  assert.throws(() => queue.delivering({every: 0}), RangeError);
});

test("a command that cannot be read is shown as refused and stops nothing", async () => {
  const {folder, queue} = desk;
  const requests = await sales(2);
  await whileDown(requests);
  const [first] = (await readdir(folder)).sort();
  await writeFile(join(folder, first), '{"format": 1, "kind": "conf');
  const [aside] = await queue.refused();
  assert.deepEqual(
    [aside.id, aside.refusal.code, aside.body],
    [first, "UNREADABLE_COMMAND", '{"format": 1, "kind": "conf']
  );
  assert.equal((await queue.flush()).delivered, 1);
  await queue.forget(first);
  assert.deepEqual(await readdir(folder), []);
});

test("a command of a later version is not touched", async () => {
  const {folder, queue} = desk;
  await whileDown([await sale()]);
  const [name] = await readdir(folder);
  const text = (await readFile(join(folder, name), "utf8")).replace('"format":1', '"format":2');
  await writeFile(join(folder, name), text);
  await assert.rejects(queue.flush(), /later version/);
  assert.equal(await readFile(join(folder, name), "utf8"), text);
});

test("a command of an unknown kind is set aside", async () => {
  const {folder, line, queue} = desk;
  await new FileStore(folder).put({kind: "refund", transactionId: "T", body: "{}", putAt: SALE_AT.toISOString()});
  const flushed = await queue.flush();
  assert.deepEqual([flushed.refused[0].refusal.code, line.requests], ["UNKNOWN_COMMAND", []]);
});

test("what could not be kept is not sent", async () => {
  const {folder, line, queue} = desk;
  const request = await sale();
  await writeFile(join(folder, "..", "file"), "");
  await assert.rejects(queueOf(join(folder, "..", "file")).confirm(request), {code: "EEXIST"});
  await assert.rejects(
    queue.confirm({...request, items: [{articleNumber: "A", quantity: 1, unitPrice: "1"}]}),
    TypeError
  );
  await assert.rejects(queue.releaseCoupon({reservationId: "R"}, {}), TypeError);
  assert.throws(() => new FileStore(), TypeError);
  assert.deepEqual(line.requests, []);
});

test("a store of the till's own is enough", async () => {
  const {till} = desk;
  const [requests, kept] = [await sales(2), new Map()];
  let isBusy = false;
  const own = {
    put: async (command) =>
      kept.set(String(kept.size), {...command, id: String(kept.size), attempts: 0}) && String(kept.size - 1),
    list: async (transactionId) =>
      [...kept.values()].filter((one) => transactionId === undefined || one.transactionId === transactionId),
    get: async (id) => kept.get(id),
    replace: async (command) => void kept.set(command.id, command),
    remove: async (id) => void kept.delete(id),
    turn: async () => (isBusy ? undefined : ((isBusy = true), async () => void (isBusy = false)))
  };
  desk.queue = new Queue(own, till, {log: quiet});
  const {queue} = desk;
  await whileDown(requests);
  assert.equal((await queue.flush()).delivered, 2);
  assert.deepEqual([kept.size, isBusy], [0, false]);
});
