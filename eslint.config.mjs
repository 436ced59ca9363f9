// The house rules of the back office's scripts, as tests/test_tidy.py holds Python's. `make check` runs this where npm can.

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

export default [
  {
    files: ["src/promenade/web/ui/app/**/*.js"],
    languageOptions: {
      ecmaVersion: 2022,
      sourceType: "script",
      globals: Object.fromEntries(browser.map((name) => [name, "readonly"]))
    },
    linterOptions: {reportUnusedDisableDirectives: "error"},
    plugins: {house: {rules: {"one-screen": oneScreen}}},
    rules: {
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
      semi: "error",
      strict: ["error", "function"]
    }
  }
];
