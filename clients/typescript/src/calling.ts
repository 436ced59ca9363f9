/** How a call goes: what to send, when to wait, when to take a new token, when to give up. */

import type {Answers} from "./answers.js";
import {errorOf, NotAllowed, PromenadeError, Refused, TooMany, Unavailable, type Reply} from "./errors.js";
import {NotOfThisInterface, read, type Message} from "./wire.js";

/** What is needed of the platform's `fetch`. */
export type Fetch = (
  url: string,
  request: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    signal: AbortSignal;
    redirect: "manual";
    cache: "no-store";
    credentials: "omit";
  }
) => Promise<{status: number; headers: {get(name: string): string | null}; text(): Promise<string>}>;

/**
 * The ID and the secret of a client, for which the service gives tokens. A secret belongs on a server or in a till,
 * never in a page that customers open.
 */
export class ClientCredentials {
  readonly clientId: string;
  /** Of the issuer, if it is not the service itself. */
  readonly tokenUrl: string | undefined;
  /** Only some of the client's scopes. */
  readonly scope: string | undefined;
  readonly #secret: string;

  constructor(clientId: string, clientSecret: string, options: {tokenUrl?: string; scope?: string} = {}) {
    this.clientId = needed("clientId", clientId);
    this.#secret = needed("clientSecret", clientSecret);
    this.tokenUrl = options.tokenUrl === undefined ? undefined : address(options.tokenUrl);
    this.scope = options.scope;
  }

  /** @internal */
  form(): string {
    const form = new URLSearchParams({grant_type: "client_credentials", client_id: this.clientId});
    form.set("client_secret", this.#secret);
    if (this.scope !== undefined) {
      form.set("scope", this.scope);
    }
    return form.toString();
  }
}

/** The key of a till in a store that has an instance of its own. */
export class ApiKey {
  readonly #key: string;

  constructor(key: string) {
    this.#key = needed("key", key);
  }

  /** @internal */
  text(): string {
    return this.#key;
  }
}

/** How long a call takes at most and how it is repeated. All times are in seconds, not in milliseconds. */
export interface Patience {
  /** No attempt begins after so many seconds. Default: 15. */
  readonly deadline?: number;
  /** No attempt waits longer for its answer. Default: 5. */
  readonly timeout?: number;
  /** The pauses between attempts double from this one... Default: 0.2. */
  readonly firstPause?: number;
  /** ...to this one; each is drawn between half of it and all of it. `Retry-After` is heeded. Default: 5. */
  readonly longestPause?: number;
  /** A clock that only goes forward, in seconds. */
  readonly clock?: () => number;
  /** A number from 0 to 1 for each pause, so that tills do not come back all at once. Default: Math.random. */
  readonly luck?: () => number;
}

/** One request of the interface and the name of its answer. */
export interface Operation<Name extends keyof Answers> {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly answer: Name & Message;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const SECONDS_MAX = 3600;
const TIMEOUT_MIN = 0.1;
const TIMES = {deadline: 15, timeout: 5, firstPause: 0.2, longestPause: 5} as const;
const NOT_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

function needed(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "") {
    throw new TypeError(`${name} is missing`);
  }
  return value;
}

function address(url: string): string {
  if (!/^https?:\/\//.test(url)) {
    throw new TypeError(`${url} is no address: it begins with https:// or http://`);
  }
  return url.replace(/\/+$/, "");
}

/** Patience without gaps. Throws RangeError for a time that nobody means in seconds. */
function complete(patience: Patience): Required<Patience> {
  const {clock = () => performance.now() / 1000, luck = Math.random} = patience;
  const times = {...TIMES, ...patience};
  for (const name of Object.keys(TIMES) as (keyof typeof TIMES)[]) {
    const seconds: number = times[name];
    if (!(seconds > 0 && seconds <= SECONDS_MAX)) {
      throw new RangeError(`${name}: ${seconds} is not above 0 and at most ${SECONDS_MAX} seconds`);
    }
  }
  return {...times, clock, luck};
}

/** Carries out operations of one service. */
export class Caller {
  readonly #url: string;
  readonly #patience: Required<Patience>;
  readonly #fetch: Fetch;
  readonly #key: ApiKey | undefined;
  readonly #tokens: Tokens | undefined;
  readonly sleep: (seconds: number) => Promise<void>;

  constructor(
    url: string,
    credentials: ClientCredentials | ApiKey,
    patience: Patience,
    fetch: Fetch,
    sleep: (seconds: number) => Promise<void>
  ) {
    this.#url = address(url);
    this.#patience = complete(patience);
    this.#fetch = fetch;
    this.sleep = sleep;
    if (credentials instanceof ApiKey) {
      this.#key = credentials;
    } else if (credentials instanceof ClientCredentials) {
      const tokenUrl = credentials.tokenUrl ?? `${this.#url}/oauth/token`;
      this.#tokens = new Tokens(this.#patience.clock, () => this.#renewal(tokenUrl, credentials));
    } else {
      throw new TypeError("credentials are missing: ClientCredentials or ApiKey");
    }
  }

  /**
   * Send an operation until it is answered; without `repeats` once, and once more with a new token.
   *
   * Every operation is safe to repeat: the service counts a confirm, a cancel, a redemption or an order of coupons
   * once, and an iteration that nobody confirms has no effect. Rejects with PromenadeError.
   */
  async call<Name extends keyof Answers>(operation: Operation<Name>, repeats = true): Promise<Answers[Name]> {
    const ends = this.#patience.clock() + this.#patience.deadline;
    let stale: string | undefined;
    for (let pauses = 0; ; ) {
      const {token, outcome} = await this.#attempt(operation, stale, ends);
      if (!(outcome instanceof PromenadeError)) {
        return outcome;
      }
      if (outcome.status === 401 && token !== undefined && stale === undefined) {
        stale = token;
        continue;
      }
      const pause = repeats ? this.#pause(outcome, pauses, ends) : undefined;
      if (pause === undefined) {
        throw outcome;
      }
      await this.sleep(pause);
      pauses += 1;
    }
  }

  /** How long to wait after an error before the next attempt; undefined if there is to be none. */
  #pause(error: PromenadeError, repeats: number, ends: number): number | undefined {
    if (!(error instanceof TooMany || error instanceof Unavailable)) {
      return undefined;
    }
    const {firstPause, longestPause, luck, clock} = this.#patience;
    const usual = Math.min(firstPause * 2 ** Math.min(repeats, 32), longestPause);
    const pause = Math.max(usual * (0.5 + luck() / 2), error.retryAfter ?? 0);
    return clock() + pause < ends ? pause : undefined;
  }

  /** Send an operation once; tell the token it was sent with and what came of it. */
  async #attempt<Name extends keyof Answers>(
    operation: Operation<Name>,
    stale: string | undefined,
    ends: number
  ): Promise<{token?: string; outcome: Answers[Name] | PromenadeError}> {
    const headers: Record<string, string> = {accept: "application/json", ...operation.headers};
    if (operation.body !== undefined) {
      headers["content-type"] = "application/json";
    }
    let token: string | undefined;
    try {
      if (this.#key) {
        headers["x-api-key"] = this.#key.text();
      } else if (this.#tokens) {
        token = await this.#tokens.take(stale);
        headers["authorization"] = `Bearer ${token}`;
      }
      const timeout = Math.min(this.#patience.timeout, Math.max(ends - this.#patience.clock(), TIMEOUT_MIN));
      const reply = await this.#send(operation.method, this.#url + operation.path, headers, operation.body, timeout);
      return {...(token === undefined ? {} : {token}), outcome: answerOf(operation, reply)};
    } catch (error) {
      if (error instanceof PromenadeError) {
        return {...(token === undefined ? {} : {token}), outcome: error};
      }
      throw error;
    }
  }

  async #send(
    method: string,
    url: string,
    headers: Record<string, string>,
    body: string | undefined,
    timeout: number
  ): Promise<Reply> {
    const how = {redirect: "manual", cache: "no-store", credentials: "omit"} as const;
    const signal = AbortSignal.timeout(Math.ceil(timeout * 1000));
    let reply: Reply;
    try {
      const response = await this.#fetch(url, {method, headers, ...(body === undefined ? {} : {body}), signal, ...how});
      reply = {status: response.status, headers: response.headers, body: await response.text()};
    } catch (error) {
      throw lost(error);
    }
    if (reply.status < 200 || reply.status >= 300) {
      throw errorOf(reply);
    }
    return reply;
  }

  /** Fetch a token. */
  async #renewal(url: string, credentials: ClientCredentials): Promise<{token: string; seconds: number}> {
    const headers = {"content-type": "application/x-www-form-urlencoded", accept: "application/json"};
    let reply: Reply;
    try {
      reply = await this.#send("POST", url, headers, credentials.form(), this.#patience.timeout);
    } catch (error) {
      // A refusal, such as of a scope that the client has not, is no verdict about what it wanted to send.
      throw error instanceof Refused ? new NotAllowed(error.code, error.detail, error) : error;
    }
    const found = parsed(reply.body);
    if (typeof found["access_token"] === "string" && Number.isInteger(found["expires_in"])) {
      return {token: found["access_token"], seconds: found["expires_in"] as number};
    }
    throw new Unavailable("UNREADABLE_ANSWER", "The token endpoint's answer holds no token.", {status: reply.status});
  }
}

/** The token of a client. It is renewed in good time: a minute before it ends, or a tenth of its life. */
class Tokens {
  readonly #clock: () => number;
  readonly #fetch: () => Promise<{token: string; seconds: number}>;
  #token: string | undefined;
  #renewAt = 0;
  #renewing: Promise<string> | undefined;

  constructor(clock: () => number, fetch: () => Promise<{token: string; seconds: number}>) {
    this.#clock = clock;
    this.#fetch = fetch;
  }

  /** The kept token, unless it is the stale one or about to end; else a new one, which is fetched once for all. */
  async take(stale: string | undefined): Promise<string> {
    if (this.#token !== undefined && this.#token !== stale && this.#clock() < this.#renewAt) {
      return this.#token;
    }
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(): Promise<string> {
    const askedAt = this.#clock();
    const {token, seconds} = await this.#fetch();
    this.#token = token;
    this.#renewAt = askedAt + seconds - Math.min(60, seconds / 10);
    return token;
  }
}

function answerOf<Name extends keyof Answers>(operation: Operation<Name>, reply: Reply): Answers[Name] {
  try {
    return read(operation.answer, reply.body) as Answers[Name];
  } catch (error) {
    if (error instanceof NotOfThisInterface) {
      // such as the page of a network that asks to log in
      throw new Unavailable("UNREADABLE_ANSWER", error.message, {status: reply.status});
    }
    throw error;
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The error for want of an answer. Browsers do not tell whether the request was sent. */
function lost(error: unknown): Unavailable {
  const {name, message, cause} = error as {name?: string; message?: string; cause?: {code?: string; message?: string}};
  const wasSent = cause?.code === undefined || !NOT_SENT.includes(cause.code);
  const said = [name, message, cause?.code ?? cause?.message].filter((one) => one !== undefined && one !== "");
  return new Unavailable("NO_ANSWER", said.join(" "), {wasSent});
}
