sap.ui.define(
  [
    "sap/ui/core/Component",
    "promenade/generic/FieldDialog",
    "promenade/generic/Meta",
    "promenade/generic/Texts",
    "promenade/net/Http",
    "promenade/session/Session"
  ],
  function (Component, FieldDialog, Meta, Texts, Http, Session) {
    "use strict";

    /** Asks for code and name of a new row, with what was typed filled in, and creates it; undefined if cancelled. */
    async function ask(set, typed) {
      const meta = await Meta.of(Component.getComponentById("promenade").getModel(), set);
      const [code] = meta.semanticKey;
      return FieldDialog.open({
        title: Texts.of("addToList"),
        action: Texts.of("addToList"),
        fields: [code, meta.titlePath].map((path) => meta.field(path)),
        values: {[code]: typed, [meta.titlePath]: typed},
        submit: (_, all) =>
          Http.post(`/admin/${set}`, {
            [code]: all[code],
            [meta.titlePath]: all[meta.titlePath],
            ...(meta.isDraft ? {IsActiveEntity: true} : {})
          })
      });
    }

    return {
      /** What adds a row to the list that one chooses from, for `ValueHelp.pick`; undefined for those who may not. */
      of: (set) => (Session.may("create", set) ? (typed) => ask(set, typed) : undefined)
    };
  }
);
