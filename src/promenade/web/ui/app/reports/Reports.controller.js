sap.ui.define(
  ["sap/ui/core/mvc/Controller", "promenade/reports/Catalogue", "promenade/reports/Door", "promenade/reports/style"],
  function (Controller, Catalogue, Door, style) {
    "use strict";

    /** All reports, with a sentence each. */
    return Controller.extend("promenade.reports.Reports", {
      onInit() {
        style();
        this._fill();
      },

      async _fill() {
        const bundle = await this.getOwnerComponent().getModel("i18n").getResourceBundle();
        Catalogue.forEach(({key, icon}) =>
          this.byId("gallery").addItem(
            new Door({
              icon,
              href: `#reports/${key}`,
              title: bundle.getText(`reports.${key}Title`),
              text: bundle.getText(`reports.${key}Text`)
            })
          )
        );
      }
    });
  }
);
