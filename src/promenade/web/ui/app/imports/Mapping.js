sap.ui.define([], function () {
  "use strict";

  /** A name without what people write differently. */
  function plain(name) {
    return name
      .normalize("NFKD")
      .toLowerCase()
      .replace(/[^a-z0-9]/g, "");
  }

  return {
    /** What begins so is told by a download of errors and is not part of a row. */
    isNote(column) {
      return column.startsWith("_");
    },

    /** For each column of a file the name of the field that it fills, "" for none; no field is filled twice. */
    guess(columns, fields) {
      const taken = new Set();
      return columns.map((column) => {
        const known = plain(column);
        const found = fields.find(
          (one) =>
            !taken.has(one.name) && [one.name, one.label, one.words || one.label].some((name) => plain(name) === known)
        );
        if (!known || this.isNote(column) || !found) {
          return "";
        }
        taken.add(found.name);
        return found.name;
      });
    },

    /** Fields that two columns fill. */
    twice(mapping) {
      return [...new Set(mapping.filter((name, at) => name && mapping.indexOf(name) !== at))];
    }
  };
});
