sap.ui.define(
  ["sap/m/Column", "sap/m/ColumnListItem", "sap/m/ObjectStatus", "sap/m/Text"],
  function (Column, ColumnListItem, ObjectStatus, Text) {
    "use strict";

    const COLUMNS_MAX = 25;

    // Texts of a file are set, never given to a constructor, which takes what has braces for a binding.
    const plain = (text) => new Text().setText(text);

    function cell({value, problem, values = []}, t) {
      const made = new ObjectStatus({state: problem ? "Error" : "None"}).setText(value);
      if (problem) {
        made.setIcon("sap-icon://error").setTooltip(t(`imports.problem.${problem}`, ...values));
      }
      return made;
    }

    const Preview = {
      /** What is wrong with a row, in one line. */
      sentence(problems, t) {
        return problems
          .map(({field, problem, values = []}) => {
            const text = t(`imports.problem.${problem}`, ...values);
            return field ? `${field.words || field.label}: ${text}` : text;
          })
          .join(" · ");
      },

      /** Shows the first rows as they will be sent, each value that the service will refuse marked. */
      fill(table, found, fields, t) {
        const byName = new Map(fields.map((one) => [one.name, one]));
        const names = found.names.slice(0, COLUMNS_MAX);
        const hasProblems = found.shown.some((row) => row.problems.length);
        const column = (text, settings = {}) => table.addColumn(new Column({...settings, header: plain(text)}));
        table.destroyItems();
        table.destroyColumns();
        column(t("imports.row"), {hAlign: "End", width: "4rem"});
        if (hasProblems) {
          column(t("imports.problem"), {width: "16rem"});
        }
        names.forEach((name) => column(byName.has(name) ? byName.get(name).words || byName.get(name).label : name));
        found.shown.forEach((row) => {
          const cells = [plain(String(row.number))];
          if (hasProblems) {
            cells.push(plain(Preview.sentence(row.problems, t)));
          }
          cells.push(...row.cells.slice(0, names.length).map((one) => cell(one, t)));
          table.addItem(new ColumnListItem({cells}));
        });
      }
    };
    return Preview;
  }
);
