// Reads workbooks as an import does: for each line of its input, a file in base64, it prints one line of JSON,
// `{sheet, rows}` or `{code}`.

import {Blob, Buffer} from "node:buffer";
import {createInterface} from "node:readline";

import {load} from "./loader.mjs";

const Workbook = load("promenade/imports/Workbook");
const ROWS_MAX = 10_002;

for await (const line of createInterface({input: process.stdin})) {
  let found;
  try {
    found = await Workbook.read(new Blob([Buffer.from(line, "base64")]), ROWS_MAX);
  } catch (error) {
    found = {code: error.code || error.stack};
  }
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
