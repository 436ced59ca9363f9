sap.ui.define(
  ["sap/m/ObjectStatus", "sap/m/Text", "promenade/generic/Format", "promenade/resources/FunctionTable"],
  function (ObjectStatus, Text, Format, FunctionTable) {
    "use strict";

    const {MODEL} = FunctionTable;
    const COLOURS = {EXPIRES_SOON: "Warning", EXPIRED: "Error", MISSING: "Error"};
    const LISTENER = "SERVER_CERTIFICATE";

    /** One thing that is shown or trusted, in words. */
    function read({use, name, fingerprint, since, until, state}, t) {
      const end = until === null ? t("resources.trust.noEnd") : Format.dateTime(until);
      return {
        isListener: use === LISTENER,
        use: t(`resources.trust.${use}`),
        name: fingerprint === null ? name : `${name}\n${t("resources.trust.fingerprint", fingerprint)}`,
        since: Format.dateTime(since),
        until: state === "VALID" ? end : t(`resources.trust.${state}`, end),
        colour: COLOURS[state] || "None"
      };
    }

    const column = (path, minScreenWidth, cell = FunctionTable.text(path)) => ({
      key: `resources.trust.${path}`,
      cell,
      minScreenWidth
    });

    return {
      /** What the service shows of itself and what it trusts, each with its end. */
      create(view) {
        const end = new ObjectStatus({text: `{${MODEL}>until}`, state: `{${MODEL}>colour}`});
        const {box} = new FunctionTable(view, {
          name: "certificates",
          how: "resources.trustHow",
          columns: [
            column("use", ""),
            column("name", "Tablet"),
            column("since", "Desktop"),
            column("until", "Tablet", end)
          ],
          read
        });
        const isWithoutTls = {
          path: `${MODEL}>/`,
          formatter: (rows) => Array.isArray(rows) && !rows.some(({isListener}) => isListener)
        };
        box.insertItem(new Text({text: "{i18n>resources.trustNoTls}", visible: isWithoutTls}), 1);
        return box;
      }
    };
  }
);
