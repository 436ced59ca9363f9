/** What can go wrong, one class per kind. Their codes are stable, their messages are for people. */

/** One of several faults of a request. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  /** The path of the field that is wrong, if one is. */
  readonly field: string | undefined;
}

/** What an error knows of the answer that reported it. */
export interface About {
  readonly status?: number | undefined;
  readonly correlationId?: string | undefined;
}

/** A call that did not succeed. */
export class PromenadeError extends Error {
  override name = "PromenadeError";
  /** Stable, such as `VALIDATION_FAILED`. */
  readonly code: string;
  /** What the service says, without the code. */
  readonly detail: string;
  /** The status of HTTP; undefined without an answer. */
  readonly status: number | undefined;
  /** Finds the request in the service's log. */
  readonly correlationId: string | undefined;

  constructor(code: string, detail: string, about: About = {}) {
    super(detail ? `${code}: ${detail}` : code);
    this.code = code;
    this.detail = detail;
    this.status = about.status;
    this.correlationId = about.correlationId;
  }
}

/** The service has refused the request for good: the same request will be refused again, nothing was done. */
export class Refused extends PromenadeError {
  override name = "Refused";
  /** The path of the field that is wrong, if one is. */
  readonly field: string | undefined;
  /** All faults of the request. */
  readonly faults: readonly Fault[];
  /** The ID under which a queue has set it aside. */
  readonly command: string | undefined;

  constructor(
    code: string,
    detail: string,
    about: About & {
      readonly field?: string | undefined;
      readonly faults?: readonly Fault[];
      readonly command?: string;
    } = {}
  ) {
    super(code, detail, about);
    this.field = about.field;
    this.faults = about.faults ?? [];
    this.command = about.command;
  }
}

/** The credentials are wrong, or do not allow this. */
export class NotAllowed extends PromenadeError {
  override name = "NotAllowed";
}

/** Too many requests. */
export class TooMany extends PromenadeError {
  override name = "TooMany";
  /** How many seconds the service asks to wait. */
  readonly retryAfter: number | undefined;

  constructor(code: string, detail: string, about: About & {readonly retryAfter?: number | undefined} = {}) {
    super(code, detail, about);
    this.retryAfter = about.retryAfter;
  }
}

/** There was no answer, or none of this interface. */
export class Unavailable extends PromenadeError {
  override name = "Unavailable";
  /** How many seconds the service asks to wait, if it does. */
  readonly retryAfter: number | undefined;
  /** Whether the request may have been carried out. */
  readonly wasSent: boolean;

  constructor(
    code: string,
    detail: string,
    about: About & {readonly retryAfter?: number | undefined; readonly wasSent?: boolean} = {}
  ) {
    super(code, detail, about);
    this.retryAfter = about.retryAfter;
    this.wasSent = about.wasSent ?? true;
  }
}

/** An answer of HTTP. */
export interface Reply {
  readonly status: number;
  readonly headers: {get(name: string): string | null};
  readonly body: string;
}

const NO_VERDICT = [408, 425]; // of the connection, not of the request

/** The error that an answer without success reports. */
export function errorOf(reply: Reply): PromenadeError {
  const {status, headers} = reply;
  const about = {status, correlationId: headers.get("x-correlation-id") ?? undefined};
  const found = reported(reply.body);
  const {code, message: detail} = said(found ?? {message: "The answer is not one of Promenade's."});
  if (status === 429) {
    return new TooMany(code ?? "TOO_MANY", detail, {...about, retryAfter: secondsOf(headers)});
  }
  if (status === 401 || status === 403) {
    return new NotAllowed(code ?? "NOT_ALLOWED", detail, about);
  }
  if (!found || code === undefined || code === "NOT_FOUND" || !isVerdict(status)) {
    // NOT_FOUND: nothing is at this address
    return new Unavailable(code ?? `HTTP_${status}`, detail, {...about, retryAfter: secondsOf(headers)});
  }
  return new Refused(code, detail, {...about, field: textOf(found["target"]), faults: faultsOf(found["details"])});
}

function isVerdict(status: number): boolean {
  return status >= 400 && status < 500 && !NO_VERDICT.includes(status);
}

function faultsOf(details: unknown): Fault[] {
  return (Array.isArray(details) ? details : []).filter(isObject).map((one) => {
    const {code = "UNKNOWN", message} = said(one);
    return {code, message, field: textOf(one["target"])};
  });
}

function said(found: Record<string, unknown>): {code: string | undefined; message: string} {
  return {code: textOf(found["code"]), message: textOf(found["message"]) ?? ""};
}

/** The `error` of a documented body, or what the token endpoint says, in the same form. */
function reported(body: string): Record<string, unknown> | undefined {
  let whole: unknown;
  try {
    whole = JSON.parse(body);
  } catch {
    return undefined;
  }
  const error = isObject(whole) ? whole["error"] : undefined;
  if (isObject(whole) && typeof error === "string") {
    return {code: error, message: whole["error_description"]};
  }
  return isObject(error) && typeof error["code"] === "string" ? error : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The seconds of `Retry-After`; a date counts from the answer's own. */
function secondsOf(headers: Reply["headers"]): number | undefined {
  const told = (headers.get("retry-after") ?? "").trim();
  if (/^\d+$/.test(told)) {
    return Number(told.slice(0, 9));
  }
  const seconds = (Date.parse(told) - Date.parse(headers.get("date") ?? "")) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}
