sap.ui.define([], function () {
  "use strict";

  /** Why nobody is signed in: `session.<key>` says it to the person, with `values` in its places. */
  return class Fault extends Error {
    constructor(key, values = []) {
      super(key);
      this.key = key;
      this.values = values;
    }
  };
});
