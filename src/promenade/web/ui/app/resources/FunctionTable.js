sap.ui.define(
  [
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/resources/Texts"
  ],
  function (Column, ColumnListItem, Table, Text, VBox, JSONModel, Messages, Http, Texts) {
    "use strict";

    const SETTINGS = "/admin/TenantSettings(00000000-0000-0000-0000-000000000000)";

    /** What a function of the tenant's settings returns, as a table below a text that explains it. */
    return class FunctionTable {
      /** The model of the rows, which are no array until they are read. */
      static MODEL = "told";

      /**
       * `name`: the function; `how`: the key of the text; `columns: [{key, cell, hAlign, minScreenWidth}]`, `key`
       * being that of its title, `cell` what shows a row in it; `read(row, t)`: the row as cells show it.
       */
      constructor(view, {name, how, columns, read}) {
        this._view = view;
        this._address = `${SETTINGS}/AdminService.${name}()`;
        this._read = read;
        this._model = new JSONModel();
        const explained = new Text({text: `{i18n>${how}}`});
        const table = new Table({
          ariaLabelledBy: [explained],
          contextualWidth: "Auto",
          columns: columns.map(
            ({key, hAlign = "Begin", minScreenWidth = ""}) =>
              new Column({
                hAlign,
                minScreenWidth,
                demandPopin: true,
                popinDisplay: "Inline",
                header: new Text({text: `{i18n>${key}}`})
              })
          )
        }).bindItems({
          path: `${FunctionTable.MODEL}>/`,
          template: new ColumnListItem({cells: columns.map(({cell}) => cell)})
        });
        this.box = new VBox({renderType: "Bare", items: [explained, table]}).setModel(this._model, FunctionTable.MODEL);
        this.fill();
      }

      /** A text of a row. */
      static text = (path) => new Text({text: `{${FunctionTable.MODEL}>${path}}`});

      /** Reads the rows, or reads them again. */
      async fill() {
        try {
          const [t, {value}] = await Promise.all([Texts.of(this._view), Http.get(this._address)]);
          this._model.setData(value.map((one) => this._read(one, t)));
        } catch (error) {
          Messages.show(error);
        }
      }
    };
  }
);
