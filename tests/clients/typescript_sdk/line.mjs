// A line between a till and the service that fails as told, and an hour that passes when the till waits.

import {ClientCredentials, Till} from "promenade-client";

export const url = process.env.PROMENADE_URL;
export const clientId = process.env.PROMENADE_CLIENT_ID;
export const secret = process.env.PROMENADE_CLIENT_SECRET;
export const credentials = new ClientCredentials(clientId, secret);

const TOKEN_PATH = "/oauth/token";
let number = 0;

/** The service gets nothing. */
export const lostBefore = () => {
  throw new TypeError("fetch failed", {cause: {code: "ECONNREFUSED"}});
};

/** The service carries the request out; its answer is lost. */
export const lostAnswer = async (passOn) => {
  await passOn();
  throw new TypeError("fetch failed", {cause: {code: "UND_ERR_SOCKET"}});
};

/** Something between answers instead of the service: JSON, or a page if the body is a text. */
export const answer = (status, body, headers) => () =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {status, headers});

export const BUSY = answer(503, {error: {code: "DATABASE_BUSY", message: "Try again."}});
export const TIRED = answer(429, {error: {code: "RATE_LIMITED", message: "Wait."}}, {"retry-after": "3"});
export const WITHDRAWN = answer(401, {error: {code: "UNAUTHORIZED", message: "The token has been withdrawn."}});
export const BROKEN = answer(500, {error: {code: "INTERNAL_ERROR", message: "Something went wrong."}});

/** Passes requests on to the service, but for those that meet one of its faults, in order; tokens meet none. */
export class Line {
  constructor(...faults) {
    this.faults = faults;
    this.isDown = false;
    this.requests = [];
    this.fetch = async (address, request) => {
      const {pathname} = new URL(address);
      this.requests.push({path: pathname, ...request});
      if (this.isDown) {
        return lostBefore();
      }
      const passOn = () => fetch(address, request);
      const fault = pathname === TOKEN_PATH ? undefined : this.faults.shift();
      return fault ? fault(passOn) : passOn();
    };
  }

  /** What the till has sent, without the requests for tokens. */
  sent(path) {
    return this.requests.filter((one) => (path ? one.path === path : one.path !== TOKEN_PATH));
  }

  paths() {
    return this.sent().map((one) => one.path);
  }

  tokens() {
    return this.requests.filter((one) => one.path === TOKEN_PATH).length;
  }

  /** Nothing gets through while `work` is under way. */
  async down(work) {
    this.isDown = true;
    try {
      return await work();
    } finally {
      this.isDown = false;
    }
  }
}

/** A clock that only waiting moves, and the waits. */
export class Hour {
  now = 1000;
  waits = [];
  clock = () => this.now;
  sleep = async (seconds) => {
    this.waits.push(seconds);
    this.now += seconds;
  };
}

export function tillOn(line, {hour = new Hour(), as = credentials, at = url, ...patience} = {}) {
  const patient = {clock: hour.clock, luck: () => 1, ...patience};
  return new Till(at, as, {patience: patient, fetch: line.fetch, sleep: hour.sleep});
}

export const newTransaction = () => `TS-${process.pid}-${(number += 1)}`;

/** Two of A-1 at 5.00, of which 10 % are off. */
export const basket = (transactionId, changes) => ({
  header: {transactionId},
  posGroupCode: "BERLIN",
  items: [{articleNumber: "A-1", quantity: "2", unitPrice: "5.00"}],
  ...changes
});
