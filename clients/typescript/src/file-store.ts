/**
 * A store in a folder, for Node.js: a file for each command, written under another name, forced to the disk, renamed.
 *
 * Nothing is kept in memory between steps, so a process may die between any two of them, and so may the machine.
 */

import {createHash, randomUUID} from "node:crypto";
import * as fs from "node:fs/promises";
import {join} from "node:path";

import {takeTurn} from "./file-turn.js";
import type {Command, NewCommand, Release, Store} from "./store.js";

const FORMAT = 1;
const NAME = /^(\d{12})-([0-9a-f]{16})-[0-9a-f]{8}\.json$/; // its place, its transaction, and what makes it unique
const TEMPORARY = /\.part$/;
const TURN = "turn";
const LEFT_BEHIND_MS = 60_000; // a file is written in milliseconds
const PLACES_MAX = 10 ** 12;

/** The commands in the folder `path`, which is made if it is not there. Any number of processes may use it. */
export class FileStore implements Store {
  readonly #path: string;
  #ready: Promise<void> | undefined;

  constructor(path: string) {
    if (typeof path !== "string" || path === "") {
      throw new TypeError("path is missing: the folder of the queue");
    }
    this.#path = path;
  }

  async put(command: NewCommand): Promise<string> {
    const last = (await this.#names()).at(-1);
    const place = last === undefined ? 1 : Number(NAME.exec(last)?.[1]) + 1;
    if (place >= PLACES_MAX) {
      throw new RangeError(`${this.#path} has no place left`);
    }
    const unique = randomUUID().slice(0, 8);
    const id = `${String(place).padStart(12, "0")}-${keyOf(command.transactionId)}-${unique}.json`;
    const {kind, transactionId, body, putAt} = command;
    await this.#write(id, {kind, transactionId, body, putAt, attempts: 0});
    return id;
  }

  async list(transactionId?: string): Promise<Command[]> {
    const key = transactionId === undefined ? undefined : keyOf(transactionId);
    const found: Command[] = [];
    for (const name of await this.#names()) {
      const command = key === undefined || NAME.exec(name)?.[2] === key ? await this.get(name) : undefined;
      if (command && (transactionId === undefined || command.transactionId === transactionId)) {
        found.push(command);
      }
    }
    return found;
  }

  async get(id: string): Promise<Command | undefined> {
    if (!NAME.test(id)) {
      return undefined;
    }
    const text = await unless("ENOENT", fs.readFile(join(this.#path, id), "utf8"));
    return text === undefined ? undefined : this.#command(id, text);
  }

  async replace(command: Command): Promise<void> {
    const {id, ...rest} = command;
    if (await this.get(id)) {
      await this.#write(id, rest);
    }
  }

  async remove(id: string): Promise<void> {
    if (NAME.test(id)) {
      await unless("ENOENT", fs.unlink(join(this.#path, id)));
      await this.#syncFolder();
    }
  }

  async turn(): Promise<Release | undefined> {
    await this.#made();
    return takeTurn(join(this.#path, TURN));
  }

  /** The names of the commands, in order. */
  async #names(): Promise<string[]> {
    await this.#made();
    return (await fs.readdir(this.#path)).filter((name) => NAME.test(name)).sort();
  }

  #command(id: string, text: string): Command {
    const content = parsed(text);
    const {format, ...command} = content ?? {};
    if (typeof format === "number" && format > FORMAT) {
      throw new Error(`${join(this.#path, id)} was written by a later version of promenade-client`);
    }
    if (isCommand(command)) {
      return {...command, id};
    }
    const message = `${join(this.#path, id)} cannot be read.`;
    const refusal = {code: "UNREADABLE_COMMAND", message};
    return {id, kind: "unknown", transactionId: "", body: text, putAt: "", attempts: 0, refusal};
  }

  /** Write a command whole or not at all. */
  async #write(id: string, content: Omit<Command, "id">): Promise<void> {
    const temporary = join(this.#path, `${randomUUID()}.part`);
    const file = await fs.open(temporary, "wx", 0o600);
    try {
      await file.writeFile(JSON.stringify({format: FORMAT, ...content}));
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(temporary, join(this.#path, id));
    await this.#syncFolder();
  }

  /** Force the names in the folder to the disk. Windows does so itself and opens no folder. */
  async #syncFolder(): Promise<void> {
    if (process.platform === "win32") {
      return;
    }
    const folder = await fs.open(this.#path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async #made(): Promise<void> {
    this.#ready ??= this.#make();
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
  }

  /** Make the folder, and delete what a process left half written when it died. */
  async #make(): Promise<void> {
    await fs.mkdir(this.#path, {recursive: true, mode: 0o700});
    for (const name of (await fs.readdir(this.#path)).filter((one) => TEMPORARY.test(one))) {
      const found = await unless("ENOENT", fs.stat(join(this.#path, name)));
      if (found && Math.abs(Date.now() - found.mtimeMs) > LEFT_BEHIND_MS) {
        await unless("ENOENT", fs.unlink(join(this.#path, name)));
      }
    }
  }
}

function keyOf(transactionId: string): string {
  return createHash("sha256").update(transactionId).digest("hex").slice(0, 16);
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isCommand(content: Record<string, unknown>): content is Record<string, unknown> & Omit<Command, "id"> {
  const texts = [content["kind"], content["transactionId"], content["body"], content["putAt"]];
  return texts.every((one) => typeof one === "string") && Number.isSafeInteger(content["attempts"]);
}

/** What `work` resolves to; undefined if it fails with an error of this code. */
async function unless<T>(code: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as {code?: unknown}).code === code) {
      return undefined;
    }
    throw error;
  }
}
