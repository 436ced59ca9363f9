/** A store in IndexedDB, for browsers. The turn is a Web Lock, which a browser releases when the page is gone. */

import type {Command, NewCommand, Release, Store} from "./store.js";

const VERSION = 1;
const COMMANDS = "commands";
const OF_TRANSACTION = "transactionId";

/** The commands in the database `name` of this origin. Any number of pages and workers may use it. */
export class IndexedDbStore implements Store {
  readonly #name: string;
  #database: Promise<IDBDatabase> | undefined;

  constructor(name: string) {
    if (typeof name !== "string" || name === "") {
      throw new TypeError("name is missing: that of the queue's database");
    }
    this.#name = name;
  }

  async put(command: NewCommand): Promise<string> {
    const {kind, transactionId, body, putAt} = command;
    const row = {kind, transactionId, body, putAt, attempts: 0};
    return String(await this.#work("readwrite", (commands) => commands.add(row)));
  }

  async list(transactionId?: string): Promise<Command[]> {
    const found = await this.#work<unknown[]>("readonly", (commands) =>
      transactionId === undefined ? commands.getAll() : commands.index(OF_TRANSACTION).getAll(transactionId)
    );
    return found.map(commandOf);
  }

  async get(id: string): Promise<Command | undefined> {
    const found = await this.#work<unknown>("readonly", (commands) => commands.get(Number(id)));
    return found === undefined ? undefined : commandOf(found);
  }

  async replace(command: Command): Promise<void> {
    const row = {...command, id: Number(command.id)};
    await this.#work("readwrite", (commands) => {
      const found = commands.getKey(row.id);
      found.onsuccess = () => {
        if (found.result !== undefined) {
          commands.put(row);
        }
      };
      return found;
    });
  }

  async remove(id: string): Promise<void> {
    await this.#work("readwrite", (commands) => commands.delete(Number(id)));
  }

  async turn(): Promise<Release | undefined> {
    return new Promise((taken, failed) => {
      const how = {ifAvailable: true} as const;
      const held = navigator.locks.request(`promenade-client ${this.#name}`, how, async (lock) => {
        if (!lock) {
          taken(undefined);
          return;
        }
        await new Promise<void>((end) => {
          taken(async () => {
            end();
            await held;
          });
        });
      });
      held.catch(failed);
    });
  }

  /** Carry out a request in a transaction of its own; resolve when the transaction is on the disk. */
  async #work<T>(mode: IDBTransactionMode, ask: (commands: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    this.#database ??= opened(this.#name, () => (this.#database = undefined));
    const database = await this.#database;
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(COMMANDS, mode, {durability: "strict"});
      const request = ask(transaction.objectStore(COMMANDS));
      transaction.oncomplete = () => {
        resolve(request.result);
      };
      transaction.onabort = () => {
        reject(transaction.error ?? new Error("the transaction was aborted"));
      };
    });
  }
}

async function opened(name: string, closed: () => void): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name, VERSION);
    opening.onupgradeneeded = () => {
      const commands = opening.result.createObjectStore(COMMANDS, {keyPath: "id", autoIncrement: true});
      commands.createIndex(OF_TRANSACTION, OF_TRANSACTION);
    };
    opening.onsuccess = () => {
      opening.result.onclose = closed;
      opening.result.onversionchange = () => {
        opening.result.close();
        closed();
      };
      resolve(opening.result);
    };
    opening.onerror = () => {
      closed();
      reject(opening.error ?? new Error(`${name} could not be opened`)); // VersionError: a later version wrote it
    };
  });
}

function commandOf(row: unknown): Command {
  const {id, ...rest} = row as Omit<Command, "id"> & {id: number};
  return {...rest, id: String(id)};
}
