sap.ui.define(["promenade/imports/Mapping", "promenade/imports/Values"], function (Mapping, Values) {
  "use strict";

  const SHOWN = 20;
  const PROBLEMS_MAX = 200; // rows with problems that are told one by one

  /** What is read of a row's cells: shown values, its JSON, and problems by field. */
  function ofCells(row, mapping, byName, isDecimalComma) {
    const members = [];
    const cells = [];
    const problems = [];
    mapping.forEach((name, at) => {
      if (!name) {
        return;
      }
      const field = byName.get(name);
      const cell = row[at] || "";
      const {literal, problem} = Values.ofCell(field, cell, isDecimalComma);
      if (literal !== undefined) {
        members.push(`${JSON.stringify(name)}:${literal}`);
      }
      if (problem) {
        problems.push({field, problem});
      }
      cells.push({name, value: cell, problem: problem || null});
    });
    return {json: `{${members.join(",")}}`, cells, problems};
  }

  function ofObject(row, names, byName, parts) {
    if (!row || typeof row !== "object" || Array.isArray(row)) {
      return {cells: [], problems: [{field: null, problem: "notARow"}]};
    }
    const problems = [];
    Object.keys(row)
      .filter((name) => !parts.includes(name))
      .forEach((name) => {
        const field = byName.get(name);
        const problem = field ? Values.problemOf(field, row[name]) : "unknownField";
        if (problem) {
          problems.push({field: field || {name, label: name}, problem});
        }
      });
    missing([...byName.values()], Object.keys(row)).forEach((field) => problems.push({field, problem: "required"}));
    const cells = names.map((name) => ({
      name,
      value: row[name] === undefined || row[name] === null ? "" : asText(row[name]),
      problem: (problems.find((one) => one.field.name === name) || {problem: null}).problem
    }));
    return {cells, problems};
  }

  function asText(value) {
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  }

  function missing(fields, names) {
    return fields.filter((one) => one.isRequired && !names.includes(one.name));
  }

  /** Adds to a row that it has the key of an earlier one; `first` has the rows that had their key first. */
  function compare(row, number, field, key, first) {
    const earlier = first.get(key);
    if (!earlier) {
      first.set(key, number);
      return;
    }
    const repeated = {problem: "repeated", values: [earlier, key]};
    row.problems.push({field, ...repeated});
    Object.assign(row.cells.find((one) => one.name === field.name && !one.problem) || {}, repeated);
  }

  /** Goes through all rows and keeps what is shown of them; no two should have the same key, `keyOf(row)` in `key`. */
  function collected(rows, read, key, keyOf) {
    /** @type {{count: number, bad: number, shown: any[], problems: any[], texts: string[]}} */
    const found = {count: rows.length, bad: 0, shown: [], problems: [], texts: []};
    const first = new Map();
    rows.forEach((row, at) => {
      const one = read(row);
      const given = key && keyOf(row);
      if (given && typeof given === "string" && given.trim()) {
        compare(one, at + 1, key, given.trim(), first);
      }
      found.texts.push(one.json);
      if (at < SHOWN) {
        found.shown.push({number: at + 1, ...one});
      }
      if (one.problems.length) {
        found.bad += 1;
        if (found.problems.length < PROBLEMS_MAX) {
          found.problems.push({number: at + 1, problems: one.problems});
        }
      }
    });
    return found;
  }

  return {
    /**
     * Rows of a CSV file or a workbook through the mapping of its columns: `{count, bad, shown, problems, missing,
     * twice, names, json}`.
     *
     * `shown` are the first twenty, `problems` those of the rows that have one, `missing` fields that no column
     * fills.
     */
    ofTable({rows, mapping, fields, key, isDecimalComma}) {
      const byName = new Map(fields.map((one) => [one.name, one]));
      const found = collected(
        rows,
        (row) => ofCells(row, mapping, byName, isDecimalComma),
        byName.get(key),
        (row) => row[mapping.indexOf(key)]
      );
      const {texts, ...told} = found;
      const names = mapping.filter(Boolean);
      return {
        ...told,
        names,
        missing: missing(fields, names),
        twice: Mapping.twice(mapping),
        json: `[${texts.join(",")}]`
      };
    },

    /** The same of rows of a JSON file, whose members are the fields. */
    ofJson({rows, text, fields, key, parts}) {
      const byName = new Map(fields.map((one) => [one.name, one]));
      const shown = rows.slice(0, SHOWN).filter((row) => row && typeof row === "object");
      const names = [...new Set(shown.flatMap((row) => Object.keys(row)))];
      const found = collected(
        rows,
        (row) => ofObject(row, names, byName, parts),
        byName.get(key),
        (row) => row?.[key]
      );
      return {...found, names, missing: [], twice: [], json: text};
    }
  };
});
