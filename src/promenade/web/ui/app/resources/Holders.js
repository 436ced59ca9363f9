sap.ui.define(
  [
    "sap/ui/core/Component",
    "promenade/generic/Extensions",
    "promenade/generic/FieldDialog",
    "promenade/generic/Meta",
    "promenade/resources/Doing",
    "promenade/resources/Texts",
    "promenade/resources/Ticks"
  ],
  function (Component, Extensions, FieldDialog, Meta, Doing, Texts, Ticks) {
    "use strict";

    /** Who holds scopes, clients and people: made with a secret, changed in a dialog, switched off and on. */
    const changeOf =
      (set, textKey, paths) =>
      async ({model, context}) => {
        const [t, meta] = await Promise.all([Texts.of(Component.getComponentById("promenade")), Meta.of(model, set)]);
        await FieldDialog.open({
          title: t(textKey),
          action: t("resources.apply"),
          fields: paths.map((path) => meta.field(path)),
          values: Object.fromEntries(paths.map((path) => [path, context.getProperty(path)])),
          isNew: false,
          submit: async (changed, all) => {
            await Doing.patch(context, Object.fromEntries(paths.map((path) => [path, all[path] || null])));
            return true;
          }
        });
      };

    const isActive = (context) => context.getProperty("isActive") === true;
    const isOff = (context) => context.getProperty("isActive") === false;

    /** A button of the page that is there while somebody may change the row, and where `isThere`. */
    const actionOf = (set, isThere, action) => ({
      paths: ["isActive"],
      isEnabled: (context) => Doing.isOpen(set, context) && isThere(context),
      ...action
    });

    /** The button that asks for `paths` anew, in place of editing the page. */
    const changing = (set, textKey, paths) =>
      actionOf(set, () => true, {
        id: "change",
        textKey,
        paths: ["ID"],
        icon: "sap-icon://edit",
        replaces: ["edit"],
        press: changeOf(set, textKey, paths)
      });

    const switchTo = (set, to, action) =>
      actionOf(set, to ? isOff : isActive, {...action, press: ({context}) => Doing.patch(context, {isActive: to})});

    return {
      isActive,
      changing,

      /**
       * Adds scopes to choose from, and buttons.
       *
       * @param {string} set
       * @param {object} how
       * @param {string[]} how.scopes that may be given
       * @param {{id: string, textKey: string, icon: string, press: (page: any) => unknown}} how.create
       * @param {string} how.changeKey the text of the button that changes name and scopes
       * @param {{id: string, textKey: string, press: (page: any) => unknown}} how.renew makes another secret
       * @param {(context: any) => boolean} [how.isRenewable]
       */
      extend(set, {scopes, create, changeKey, renew, isRenewable = () => true}) {
        Extensions.input(set, "scopes", Ticks.of(scopes, "resources.scope"));
        Extensions.add(set, {
          listActions: [{replaces: ["create"], isOffered: () => Doing.may("create", set), ...create}],
          actions: [
            changing(set, changeKey, ["name", "scopes"]),
            actionOf(set, isRenewable, {icon: "sap-icon://synchronize", ...renew}),
            switchTo(set, false, {id: "switchOff", textKey: "resources.switchOff", icon: "sap-icon://pause"}),
            switchTo(set, true, {id: "switchOn", textKey: "resources.switchOn", icon: "sap-icon://media-play"})
          ]
        });
      }
    };
  }
);
