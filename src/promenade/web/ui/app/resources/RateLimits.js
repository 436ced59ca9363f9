sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/resources/Texts"
  ],
  function (Button, Column, ColumnListItem, Table, Text, VBox, JSONModel, Format, Messages, Http, Texts) {
    "use strict";

    const ADDRESS = "/admin/TenantSettings(00000000-0000-0000-0000-000000000000)/AdminService.rateLimits()";
    const MODEL = "limits";

    /** One limit in words; the first is that of the tenant as a whole. */
    const read = ({clientId, perMinute, inUse, refused}, t) => ({
      whose: clientId || t("resources.wholeTenant"),
      limit: perMinute === null ? t("resources.noLimit") : Format.number(perMinute),
      inUse: perMinute === null ? "" : Format.number(inUse),
      refused: refused === null ? "" : Format.number(refused)
    });

    async function fill(view, model) {
      try {
        const [t, {value}] = await Promise.all([Texts.of(view), Http.get(ADDRESS)]);
        model.setData(value.map((one) => read(one, t)));
      } catch (error) {
        Messages.show(error);
      }
    }

    return {
      /** The limits that the operator has set, and how much of them is used now; read again when somebody asks. */
      create(view) {
        const model = new JSONModel([]);
        const column = (key, isNumber) =>
          new Column({
            hAlign: isNumber ? "End" : "Begin",
            minScreenWidth: isNumber ? "Tablet" : "",
            demandPopin: true,
            popinDisplay: "Inline",
            header: new Text({text: `{i18n>resources.limit.${key}}`})
          });
        const columns = [column("whose", false), ...["perMinute", "inUse", "refused"].map((key) => column(key, true))];
        const cells = ["whose", "limit", "inUse", "refused"].map((path) => new Text({text: `{${MODEL}>${path}}`}));
        const how = new Text({text: "{i18n>resources.rateLimitsHow}"});
        const table = new Table({ariaLabelledBy: [how], columns, contextualWidth: "Auto"}).bindItems({
          path: `${MODEL}>/`,
          template: new ColumnListItem({cells})
        });
        const again = new Button({text: "{i18n>resources.readAgain}", press: () => fill(view, model)});
        fill(view, model);
        return new VBox({renderType: "Bare", items: [how, table, again]}).setModel(model, MODEL);
      }
    };
  }
);
