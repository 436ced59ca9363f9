sap.ui.define(
  ["promenade/imports/Cells", "promenade/imports/FileError", "promenade/imports/Xml", "promenade/imports/Zip"],
  function (Cells, FileError, Xml, Zip) {
    "use strict";

    const COLUMNS_MAX = 16_384; // of a sheet
    const COMPOUND = [0xd0, 0xcf, 0x11, 0xe0]; // older workbooks, and new ones inside of a protected envelope
    const ARCHIVE = [0x50, 0x4b, 0x03, 0x04];

    const isOf = (start, bytes) => bytes.every((byte, at) => start[at] === byte);

    const startOf = async (file) => new Uint8Array(await file.slice(0, 4).arrayBuffer());

    /** What the parts of a workbook call `_x000D_` is one character, which XML cannot hold. */
    const unescaped = (text) =>
      text.replace(/_x([0-9a-f]{4})_/gi, (_, code) => String.fromCharCode(parseInt(code, 16)));

    /** The full name of a part that another one in `folder` names. */
    function pathOf(folder, target) {
      const steps = [];
      for (const step of (target.startsWith("/") ? target : `${folder}/${target}`).split("/")) {
        if (step === "..") {
          steps.pop();
        } else if (step && step !== ".") {
          steps.push(step);
        }
      }
      return steps.join("/");
    }

    /** What a part refers to: `{id, kind, path}`; `kind` is the last word of the type. */
    async function linksOf(archive, path) {
      const at = path.lastIndexOf("/") + 1;
      const [folder, name] = [path.slice(0, at), path.slice(at)];
      const part = `${folder}_rels/${name}.rels`;
      const links = [];
      if (archive.has(part)) {
        Xml.read(await archive.text(part), {
          open(element, {Id, Type = "", Target = "", TargetMode}) {
            if (element === "Relationship" && TargetMode !== "External") {
              links.push({id: Id, kind: Type.split("/").pop(), path: pathOf(folder, Target)});
            }
          }
        });
      }
      return links;
    }

    /** The texts that cells share; how they are pronounced is none of them. */
    function sharedTexts(xml) {
      const texts = [];
      let text = "";
      let isRead = false;
      let isSpoken = false;
      Xml.read(xml, {
        open(name) {
          isRead = name === "t" && !isSpoken;
          isSpoken = isSpoken || name === "rPh";
          text = name === "si" ? "" : text;
        },
        text(value) {
          text += isRead ? value : "";
        },
        close(name) {
          isRead = false;
          isSpoken = isSpoken && name !== "rPh";
          if (name === "si") {
            texts.push(unescaped(text));
          }
        }
      });
      return texts;
    }

    /** For each style of a cell what it makes of a number. */
    function formatsOf(xml) {
      const codes = new Map();
      const formats = [];
      let isOfCells = false;
      Xml.read(xml, {
        open(name, attributes) {
          isOfCells = isOfCells || name === "cellXfs";
          const id = Number(attributes.numFmtId || 0);
          if (name === "numFmt") {
            codes.set(id, attributes.formatCode);
          } else if (name === "xf" && isOfCells) {
            formats.push(Cells.formatOf(id, codes.get(id)));
          }
        },
        close(name) {
          isOfCells = isOfCells && name !== "cellXfs";
        }
      });
      return formats;
    }

    /** The place of a cell in its row, by its address such as `AB7`, counted from 0. */
    function columnOf(address) {
      const letters = /^[A-Z]{1,3}(?=\d+$)/.exec(address);
      const column = letters && [...letters[0]].reduce((sum, one) => 26 * sum + one.charCodeAt(0) - 64, 0) - 1;
      if (column === null || column >= COLUMNS_MAX) {
        throw new FileError("FILE_BROKEN");
      }
      return column;
    }

    function valueOf({type, style}, raw, {texts, formats, is1904}) {
      if (type === "s" && texts[raw] === undefined) {
        throw new FileError("FILE_BROKEN");
      }
      switch (type) {
        case "s":
          return texts[raw];
        case "inlineStr":
        case "str":
        case "e":
          return unescaped(raw);
        case "b":
          return raw.trim() === "1" ? "TRUE" : "FALSE";
        case "d":
          return raw.trim();
        default: {
          const found = raw.trim() && Cells.ofNumber(raw.trim(), formats[style], is1904);
          if (found === null) {
            throw new FileError("FILE_BROKEN");
          }
          return found;
        }
      }
    }

    /** Rows of a sheet that have something in them, at most `rowsMax`; of each as many cells as the first one has. */
    function rowsOf(xml, rowsMax, book) {
      const rows = [];
      let row = [];
      let next = 0;
      let cell = {at: 0, type: "n", style: 0};
      let value = "";
      let isValue = false;
      let isSpoken = false;
      const isBeside = () => rows.length > 0 && cell.at >= rows[0].length;
      Xml.read(xml, {
        open(name, {r, t = "n", s = "0"}) {
          if (name === "row") {
            [row, next] = [[], 0];
          } else if (name === "c") {
            cell = {at: r ? columnOf(r) : next, type: t, style: Number(s)};
            [next, value] = [cell.at + 1, ""];
          }
          isSpoken = isSpoken || name === "rPh";
          isValue = name === "v" || (name === "t" && cell.type === "inlineStr" && !isSpoken);
        },
        text(read) {
          value += isValue ? read : "";
        },
        close(name) {
          isValue = false;
          isSpoken = isSpoken && name !== "rPh";
          if (name === "c" && value && !isBeside()) {
            row[cell.at] = valueOf(cell, value, book);
          } else if (name === "row" && row.some((one) => one.trim())) {
            rows.push(Array.from(row, (one) => one || ""));
          }
          return name !== "sheetData" && rows.length < rowsMax;
        }
      });
      return rows;
    }

    /** The sheets that people see, in their order, and whether days are counted from 1904. */
    function outlineOf(xml) {
      const sheets = [];
      let is1904 = false;
      let isWorkbook = false;
      Xml.read(xml, {
        open(name, {id, name: title, state = "visible", date1904 = "0"}) {
          isWorkbook = isWorkbook || name === "workbook";
          is1904 = is1904 || (name === "workbookPr" && ["1", "true"].includes(date1904));
          if (name === "sheet" && state === "visible") {
            sheets.push({id, title});
          }
        }
      });
      if (!isWorkbook) {
        throw new FileError("FILE_NOT_A_WORKBOOK");
      }
      return {sheets, is1904};
    }

    async function opened(file) {
      const start = await startOf(file);
      if (isOf(start, COMPOUND)) {
        const names = new TextDecoder("utf-16le").decode(await file.arrayBuffer());
        throw new FileError(names.includes("EncryptedPackage") ? "FILE_PROTECTED" : "FILE_OLD_FORMAT");
      }
      if (!isOf(start, ARCHIVE)) {
        throw new FileError("FILE_NOT_A_WORKBOOK");
      }
      return Zip.open(file);
    }

    return {
      /** Whether a file is to be read as a workbook, by how it begins, or else by its name. */
      async isOne(file) {
        const start = await startOf(file);
        return isOf(start, ARCHIVE) || isOf(start, COMPOUND) || /\.xls[xm]?$/i.test(file.name);
      },

      /**
       * `{sheet, rows}` of the first sheet of a workbook that has rows, each cell as a CSV file would hold it; of more
       * than `rowsMax` rows no more are read. Rejects with a FileError.
       *
       * @param {Blob} file
       * @param {number} rowsMax
       */
      async read(file, rowsMax) {
        const archive = await opened(file);
        const main = (await linksOf(archive, "")).find((one) => one.kind === "officeDocument");
        if (!main || !main.path.endsWith(".xml")) {
          throw new FileError("FILE_NOT_A_WORKBOOK");
        }
        const {sheets, is1904} = outlineOf(await archive.text(main.path));
        const links = await linksOf(archive, main.path);
        const partOf = async (kind) => {
          const link = links.find((one) => one.kind === kind);
          return link ? archive.text(link.path) : null;
        };
        const [styles, texts] = [await partOf("styles"), await partOf("sharedStrings")];
        const book = {
          texts: texts === null ? [] : sharedTexts(texts),
          formats: styles === null ? [] : formatsOf(styles),
          is1904
        };
        for (const {id, title} of sheets) {
          const link = links.find((one) => one.id === id);
          if (!link) {
            throw new FileError("FILE_BROKEN");
          }
          const rows = link.kind === "worksheet" ? rowsOf(await archive.text(link.path), rowsMax, book) : [];
          if (rows.length) {
            return {sheet: title, rows};
          }
        }
        return {sheet: "", rows: []};
      }
    };
  }
);
