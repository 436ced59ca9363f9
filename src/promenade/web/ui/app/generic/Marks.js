sap.ui.define([], function () {
  "use strict";

  /** Mistakes that a page finds by itself, shown at a field until that is changed. */
  const MARK = "mark";

  return {
    /** Shows at an input what is wrong with it. */
    set(input, text) {
      input.data(MARK, text);
      input.setValueState("Error");
      input.setValueStateText(text);
    },

    /** Takes the page's own mark away; what the value's type or the service says stays. */
    clear(input) {
      if (input.data(MARK)) {
        input.data(MARK, null);
        input.setValueState("None");
        input.setValueStateText("");
      }
    },

    /** Whether an input has a mark. */
    has(input) {
      return Boolean(input.data(MARK));
    }
  };
});
