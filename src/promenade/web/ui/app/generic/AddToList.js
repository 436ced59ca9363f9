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

    /** Asks for what names a row of a set, beginning with what was typed, and makes the row; undefined: it was left. */
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
      /** How rows are added from a list to choose of, for `ValueHelp.pick`; undefined for those who may not. */
      of: (set) => (Session.may("create", set) ? (typed) => ask(set, typed) : undefined)
    };
  }
);
