// Checks the types of the back office's scripts with the TypeScript compiler: `node ui/check_types.mjs <node_modules>`.
//
// The scripts are modules of OpenUI5's loader, of whose results the compiler knows nothing. In memory each is rewritten
// to a module with imports and an export, line by line, so that types pass from one module to the next and every
// message names the place in the file as it is.

import {createRequire} from "node:module";
import path from "node:path";
import {fileURLToPath} from "node:url";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const APP = path.join(ROOT, "src/promenade/web/ui/app");
const TYPES = path.join(ROOT, "ui/types");
const ts = createRequire(path.join(path.resolve(process.argv[2]), "any.js"))("typescript");

/** `{start, needed, names, body}` of a script with `sap.ui.define([needed], function (names) {body})`, else null. */
function moduleOf(source) {
  const isDefine = ({expression: call}) =>
    call?.arguments?.length === 2 && call.expression.getText(source) === "sap.ui.define";
  const statement = source.statements.find(isDefine);
  if (!statement) {
    return null;
  }
  const [needed, factory] = statement.expression.arguments;
  return {
    start: statement.getStart(source),
    needed: needed.elements.map((one) => one.text),
    names: factory.parameters.map((one) => one.name.text),
    body: factory.body
  };
}

/** The object that a module returns and those that it names: JavaScript lets anything be asked of them, unless told. */
function objectsOf(body) {
  const values = body.statements.flatMap((one) =>
    ts.isVariableStatement(one) ? one.declarationList.declarations.map((each) => each.initializer) : [one.expression]
  );
  return values.filter((one) => one && ts.isObjectLiteralExpression(one));
}

/** The text of a module with imports and an export; every line keeps its number. */
function rewritten(fileName, text) {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const found = moduleOf(source);
  if (!found) {
    return text;
  }
  const {start, needed, names, body} = found;
  const inside = body.getStart(source) + 1;
  const last = body.statements.at(-1);
  const result = last && ts.isReturnStatement(last) ? last.expression : null;
  const imports = needed.map((one, place) => `import ${names[place] ? `${names[place]} from ` : ""}"${one}";`);
  const head = `${imports.join(" ")}${text.slice(start, inside).replace(/[^\n]/g, "")}`;
  const edits = [
    [start, inside, head],
    ...objectsOf(body).flatMap((one) => [
      [one.getStart(source), one.getStart(source), "/** @satisfies {object} */ ("],
      [one.end, one.end, ")"]
    ]),
    result
      ? [last.getStart(source), result.getStart(source), "export default "]
      : [body.end - 1, body.end - 1, "export {};"],
    [result ? last.end : body.end - 1, text.length, ""]
  ];
  // From the end, so that places before stay what they are; at the same place, what was named last comes first.
  return edits
    .map((edit, order) => [...edit, order])
    .sort((one, other) => other[0] - one[0] || other[3] - one[3])
    .reduce((whole, [from, to, by]) => whole.slice(0, from) + by + whole.slice(to), text);
}

const options = {
  allowJs: true,
  checkJs: true,
  noEmit: true,
  strict: true,
  noImplicitAny: false, // most parameters are controls of OpenUI5, whose types are not checked
  noImplicitThis: false, // what OpenUI5's `extend` makes of an object is not known either
  useUnknownInCatchVariables: false,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ES2022,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  types: [],
  baseUrl: ROOT,
  paths: {"promenade/*": ["src/promenade/web/ui/app/*"]}
};

const host = ts.createCompilerHost(options);
const read = host.readFile;
const isScript = (name) => [APP, TYPES].some((one) => path.resolve(name).startsWith(one)) && name.endsWith(".js");
host.getSourceFile = (name, version) => {
  const text = read(name);
  return text === undefined
    ? undefined
    : ts.createSourceFile(name, isScript(name) ? rewritten(name, text) : text, version, true);
};

const files = [...ts.sys.readDirectory(APP, [".js"]), ...ts.sys.readDirectory(TYPES, [".ts", ".js"])];
const program = ts.createProgram(files, options, host);
const faults = ts.getPreEmitDiagnostics(program);
process.stdout.write(
  ts.formatDiagnostics(faults, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => ROOT,
    getNewLine: () => "\n"
  })
);
process.exitCode = faults.length ? 1 : 0;
