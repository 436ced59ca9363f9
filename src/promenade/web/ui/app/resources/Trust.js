sap.ui.define(
  [
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/ObjectStatus",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/resources/Texts"
  ],
  function (Column, ColumnListItem, ObjectStatus, Table, Text, VBox, JSONModel, Format, Messages, Http, Texts) {
    "use strict";

    const ADDRESS = "/admin/TenantSettings(00000000-0000-0000-0000-000000000000)/AdminService.certificates()";
    const MODEL = "trust";
    const COLOURS = {EXPIRES_SOON: "Warning", EXPIRED: "Error", MISSING: "Error"};

    /** One thing that is shown or trusted, in words. */
    function read({use, name, fingerprint, since, until, state}, t) {
      const end = until === null ? t("resources.trust.noEnd") : Format.dateTime(until);
      return {
        use: t(`resources.trust.${use}`),
        name: fingerprint === null ? name : `${name}\n${t("resources.trust.fingerprint", fingerprint)}`,
        since: Format.dateTime(since),
        until: state === "VALID" ? end : t(`resources.trust.${state}`, end),
        colour: COLOURS[state] || "None"
      };
    }

    async function fill(view, model) {
      try {
        const [t, {value}] = await Promise.all([Texts.of(view), Http.get(ADDRESS)]);
        const rows = value.map((one) => read(one, t));
        const hasListener = value.some(({use}) => use === "SERVER_CERTIFICATE");
        model.setData({rows, isWithoutTls: !hasListener});
      } catch (error) {
        Messages.show(error);
      }
    }

    return {
      /** What the service shows of itself and what it trusts, each with its end. */
      create(view) {
        const model = new JSONModel({rows: [], isWithoutTls: false});
        const column = (key, minScreenWidth = "") =>
          new Column({
            minScreenWidth,
            demandPopin: true,
            popinDisplay: "Inline",
            header: new Text({text: `{i18n>resources.trust.${key}}`})
          });
        const columns = [
          column("use"),
          column("name", "Tablet"),
          column("since", "Desktop"),
          column("until", "Tablet")
        ];
        const text = (path) => new Text({text: `{${MODEL}>${path}}`});
        const end = new ObjectStatus({text: `{${MODEL}>until}`, state: `{${MODEL}>colour}`});
        const how = new Text({text: "{i18n>resources.trustHow}"});
        const noTls = new Text({text: "{i18n>resources.trustNoTls}", visible: `{${MODEL}>/isWithoutTls}`});
        const table = new Table({ariaLabelledBy: [how], columns, contextualWidth: "Auto"}).bindItems({
          path: `${MODEL}>/rows`,
          template: new ColumnListItem({cells: [text("use"), text("name"), text("since"), end]})
        });
        fill(view, model);
        return new VBox({renderType: "Bare", items: [how, noTls, table]}).setModel(model, MODEL);
      }
    };
  }
);
