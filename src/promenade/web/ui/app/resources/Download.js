sap.ui.define(
  ["sap/base/i18n/Localization", "promenade/framework/papaparse", "promenade/generic/Format"],
  function (Localization, Papa, Format) {
    "use strict";

    const BYTE_ORDER_MARK = "\ufeff"; // without it spreadsheets take UTF-8 for something older
    const STARTS_FORMULA = /^[=@\t\r]|^[+-](?![\d.,]+$)/; // what a spreadsheet would calculate; numbers are left alone

    /** Saves a text as a file. */
    function save(text, name, type) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], {type}));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    }

    return {
      /** Whether spreadsheets of the person's region read 1,5 as one and a half. */
      isDecimalComma: () => Format.number("1.5").includes(","),

      /** What they take for the end of a cell: a semicolon in Switzerland too, which writes a decimal point. */
      delimiter() {
        return this.isDecimalComma() || Localization.getLanguage() === "de" ? ";" : ",";
      },

      /** Saves rows, arrays of one length, as a CSV file that spreadsheets open without being asked. */
      csv(name, header, rows) {
        const text = Papa.unparse(
          {fields: header, data: rows},
          {
            delimiter: this.delimiter(),
            newline: "\r\n",
            escapeFormulae: STARTS_FORMULA
          }
        );
        save(`${BYTE_ORDER_MARK}${text}\r\n`, name, "text/csv;charset=utf-8");
      }
    };
  }
);
