/** Where a queue keeps its commands. `FileStore` and `IndexedDbStore` are such stores; a till may bring its own. */

/** A command to keep. */
export interface NewCommand {
  /** `confirm`, `cancel`, `redeem` or `release`. */
  readonly kind: string;
  readonly transactionId: string;
  /** The request as it is sent: JSON. */
  readonly body: string;
  /** When it came. ISO 8601, UTC. */
  readonly putAt: string;
}

/** Why a command was refused for good. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
  readonly status?: number;
}

/** A command that is kept: it waits, or was set aside with its refusal. */
export interface Command extends NewCommand {
  /** Names it in its store; not used again for another. */
  readonly id: string;
  /** How often it could not be delivered. */
  readonly attempts: number;
  readonly lastError?: string;
  readonly refusal?: Refusal;
}

/** A command that was refused for good, and why. */
export type SetAside = Command & {readonly refusal: Refusal};

/** Lets another sender have its turn. */
export type Release = () => Promise<void>;

/**
 * Keeps commands so that they outlive the process. A method resolves when what it has done is durable. Any number of
 * queues may use the same store, also in several processes.
 */
export interface Store {
  /** Keep a command; resolve to its ID. It comes after all that are kept. */
  put(command: NewCommand): Promise<string>;
  /** All commands that are kept, or those of a transaction, in the order in which they came. */
  list(transactionId?: string): Promise<Command[]>;
  /** One command; undefined if it is not kept. */
  get(id: string): Promise<Command | undefined>;
  /** Write a command anew, at its old place; one that is not kept any more stays gone. */
  replace(command: Command): Promise<void>;
  /** Forget a command, if it is kept. */
  remove(id: string): Promise<void>;
  /** Take the right to send; undefined while another has it. It ends with the process that holds it, in any way. */
  turn(): Promise<Release | undefined>;
}
