// The house rules of scripts, as tests/test_tidy.py holds Python's. `make check` runs this where npm can.

import {createRequire} from "node:module";

const typescript = createRequire(process.argv[1])("typescript-eslint"); // beside ESLint, which is not in this folder
const FUNCTION_LINES_MAX = 50;

const oneScreen = {
  create(context) {
    return {
      ":function"(node) {
        const lines = node.loc.end.line - node.loc.start.line + 1;
        const isModule =
          node.parent.type === "CallExpression" && context.sourceCode.getText(node.parent.callee).startsWith("sap.ui.");
        if (!isModule && lines > FUNCTION_LINES_MAX) {
          context.report({node, message: `A function is one screen; this one has ${lines} lines.`});
        }
      }
    };
  }
};

const browser = [
  "AbortController",
  "Blob",
  "CompressionStream",
  "CustomEvent",
  "DOMException",
  "DecompressionStream",
  "File",
  "FileReader",
  "FormData",
  "Intl",
  "MutationObserver",
  "ResizeObserver",
  "Response",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "URLSearchParams",
  "XMLHttpRequest",
  "atob",
  "btoa",
  "clearInterval",
  "clearTimeout",
  "crypto",
  "document",
  "fetch",
  "getComputedStyle",
  "localStorage",
  "navigator",
  "queueMicrotask",
  "requestAnimationFrame",
  "sap",
  "sessionStorage",
  "setInterval",
  "setTimeout",
  "structuredClone",
  "window"
];

const rules = {
  complexity: ["error", 14],
  curly: "error",
  eqeqeq: "error",
  "house/one-screen": "error",
  "max-depth": ["error", 4],
  "max-len": ["error", {code: 120}],
  "max-lines": ["error", 400],
  "no-console": "error",
  "no-else-return": "error",
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-new-func": "error",
  "no-restricted-syntax": ["error", {selector: "Identifier[name='jQuery']", message: "OpenUI5 does without."}],
  "no-shadow": "error",
  "no-undef": "error",
  "no-unreachable": "error",
  "no-unused-expressions": "error",
  "no-unused-vars": "error",
  "no-var": "error",
  "prefer-const": "error",
  "prefer-template": "error",
  quotes: ["error", "double", {allowTemplateLiterals: true, avoidEscape: true}],
  semi: "error"
};

const shared = {
  linterOptions: {reportUnusedDisableDirectives: "error"},
  plugins: {house: {rules: {"one-screen": oneScreen}}}
};

const namesOf = (globals) => Object.fromEntries(globals.map((name) => [name, "readonly"]));

const typed = Object.fromEntries(
  [
    "await-thenable",
    "consistent-type-imports",
    "no-explicit-any",
    "no-floating-promises",
    "no-misused-promises",
    "no-non-null-assertion",
    "no-unnecessary-condition",
    "no-unnecessary-type-assertion",
    "no-unsafe-assignment",
    "restrict-template-expressions",
    "return-await"
  ].map((rule) => [`@typescript-eslint/${rule}`, "error"])
);

export default [
  {ignores: ["ui/dist/**", "ui/node_modules/**", "ui/types/**", "ui/webapp/**"]},
  {
    ...shared,
    files: ["src/promenade/web/ui/app/**/*.js"],
    languageOptions: {ecmaVersion: 2022, sourceType: "script", globals: namesOf(browser)},
    rules: {...rules, strict: ["error", "function"]}
  },
  {
    ...shared,
    files: ["tests/ui_unit/**/*.mjs", "ui/*.mjs"],
    languageOptions: {ecmaVersion: 2022, sourceType: "module", globals: namesOf(["URL", "process", "setTimeout"])},
    rules
  },
  {
    ...shared,
    files: ["tests/clients/typescript_sdk/*.mjs"],
    languageOptions: {
      ecmaVersion: 2022,
      sourceType: "module",
      globals: namesOf(["Response", "URL", "console", "fetch", "process", "setTimeout"])
    },
    rules: {...rules, "no-console": "off"}
  },
  {
    linterOptions: shared.linterOptions,
    files: ["clients/typescript/src/*.ts"],
    plugins: {...shared.plugins, "@typescript-eslint": typescript.plugin},
    languageOptions: {
      parser: typescript.parser,
      parserOptions: {project: "clients/typescript/tsconfig.json", tsconfigRootDir: import.meta.dirname}
    },
    rules: {
      ...rules,
      "no-undef": "off", // the compiler knows
      "no-unused-vars": "off",
      "@typescript-eslint/no-unused-vars": ["error", {ignoreRestSiblings: true}],
      ...typed
    }
  }
];
