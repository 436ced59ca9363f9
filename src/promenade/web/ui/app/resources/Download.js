sap.ui.define(
  [
    "sap/base/i18n/Localization",
    "promenade/framework/papaparse",
    "promenade/generic/Format",
    "promenade/resources/Formulas"
  ],
  function (Localization, Papa, Format, Formulas) {
    "use strict";

    const BYTE_ORDER_MARK = "\ufeff"; // without it spreadsheets take UTF-8 for something older

    /** Saves a blob as a file. */
    function save(blob, name) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    }

    const cell = (value) => (typeof value === "string" ? Formulas.harmless(value) : value);

    return {
      save,

      /** Whether spreadsheets of the person's region read 1,5 as one and a half. */
      isDecimalComma: () => Format.number("1.5").includes(","),

      /** What they take for the end of a cell: a semicolon in Switzerland too, which writes a decimal point. */
      delimiter() {
        return this.isDecimalComma() || Localization.getLanguage() === "de" ? ";" : ",";
      },

      /** Saves rows, arrays of one length, as a CSV file that spreadsheets open without being asked. */
      csv(name, header, rows) {
        const text = Papa.unparse(
          {fields: header.map(cell), data: rows.map((row) => row.map(cell))},
          {delimiter: this.delimiter(), newline: "\r\n"}
        );
        save(new Blob([`${BYTE_ORDER_MARK}${text}\r\n`], {type: "text/csv;charset=utf-8"}), name);
      }
    };
  }
);
