sap.ui.define(
  ["promenade/framework/papaparse", "promenade/imports/Workbook", "promenade/resources/Formulas"],
  function (Papa, Workbook, Formulas) {
    "use strict";

    const PIECE_BYTES = 1024 * 1024;
    const GERMAN_NUMBER = /^-?(\d{1,3}(\.\d{3})+|\d+),\d+$/;
    const OTHER_NUMBER = /^-?\d+\.\d+$/;
    const LOOKED_AT = 200; // rows that tell how numbers are written

    /** What a file is written in: UTF-16 says so, UTF-8 can be told from all else, and what remains is Windows'. */
    async function encodingOf(file) {
      const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
      if (start[0] === 0xff && start[1] === 0xfe) {
        return "utf-16le";
      }
      if (start[0] === 0xfe && start[1] === 0xff) {
        return "utf-16be";
      }
      const decoder = new TextDecoder("utf-8", {fatal: true});
      try {
        for (let at = 0; at < file.size; at += PIECE_BYTES) {
          decoder.decode(await file.slice(at, at + PIECE_BYTES).arrayBuffer(), {stream: at + PIECE_BYTES < file.size});
        }
        return "utf-8";
      } catch {
        return "windows-1252";
      }
    }

    /** Whether the numbers of some rows are written with a comma. */
    function writesDecimalComma(rows) {
      const cells = rows
        .slice(0, LOOKED_AT)
        .flat()
        .map((cell) => cell.trim());
      return (
        cells.filter((one) => GERMAN_NUMBER.test(one)).length > cells.filter((one) => OTHER_NUMBER.test(one)).length
      );
    }

    /** Rows of a CSV file, read a piece at a time; stops after `rowsMax` and one. */
    function csvRows(file, {delimiter, encoding, rowsMax, onProgress}) {
      return new Promise((resolve, reject) => {
        const rows = [];
        let found = delimiter;
        Papa.parse(file, {
          delimiter,
          encoding,
          delimitersToGuess: [";", ",", "\t", "|"],
          chunkSize: PIECE_BYTES,
          skipEmptyLines: "greedy",
          chunk(results, parser) {
            rows.push(...results.data);
            found = results.meta.delimiter;
            onProgress(Math.min(100, Math.round((100 * results.meta.cursor) / Math.max(file.size, 1))));
            if (rows.length > rowsMax + 1) {
              parser.abort();
            }
          },
          complete: () => resolve({rows, delimiter: found}),
          error: reject
        });
      });
    }

    /** `{columns, rows}` of a table whose first row names the columns. */
    function table([header = [], ...rows]) {
      return {columns: header.map((name) => name.replace(/^\ufeff/, "").trim()), rows};
    }

    return {
      /** Whether a file is a workbook, JSON or CSV, by how it begins or by its name: `xlsx`, `json` or `csv`. */
      async kindOf(file) {
        if (await Workbook.isOne(file)) {
          return "xlsx";
        }
        return /\.json$/i.test(file.name) || /^\s*[[{]/.test(await file.slice(0, 100).text()) ? "json" : "csv";
      },

      /** `{columns, rows, sheet}` of the first sheet of a workbook that has rows, as of a CSV file. */
      async xlsx(file, {rowsMax}) {
        const {sheet, rows} = await Workbook.read(file, rowsMax + 2);
        return {...table(rows), sheet, isDecimalComma: false};
      },

      /**
       * `{columns, rows, delimiter, encoding, isDecimalComma}` of a CSV file whose first row names the columns; its
       * cells are as whoever wrote the file for a spreadsheet read them.
       *
       * Without a `delimiter` or an `encoding` they are found out.
       */
      async csv(file, {delimiter = "", encoding = "", rowsMax, onProgress = () => {}}) {
        const written = encoding || (await encodingOf(file));
        const read = await csvRows(file, {delimiter, encoding: written, rowsMax, onProgress});
        const {columns, rows} = table(read.rows);
        return {
          columns,
          rows: rows.map((row) => row.map(Formulas.restored)),
          delimiter: read.delimiter,
          encoding: written,
          isDecimalComma: writesDecimalComma(rows)
        };
      },

      /** `{rows, text}` of a JSON file: an array of rows, or an object with `rows`; `text` is that array as written. */
      async json(file) {
        const text = (await file.text()).replace(/^\ufeff/, "");
        const found = JSON.parse(text);
        if (Array.isArray(found)) {
          return {rows: found, text};
        }
        if (!found || !Array.isArray(found.rows)) {
          throw new SyntaxError("no rows");
        }
        return {rows: found.rows, text: JSON.stringify(found.rows)};
      }
    };
  }
);
