sap.ui.define([], function () {
  "use strict";

  /**
   * Texts in files for spreadsheets: what one would compute gets an apostrophe before it, and can lose it again.
   *
   * Where lists are separated by another sign than in the file, a text is cut there, whatever stands in quotes: what
   * follows may not begin a formula either. A number is no formula, and stays one.
   */
  const NUMBER = /^[+-]?\d[\d.,]*$/;
  const FIRST = "[=+\\-@\uff1d\uff0b\uff0d\uff20]";
  const START = new RegExp(`^(?='*\\s*(?:${FIRST}|[\\t\\r\\n]))`);
  const CUT = new RegExp(`[,;\\t\\r\\n](?=['" ]*${FIRST})`, "g");
  const MARKED_START = new RegExp(`^'(?='*\\s*(?:${FIRST}|[\\t\\r\\n]))`);
  const MARKED_CUT = new RegExp(`([,;\\t\\r\\n])'(?=['" ]*${FIRST})`, "g");

  return {
    /** A text that no spreadsheet computes. */
    harmless: (text) => (NUMBER.test(text) ? text : text.replace(CUT, "$&'").replace(START, "'")),

    /** The text that was made harmless. */
    restored: (text) => text.replace(MARKED_START, "").replace(MARKED_CUT, "$1")
  };
});
