sap.ui.define(
  ["sap/m/Button", "promenade/generic/Format", "promenade/resources/FunctionTable"],
  function (Button, Format, FunctionTable) {
    "use strict";

    /** One limit in words; the first is that of the tenant as a whole. */
    const read = ({clientId, perMinute, inUse, refused}, t) => ({
      whose: clientId || t("resources.wholeTenant"),
      perMinute: perMinute === null ? t("resources.noLimit") : Format.number(perMinute),
      inUse: perMinute === null ? "" : Format.number(inUse),
      refused: refused === null ? "" : Format.number(refused)
    });

    const number = (path) => ({
      key: `resources.limit.${path}`,
      cell: FunctionTable.text(path),
      hAlign: "End",
      minScreenWidth: "Tablet"
    });

    return {
      /** The limits that the operator has set, and how much of them is used now; read again when somebody asks. */
      create(view) {
        const table = new FunctionTable(view, {
          name: "rateLimits",
          how: "resources.rateLimitsHow",
          columns: [
            {key: "resources.limit.whose", cell: FunctionTable.text("whose")},
            ...["perMinute", "inUse", "refused"].map(number)
          ],
          read
        });
        return table.box.addItem(new Button({text: "{i18n>resources.readAgain}", press: () => table.fill()}));
      }
    };
  }
);
