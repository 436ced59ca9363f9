sap.ui.define(
  ["sap/m/Button", "promenade/generic/Messages", "promenade/reports/Plain", "promenade/resources/Download"],
  function (Button, Messages, plain, Download) {
    "use strict";

    const isNothing = (value) => value === null || value === undefined;

    /** A figure as spreadsheets of the person's region take it, with all its digits. */
    function figure(value) {
      return isNothing(value) ? "" : Download.isDecimalComma() ? String(value).replace(".", ",") : String(value);
    }

    /** Columns of a series: its figures, or its words; what all are counted in is in the heading. */
    function columnsOf({label, values, texts, units}, unitLabel) {
      if (!values.length) {
        return [{label, cells: texts}];
      }
      const cells = values.map(figure);
      const different = [...new Set(units || [])];
      if (different.length > 1) {
        return [
          {label, cells},
          {label: unitLabel, cells: units}
        ];
      }
      return [{label: different.length ? `${label} (${different[0]})` : label, cells}];
    }

    /** The table of a chart as a file: `{title, labels, series, extra}` as it has them. */
    function save(t, name, {title, labels, series, extra = []}) {
      const columns = [...series, ...extra].flatMap((one) => columnsOf(one, t("currency")));
      const rows = labels.map((label, index) => [label, ...columns.map(({cells}) => cells[index])]);
      Download.csv(`${name}.csv`, [title, ...columns.map(({label}) => label)], rows);
    }

    return {
      /** A button that saves a table, called `name`, of which `read()` gives or brings the whole. */
      button(t, name, read) {
        const button = new Button(
          plain({
            icon: "sap-icon://download",
            type: "Transparent",
            tooltip: t("saveTable", name),
            async press() {
              button.setBusy(true);
              try {
                save(t, name, await read());
              } catch (error) {
                Messages.show(error);
              } finally {
                button.setBusy(false);
              }
            }
          })
        );
        return button;
      }
    };
  }
);
