// Prints the entries of scenario files, as the simulator reads them: a JSON list in the order of the arguments.

import {readFileSync} from "node:fs";

import {load} from "./loader.mjs";

const ScenarioFile = load("promenade/simulator/ScenarioFile");
const read = process.argv.slice(2).map((path) => ScenarioFile.read(readFileSync(path, "utf-8")));
process.stdout.write(JSON.stringify(read));
