/** JSON as the interface has it: every amount exactly as it is written, never as a binary fraction. */

import {SHAPES} from "./shapes.js";

/** The name of a message. */
export type Message = keyof typeof SHAPES;

/** What was received is not what the interface describes. */
export class NotOfThisInterface extends Error {
  override name = "NotOfThisInterface";
}

interface Kind {
  readonly of: string;
  readonly isList: boolean;
  readonly isOptional: boolean;
  readonly mayBeNull: boolean;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const TOKENS = /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const KIND = /^(\w+)(\[\])?(\?)?(\|null)?$/;

function kindOf(text: string): Kind {
  const [, of = "", list, optional, isNull] = KIND.exec(text) ?? [];
  return {
    of,
    isList: list !== undefined,
    isOptional: optional !== undefined,
    mayBeNull: isNull !== undefined
  };
}

/** The members of a message, or undefined for what is none, such as a text. */
function membersOf(of: string): [string, Kind][] | undefined {
  const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = SHAPES;
  const shape = Object.hasOwn(shapes, of) ? shapes[of] : undefined;
  return shape && Object.entries(shape).map(([name, kind]) => [name, kindOf(kind)]);
}

/**
 * A request as JSON. Throws TypeError, with the path of the member, for an amount that is a number of JavaScript, and
 * for a time without a zone.
 */
export function encode(message: Message, value: object): string {
  return JSON.stringify(sendable(message, value, ""));
}

function sendable(of: string, value: unknown, path: string): unknown {
  if (value === undefined || value === null) {
    return value;
  }
  if (of === "decimal") {
    return aDecimal(value, path);
  }
  if (of === "time") {
    return aTime(value, path);
  }
  const members = membersOf(of);
  if (!members || typeof value !== "object") {
    return value;
  }
  const given: Record<string, unknown> = {...value};
  for (const [name, kind] of members) {
    const one = given[name];
    const inside = path ? `${path}.${name}` : name;
    given[name] =
      kind.isList && Array.isArray(one)
        ? one.map((each, place) => sendable(kind.of, each, `${inside}[${place}]`))
        : sendable(kind.of, one, inside);
  }
  return given;
}

function aDecimal(value: unknown, path: string): string {
  if (typeof value !== "string" || !DECIMAL.test(value)) {
    throw new TypeError(`${path}: ${String(value)} is no exact number: write it as text, such as "8.69"`);
  }
  return value;
}

function aTime(value: unknown, path: string): string {
  if (value instanceof Date) {
    return value.toISOString();
  }
  if (typeof value !== "string" || !TIME.test(value)) {
    throw new TypeError(`${path}: ${String(value)} is no time with a zone, such as "2026-05-04T10:30:00Z"`);
  }
  return value;
}

/** An answer as a message, its decimals as text with every digit. Throws NotOfThisInterface. */
export function read(message: Message, text: string): unknown {
  return readAs(message, parsed(text), message);
}

/**
 * What a JSON text says, with a mark before every text ("s") and name, and with every number as marked text ("n"):
 * `JSON.parse` alone would make a binary fraction of it.
 */
function parsed(text: string): unknown {
  const marked = text.replace(TOKENS, (token) => (token.startsWith('"') ? `"s${token.slice(1)}` : `"n${token}"`));
  try {
    return JSON.parse(marked);
  } catch (error) {
    throw new NotOfThisInterface(error instanceof Error ? error.message : String(error));
  }
}

function readAs(of: string, value: unknown, path: string): unknown {
  const members = membersOf(of);
  if (!members) {
    return simple(of, value, path);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new NotOfThisInterface(`${path} is no object`);
  }
  const found: Record<string, unknown> = {};
  for (const [name, kind] of members) {
    const one = (value as Record<string, unknown>)[`s${name}`];
    if (one !== undefined) {
      found[name] = member(kind, one, `${path}.${name}`);
    } else if (!kind.isOptional) {
      throw new NotOfThisInterface(`${path} has no ${name}`);
    }
  }
  return found;
}

function member(kind: Kind, value: unknown, path: string): unknown {
  if (value === null && (kind.mayBeNull || kind.isOptional)) {
    return kind.mayBeNull ? null : undefined;
  }
  if (!kind.isList) {
    return readAs(kind.of, value, path);
  }
  if (!Array.isArray(value)) {
    throw new NotOfThisInterface(`${path} is no list`);
  }
  return value.map((one, place) => readAs(kind.of, one, `${path}[${place}]`));
}

function simple(of: string, value: unknown, path: string): unknown {
  const mark = typeof value === "string" ? value[0] : undefined;
  const rest = typeof value === "string" ? value.slice(1) : "";
  if ((of === "text" || of === "time") && mark === "s") {
    return rest;
  }
  if (of === "boolean" && typeof value === "boolean") {
    return value;
  }
  if (of === "decimal" && mark === "n" && DECIMAL.test(rest)) {
    return rest;
  }
  if (of === "integer" && mark === "n" && Number.isSafeInteger(Number(rest))) {
    return Number(rest);
  }
  throw new NotOfThisInterface(`${path} is no ${of}`);
}
