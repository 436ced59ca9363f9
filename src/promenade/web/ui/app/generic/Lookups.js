sap.ui.define([], function () {
  "use strict";

  /** What was typed into fields and is being looked up: whoever saves waits for it. */
  const underWay = new Set();

  return {
    /** Counts a lookup until it has ended, well or not. */
    during(lookup) {
      underWay.add(lookup);
      const end = () => underWay.delete(lookup);
      lookup.then(end, end);
      return lookup;
    },

    /** Resolves once nothing is being looked up any more. */
    async settled() {
      while (underWay.size) {
        await Promise.allSettled(underWay);
      }
    }
  };
});
