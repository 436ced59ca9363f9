sap.ui.define(
  [
    "sap/base/i18n/Localization",
    "sap/m/Menu",
    "sap/m/MenuButton",
    "sap/m/MenuItem",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/generic/Zone",
    "promenade/net/Http",
    "promenade/resources/Download"
  ],
  function (Localization, Menu, MenuButton, MenuItem, Messages, Texts, Zone, Http, Download) {
    "use strict";

    /** A list as a file for spreadsheets, with its filters and its order, which the service writes. */
    const ADMIN = "/admin/";

    /** What spreadsheets of the person's region take for a number and the end of a cell, and the clock of the pages. */
    const region = () => ({
      separator: Download.delimiter(),
      decimal: Download.isDecimalComma() ? "," : ".",
      language: Localization.getLanguage().startsWith("de") ? "de" : "en",
      timeZone: Zone.current()
    });

    async function save({binding, columns, title, onSaved, root = ADMIN}, format) {
      try {
        const url = binding().getDownloadUrl();
        const order = {url: url.slice(url.indexOf(root) + root.length), columns: columns(), format, ...region()};
        const file = await Http.post(`${root}exportList`, order, {isFile: true});
        Download.save(file, `${title}.${format}`);
        onSaved?.();
      } catch (error) {
        Messages.show(error);
      }
    }

    return {
      /** The column of a field: what people read of it. */
      columnOf: (field) => ({path: field.textPath || field.path, label: field.label}),

      /**
       * A button that saves a list: `binding()` gives the binding of its rows, or what has its `getDownloadUrl()`;
       * `columns()` `[{path, label}]`; `onSaved()` is called once somebody has the file; `root` of its service.
       */
      button(list) {
        const item = (format) => new MenuItem({text: Texts.of(`export.${format}`), press: () => save(list, format)});
        return new MenuButton({
          text: Texts.of("export"),
          icon: "sap-icon://download",
          type: "Transparent",
          menu: new Menu({items: [item("xlsx"), item("csv")]})
        });
      }
    };
  }
);
