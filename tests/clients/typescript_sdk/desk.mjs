// A queue of a till with a folder and a line of its own.

import assert from "node:assert/strict";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {Queue, confirmation} from "promenade-client";
import {FileStore} from "promenade-client/file-store";
import {Line, basket, newTransaction, tillOn} from "./line.mjs";

export const CONFIRM = "/pos/v2/confirm";
export const SALE_AT = new Date("2026-05-04T10:30:00Z");
export const quiet = {warn() {}, error() {}};
export const up = tillOn(new Line());
export const desk = {};

/** Another queue of the same folder, unless another is named. */
export const queueOf = (folder, by = desk.till, options = {}) =>
  new Queue(new FileStore(folder), by, {log: quiet, ...options});

export const sale = async () => confirmation(await up.evaluate(basket(newTransaction())));
export const sales = (count) => Promise.all(Array.from({length: count}, sale));
export const isConfirmed = async ({transactionId}) => (await up.transaction(transactionId)).confirmed;
export const voidOf = ({transactionId}) => ({transactionId, transactionCounter: 1});

/** Confirm while nothing gets through. */
export async function whileDown(requests) {
  await desk.line.down(async () => {
    for (const one of requests) {
      assert.equal(await desk.queue.confirm(one), null);
    }
  });
}

export async function open() {
  const folder = join(await mkdtemp(join(tmpdir(), "queue-")), "sales");
  const line = new Line();
  Object.assign(desk, {folder, line, till: tillOn(line)});
  desk.queue = queueOf(folder);
}

export const close = () => rm(join(desk.folder, ".."), {recursive: true});
