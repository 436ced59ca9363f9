sap.ui.define(["sap/m/HBox", "sap/m/Text", "sap/m/VBox", "sap/ui/Device"], function (HBox, Text, VBox, Device) {
  "use strict";

  /** Columns of a `sap.ui.table.Table`: those that are seen, and one card in place of all on a telephone. */
  const TELEPHONE = 600; // narrower windows, in CSS pixels
  const CARD = "card";

  const isFilled = (value) => value !== null && value !== undefined && value !== "";

  /** A line of a card: what a value is called, and the value, where one of `paths` has one. */
  function line(label, control, paths) {
    const name = new Text({text: `${label}:`}).addStyleClass("promMuted sapUiTinyMarginEnd");
    return new HBox({wrap: "Wrap", items: [name, control]}).bindProperty("visible", {
      parts: paths.map((path) => ({path, targetType: "any"})),
      formatter: (...values) => values.some(isFilled)
    });
  }

  /** Has a column show cards: what it showed as their heads, and below that lines of what matters. */
  function card(column, lines) {
    const items = [column.getTemplate().addStyleClass("promCardHead"), ...lines];
    column.setTemplate(new VBox({items}).addStyleClass("sapUiTinyMarginTopBottom"));
    return column.setName(CARD).setWidth("auto").setMinWidth(0);
  }

  return {
    isTelephone: () => Device.resize.width < TELEPHONE,
    line,
    card,

    /** Has the first column show the named ones below itself, and takes all others away. */
    fold(table, names) {
      const [first, ...rest] = table.getColumns();
      const lines = names
        .map((name) => rest.find((one) => one.getName() === name))
        .map((one) => {
          const shown = one.getTemplate();
          // A text needs its column's name, a status says of what it is one.
          return shown.isA("sap.m.Text")
            ? line(
                one.getLabel().getText(),
                shown,
                shown.getBindingInfo("text").parts.map(({path}) => path)
              )
            : shown;
        });
      card(first, lines);
      rest.forEach((one) => one.destroy());
    },

    /** The names of the columns that are seen, in their order. */
    seen: (table) =>
      table
        .getColumns()
        .filter((one) => one.getVisible())
        .map((one) => one.getName()),

    /** Shows the columns with these names in this order; names that there are no more are left out. */
    show(table, names) {
      const all = new Map(table.getColumns().map((one) => [one.getName(), one]));
      const seen = (Array.isArray(names) ? names : []).filter((name) => all.has(name));
      if (seen.length) {
        all.forEach((one, name) => one.setVisible(seen.includes(name)));
        seen.forEach((name, at) => {
          table.removeColumn(all.get(name));
          table.insertColumn(all.get(name), at);
        });
      }
    }
  };
});
