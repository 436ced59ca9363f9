sap.ui.define(
  [
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/ObjectStatus",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/model/Filter",
    "sap/ui/model/FilterOperator",
    "sap/ui/model/Sorter",
    "promenade/generic/Meta",
    "promenade/net/Http"
  ],
  function (Column, ColumnListItem, ObjectStatus, Text, VBox, Filter, FilterOperator, Sorter, Meta, Http) {
    "use strict";

    const FIELDS_MAX = 8;
    const LOOKED_AT = 50;

    function decoded(payload) {
      try {
        return JSON.parse(payload) || {};
      } catch {
        return {};
      }
    }

    function shown(value) {
      return value === null || value === undefined
        ? ""
        : typeof value === "object"
          ? JSON.stringify(value)
          : String(value);
    }

    /** Fields to be shown beside the errors: those at fault before those that the rows have besides. */
    function fieldsOf(errors) {
      const faulty = errors.map((one) => one.property).filter(Boolean);
      const others = errors.flatMap((one) => Object.keys(decoded(one.payload)));
      const chosen = [...new Set([...faulty, ...others])].slice(0, FIELDS_MAX);
      const inOrder = [...new Set([...others, ...faulty])];
      return inOrder.filter((name) => chosen.includes(name));
    }

    /** A value of the row as it was sent, marked in the row where it is at fault. */
    function cell(name) {
      return new ObjectStatus({
        text: {path: "payload", formatter: (payload) => shown(decoded(payload || "{}")[name])},
        state: {path: "property", formatter: (property) => (property === name ? "Error" : "None")},
        icon: {path: "property", formatter: (property) => (property === name ? "sap-icon://error" : "")}
      });
    }

    return {
      /** Takes away what the table showed of another job. */
      clear(table) {
        table.unbindItems();
        table.destroyColumns();
      },

      /** Shows the errors of a job beside the rows as they were sent. */
      async fill(table, {ID, entity}, model, signal) {
        const url =
          `/admin/ImportJobErrors?$filter=job_ID eq ${ID}&$orderby=rowNumber&$top=${LOOKED_AT}` +
          "&$select=property,payload";
        const names = fieldsOf((await Http.get(url, {signal})).value);
        const meta = await Meta.of(model, entity);
        const labels = names.map((name) => (meta.has(name) ? meta.field(name).label : name));
        const column = (text, settings) => table.addColumn(new Column({...settings, header: new Text({text})}));
        this.clear(table);
        column("{i18n>imports.row}", {hAlign: "End", width: "4rem"});
        column("{i18n>imports.problem}", {width: "22rem"});
        labels.forEach((text) => column("", {}).getColumns().at(-1).getHeader().setText(text));
        table.bindItems({
          path: "/ImportJobErrors",
          parameters: {$count: true},
          filters: [new Filter("job_ID", FilterOperator.EQ, ID)],
          sorter: [new Sorter("rowNumber")],
          template: new ColumnListItem({
            cells: [
              new Text({text: "{rowNumber}"}),
              new VBox({
                items: [
                  new Text({text: "{message}"}),
                  new Text({text: "{code}", wrapping: false}).addStyleClass("promenadeSmall")
                ]
              }),
              ...names.map(cell)
            ]
          }),
          templateShareable: false
        });
      },

      /** Shows only errors whose message or code has these words. */
      search(table, words) {
        const binding = table.getBinding("items");
        binding.changeParameters({$search: words ? JSON.stringify(words) : undefined});
      }
    };
  }
);
