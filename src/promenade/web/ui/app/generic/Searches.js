sap.ui.define(["sap/ui/model/Filter", "promenade/generic/ValueHelp"], function (Filter, ValueHelp) {
  "use strict";

  /**
   * How a list is searched: in all of its texts, or, where there are too many rows for that, by how numbers and names
   * begin, which an index answers.
   */
  const LONG = 100_000;

  /** The texts that a row is known by: natural key, EAN, name. */
  function startPaths(meta) {
    const paths = [...meta.semanticKey, "ean", meta.titlePath].filter((path) => path && !path.includes("/"));
    return [...new Set(paths)].filter((path) => meta.has(path) && meta.field(path).type === "Edm.String");
  }

  /** As typed, and as a name would begin. */
  const spellings = (text) => [...new Set([text, text[0].toUpperCase() + text.slice(1)])];

  return {
    /** Whether a list of so many rows is searched by how its texts begin. */
    isByStart: (meta, total) => total > LONG && startPaths(meta).length > 0,

    /** The parameter of a search in all texts. */
    parameters: (text, isByStart) => ({$search: isByStart ? undefined : ValueHelp.words(text || "")}),

    /** The filters of a search by how texts begin. */
    filters(meta, text, isByStart) {
      if (!text || !isByStart) {
        return [];
      }
      const starts = startPaths(meta).flatMap((path) =>
        spellings(text).map((spelling) => new Filter(path, "StartsWith", spelling))
      );
      return [new Filter({filters: starts, and: false})];
    }
  };
});
