/** Commands that survive a line that is down and a process that dies: kept first, sent then, delivered once. */

import type {Answers, CancelCouponResponse, CancelResponse, ConfirmResponse, RedeemCouponResponse} from "./answers.js";
import type {Operation} from "./calling.js";
import {PromenadeError, Refused, TooMany, Unavailable} from "./errors.js";
import * as operations from "./operations.js";
import type {CancelCouponRequest, CancelRequest, ConfirmRequest, RedeemCouponRequest} from "./requests.js";
import {isRedeemed, isReleased} from "./sale.js";
import type {Command, Refusal, SetAside, Store} from "./store.js";
import type {Till} from "./till.js";

/** What may be set of a queue. */
export interface QueueOptions {
  /** Is told each command that is refused for good. */
  readonly tell?: (aside: SetAside) => void;
  /** The clock for times of sales. */
  readonly now?: () => Date;
  /** Is told what waits and what is refused. Default: the console. */
  readonly log?: {warn(message: string): void; error(message: string): void};
}

/** What came of a flush. */
export interface Flushed {
  readonly delivered: number;
  readonly refused: readonly SetAside[];
  readonly waiting: number;
  /** The error for which it ended before all had been tried. */
  readonly stoppedBy: PromenadeError | undefined;
}

/** Deliveries in the background. */
export interface Delivering {
  /** End them, with a last flush. */
  stop(): Promise<void>;
}

const FAILURES_MAX = 3; // in succession, then the service is taken to be down
const TURN_PAUSE = 0.02; // seconds
const TURNS_MAX = 250; // how often another sender is waited for: five seconds in all
const SECONDS_MAX = 24 * 3600;

const KINDS = {
  confirm: {method: "POST", path: "/pos/v2/confirm", answer: "ConfirmResponse"},
  cancel: {method: "POST", path: "/pos/v2/cancel", answer: "CancelResponse"},
  redeem: {method: "POST", path: "/pos/coupons/redeem", answer: "RedeemCouponResponse"},
  release: {method: "POST", path: "/pos/coupons/cancel", answer: "CancelCouponResponse"}
} as const;

type Kind = keyof typeof KINDS;
type Answer<K extends Kind> = Answers[(typeof KINDS)[K]["answer"]];
type Outcome = Answer<Kind> | PromenadeError;

/** When to flush again: after `every` seconds, or later if the service has asked for it. */
export function pauseAfter(flushed: Flushed, every: number): number {
  const {stoppedBy} = flushed;
  const asked = stoppedBy instanceof TooMany || stoppedBy instanceof Unavailable ? stoppedBy.retryAfter : undefined;
  return Math.max(every, asked ?? 0);
}

/**
 * Commands kept in `store` until `till` has delivered them.
 *
 * Each is in the store before it is sent. Commands of one transaction are sent in order, and one command at a time,
 * whatever number of queues and processes use the store. A command that is refused for good is set aside, logged, and
 * told to `tell`.
 */
export class Queue {
  readonly #store: Store;
  readonly #till: Till;
  readonly #tell: (aside: SetAside) => void;
  readonly #now: () => Date;
  readonly #log: {warn(message: string): void; error(message: string): void};
  #lastPut: Promise<unknown> = Promise.resolve();
  #lastSent: Promise<unknown> = Promise.resolve();

  constructor(store: Store, till: Till, options: QueueOptions = {}) {
    this.#store = store;
    this.#till = till;
    this.#tell = options.tell ?? (() => undefined);
    this.#now = options.now ?? (() => new Date());
    this.#log = options.log ?? console;
  }

  /**
   * Keep a confirm and send it; resolve to its answer, or to null while it waits. Rejects with Refused.
   *
   * Without a `timestamp` it gets the present one: the sale is made now, whenever it is delivered.
   */
  async confirm(request: ConfirmRequest): Promise<ConfirmResponse | null> {
    const timed = {...request, timestamp: request.timestamp ?? this.#now()};
    return this.#send("confirm", request.transactionId, operations.confirm(timed));
  }

  /** Keep the cancel of a sale and send it, as `confirm` does. */
  async cancel(request: CancelRequest): Promise<CancelResponse | null> {
    return this.#send("cancel", request.transactionId, operations.cancel(request));
  }

  /** Keep the redemption of a reserved code and send it, as `confirm` does; a "no" rejects with Refused. */
  async redeemCoupon(request: RedeemCouponRequest): Promise<RedeemCouponResponse | null> {
    return this.#send("redeem", request.transactionId, operations.redeemCoupon(request));
  }

  /** Keep the release of a code that `transactionId` has reserved and send it, as `redeemCoupon` does. */
  async releaseCoupon(
    request: CancelCouponRequest,
    {transactionId}: {readonly transactionId: string}
  ): Promise<CancelCouponResponse | null> {
    return this.#send("release", transactionId, operations.releaseCoupon(request));
  }

  /** Deliver what waits, oldest first and in order within a transaction, until the service is down. */
  async flush(): Promise<Flushed> {
    const refused: SetAside[] = [];
    const tried = new Set<string>();
    let [delivered, failures] = [0, 0];
    let stoppedBy: PromenadeError | undefined;
    for (const {id, transactionId} of inTurn(await this.waiting())) {
      if (tried.has(transactionId)) {
        continue;
      }
      const sent = await this.#one(async () => this.#store.get(id));
      if (!sent) {
        continue; // another sender has delivered it
      }
      const {outcome, aside} = sent;
      if (aside) {
        refused.push(aside);
      } else if (outcome instanceof PromenadeError) {
        tried.add(transactionId);
        failures += 1;
        const isDown = !(outcome instanceof Unavailable) || !outcome.wasSent || failures === FAILURES_MAX;
        stoppedBy = isDown ? outcome : undefined;
      } else {
        delivered += 1;
      }
      if (stoppedBy) {
        break;
      }
      failures = outcome instanceof PromenadeError && !aside ? failures : 0;
    }
    return {delivered, refused, waiting: (await this.waiting()).length, stoppedBy};
  }

  /** Flush in the background: now, every so many seconds, and at the end. */
  delivering({every = 30}: {readonly every?: number} = {}): Delivering {
    if (!(every > 0 && every <= SECONDS_MAX)) {
      throw new RangeError(`every: ${every} is not above 0 and at most ${SECONDS_MAX} seconds`);
    }
    let isOver = false;
    let wake = (): void => undefined;
    const work = async (): Promise<void> => {
      while (!isOver) {
        const pause = pauseAfter(await this.#flushAndGoOn(), every);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, isOver ? 0 : pause * 1000);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      await this.#flushAndGoOn();
    };
    const working = work();
    return {
      stop: async () => {
        isOver = true;
        wake();
        return working;
      }
    };
  }

  /** The commands that wait, in the order in which they came. */
  async waiting(): Promise<Command[]> {
    return (await this.#store.list()).filter((one) => !one.refusal);
  }

  /** The commands that were refused and set aside. */
  async refused(): Promise<SetAside[]> {
    return (await this.#store.list()).filter((one): one is SetAside => one.refusal !== undefined);
  }

  /** Let a command that was set aside wait again, at its old place. Rejects with RangeError if none was. */
  async again(id: string): Promise<void> {
    const {refusal, ...command} = await this.#aside(id);
    await this.#store.replace({...command, attempts: 0});
  }

  /** Delete a command that was set aside. Rejects with RangeError if none was. */
  async forget(id: string): Promise<void> {
    await this.#aside(id);
    await this.#store.remove(id);
  }

  async #aside(id: string): Promise<Command> {
    const command = await this.#store.get(id);
    if (!command?.refusal) {
      throw new RangeError(`no command ${id} was set aside`);
    }
    return command;
  }

  /** Keep a command, then try to deliver it after those of its transaction that wait before it. */
  async #send<K extends Kind>(
    kind: K,
    transactionId: string,
    operation: Operation<(typeof KINDS)[K]["answer"]>
  ): Promise<Answer<K> | null> {
    const id = await this.#keep(kind, transactionId, operation.body ?? "");
    for (;;) {
      const sent = await this.#one(async () => (await this.#store.list(transactionId)).find((one) => !one.refusal));
      if (!sent) {
        return this.#answerOf(id, operation);
      }
      const {command, outcome, aside} = sent;
      if (aside) {
        if (command.id === id) {
          throw outcome;
        }
      } else if (outcome instanceof PromenadeError) {
        this.#log.warn(`the ${kind} of ${transactionId} waits in the queue: ${outcome.message}`);
        return null;
      } else if (command.id === id) {
        return outcome as Answer<K>;
      }
    }
  }

  /** Put a command into the store, after those that came before it. */
  async #keep(kind: Kind, transactionId: string, body: string): Promise<string> {
    if (typeof transactionId !== "string" || transactionId === "") {
      throw new TypeError("transactionId is missing");
    }
    const putAt = this.#now().toISOString();
    const kept = this.#lastPut.then(async () => this.#store.put({kind, transactionId, body, putAt}));
    this.#lastPut = kept.catch(() => undefined);
    return kept;
  }

  /** What came of a command that another sender may have delivered: a repeat gets the same answer. */
  async #answerOf<K extends Kind>(
    id: string,
    operation: Operation<(typeof KINDS)[K]["answer"]>
  ): Promise<Answer<K> | null> {
    const kept = await this.#store.get(id);
    if (kept?.refusal) {
      throw errorOf(kept, kept.refusal);
    }
    if (kept) {
      return null;
    }
    const outcome = await this.#outcomeOf(operation);
    return outcome instanceof PromenadeError ? null : outcome;
  }

  /** Send the command that `next` names, in this sender's turn; undefined if there is none, or if it gets no turn. */
  async #one(
    next: () => Promise<Command | undefined>
  ): Promise<{command: Command; outcome: Outcome; aside?: SetAside} | undefined> {
    const mine = this.#lastSent.then(async () => {
      for (let turns = 0; turns < TURNS_MAX; turns += 1) {
        const release = await this.#store.turn();
        if (release) {
          try {
            const command = await next();
            return command && !command.refusal ? await this.#deliver(command) : undefined;
          } finally {
            await release();
          }
        }
        await this.#till.sleep(TURN_PAUSE);
      }
      return undefined;
    });
    this.#lastSent = mine.catch(() => undefined);
    return mine;
  }

  /** Send a command and record what came of it. */
  async #deliver(command: Command): Promise<{command: Command; outcome: Outcome; aside?: SetAside}> {
    const {id, kind, transactionId, body, attempts} = command;
    const operation = Object.hasOwn(KINDS, kind) ? KINDS[kind as Kind] : undefined;
    const outcome = operation ? await this.#outcomeOf({...operation, body}) : unknownKind(kind);
    const refusal = refusalOf(kind, outcome);
    if (refusal) {
      const {code, detail: message, field, status} = refusal;
      const why = {code, message, ...(field === undefined ? {} : {field}), ...(status === undefined ? {} : {status})};
      const aside = {...command, refusal: why};
      await this.#store.replace(aside);
      this.#log.error(`the ${kind} of ${transactionId} was refused and set aside: ${refusal.message}`);
      this.#tell(aside);
      return {command, outcome: errorOf(command, why), aside};
    }
    if (outcome instanceof PromenadeError) {
      await this.#store.replace({...command, attempts: attempts + 1, lastError: outcome.message});
    } else {
      await this.#store.remove(id);
    }
    return {command, outcome};
  }

  async #outcomeOf<Name extends keyof Answers>(operation: Operation<Name>): Promise<Answers[Name] | PromenadeError> {
    try {
      return await this.#till.run(operation, false);
    } catch (error) {
      if (error instanceof PromenadeError) {
        return error;
      }
      throw error;
    }
  }

  async #flushAndGoOn(): Promise<Flushed> {
    try {
      return await this.flush();
    } catch (error) {
      this.#log.error(`the queue could not be flushed; it is tried again: ${String(error)}`);
      return {delivered: 0, refused: [], waiting: 0, stoppedBy: undefined};
    }
  }
}

/** Commands in the order to send them: in order within a transaction, those that were tried least before the others. */
function inTurn(commands: readonly Command[]): Command[] {
  const tries = new Map<string, number>();
  const placed = commands.map((command, place) => {
    const attempts = Math.max(command.attempts, tries.get(command.transactionId) ?? 0);
    tries.set(command.transactionId, attempts);
    return {command, attempts, place};
  });
  return placed
    .sort((one, other) => one.attempts - other.attempts || one.place - other.place)
    .map((one) => one.command);
}

/** The error of a command that was refused for good, also of one that was answered by a business "no". */
function refusalOf(kind: string, outcome: Outcome): Refused | undefined {
  if (outcome instanceof PromenadeError) {
    return outcome instanceof Refused ? outcome : undefined;
  }
  const coupon = outcome as RedeemCouponResponse & CancelCouponResponse;
  const isNo = (kind === "redeem" && !isRedeemed(coupon)) || (kind === "release" && !isReleased(coupon));
  return isNo ? new Refused(coupon.reason ?? "UNKNOWN", coupon.message, {status: 200}) : undefined;
}

function errorOf(command: Command, {code, message, field, status}: Refusal): Refused {
  return new Refused(code, message, {field, status, command: command.id});
}

function unknownKind(kind: string): Refused {
  return new Refused("UNKNOWN_COMMAND", `This version of promenade-client cannot send a ${kind}.`);
}
