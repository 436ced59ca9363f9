sap.ui.define(["promenade/imports/Synonyms"], function (Synonyms) {
  "use strict";

  const LETTERS = {ä: "ae", ö: "oe", ü: "ue", ß: "ss"};

  /** A name without what people write differently: case, blanks, signs, umlauts. */
  function plain(name) {
    return name
      .normalize("NFC")
      .toLowerCase()
      .replace(/[äöüß]/g, (letter) => LETTERS[letter])
      .normalize("NFKD")
      .replace(/[^a-z0-9]/g, "");
  }

  /** What a column may be called by: all of its heading; that without an addition, as `(EUR)`; what a `/` separates. */
  function namesOf(column) {
    const bare = column.replace(/\([^)]*\)|\[[^\]]*\]|[*:]/g, " ");
    return [column, bare, ...bare.split("/")].map(plain).filter(Boolean);
  }

  const own = ({name, label, words, german}) => [name, label, words || label, german || label].map(plain);

  /** Fills what is left of a mapping: each column with the first field that has one of its names and is not taken. */
  function fill(mapping, columns, fields, calledBy) {
    columns.forEach((names, at) => {
      const found =
        !mapping[at] &&
        names
          .flatMap((name) => fields.filter((one) => calledBy(one).includes(name)))
          .find((one) => !mapping.includes(one.name));
      mapping[at] = found ? found.name : mapping[at];
    });
  }

  return {
    /** What begins so is told by a download of errors and is not part of a row. */
    isNote(column) {
      return column.startsWith("_");
    },

    /**
     * For each column of a file the name of the field that it fills, "" for none; no field is filled twice. Our own
     * names and labels, English and German, go before what other systems say.
     */
    guess(columns, fields) {
      const mapping = columns.map(() => "");
      const names = columns.map((column) => (this.isNote(column) ? [] : namesOf(column)));
      fill(mapping, names, fields, own);
      fill(mapping, names, fields, (field) => Synonyms.of(field.name));
      return mapping;
    },

    /** Fields that two columns fill. */
    twice(mapping) {
      return [...new Set(mapping.filter((name, at) => name && mapping.indexOf(name) !== at))];
    }
  };
});
