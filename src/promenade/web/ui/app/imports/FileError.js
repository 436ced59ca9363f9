sap.ui.define([], function () {
  "use strict";

  /** Why a file cannot be read; `code` never changes and is told with the text `imports.file.<code>`. */
  return class FileError extends Error {
    /** @param {string} code */
    constructor(code) {
      super(code);
      this.code = code;
    }
  };
});
