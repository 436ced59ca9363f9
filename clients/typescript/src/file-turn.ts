/**
 * The right to send, as a file that one process at a time can make. It is taken over from a process that is dead, and
 * from one that has not touched it for half a minute: another machine's, or one whose number another process got.
 *
 * Were two to send at once after all, nothing would be counted twice: the service knows a repeat.
 */

import {randomUUID} from "node:crypto";
import * as fs from "node:fs/promises";
import {hostname} from "node:os";

import type {Release} from "./store.js";

const TOUCHED_EVERY_MS = 5_000;
const STALE_MS = 30_000;

/** Make the file; resolve to what deletes it, or to undefined while another process has it. */
export async function takeTurn(path: string): Promise<Release | undefined> {
  const mark = JSON.stringify({pid: process.pid, host: hostname(), own: randomUUID()});
  if (!(await made(path, mark))) {
    await removeStale(path);
    return undefined; // whoever is first gets it at the next attempt
  }
  const touching = setInterval(() => {
    const now = new Date();
    fs.utimes(path, now, now).catch(() => undefined);
  }, TOUCHED_EVERY_MS);
  touching.unref();
  return async () => {
    clearInterval(touching);
    if ((await textOf(path)) === mark) {
      await fs.rm(path, {force: true});
    }
  };
}

/** Make the file with its mark, whole or not at all, where the file system has links. */
async function made(path: string, mark: string): Promise<boolean> {
  const prepared = `${path}-${randomUUID()}.part`;
  await fs.writeFile(prepared, mark, {flag: "wx", mode: 0o600});
  try {
    const isMade = await isNew(fs.link(prepared, path));
    return isMade ?? (await isNew(fs.writeFile(path, mark, {flag: "wx", mode: 0o600}))) ?? false;
  } finally {
    await fs.rm(prepared, {force: true});
  }
}

/** Whether a file was made that was not there before; undefined if the file system cannot do so. */
async function isNew(making: Promise<void>): Promise<boolean | undefined> {
  try {
    await making;
    return true;
  } catch (error) {
    const {code} = error as {code?: unknown};
    if (code === "EEXIST") {
      return false;
    }
    if (["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(String(code))) {
      return undefined;
    }
    throw error;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  return fs.readFile(path, "utf8").catch(() => undefined);
}

/** Delete the file if nobody holds it any more. It is renamed first, so that a new one is never deleted instead. */
async function removeStale(path: string): Promise<void> {
  const [text, found] = [await textOf(path), await fs.stat(path).catch(() => undefined)];
  if (text === undefined || !found || isHeld(text, found.mtimeMs)) {
    return;
  }
  const taken = `${path}-${randomUUID()}.part`;
  try {
    await fs.rename(path, taken);
  } catch {
    return; // another process was faster
  }
  if ((await textOf(taken)) !== text) {
    await fs.link(taken, path).catch(() => undefined); // another process had made it anew: give it back
  }
  await fs.rm(taken, {force: true});
}

function isHeld(text: string, touchedMs: number): boolean {
  if (Math.abs(Date.now() - touchedMs) > STALE_MS) {
    return false;
  }
  try {
    const {pid, host} = JSON.parse(text) as {pid: number; host: string};
    return host !== hostname() || isAlive(pid);
  } catch {
    return true; // it is being written, where there are no links
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as {code?: unknown}).code !== "ESRCH";
  }
}
