sap.ui.define(
  [
    "sap/ui/core/Component",
    "promenade/generic/FieldDialog",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/net/Http",
    "promenade/resources/Texts",
    "promenade/session/Session"
  ],
  function (Component, FieldDialog, Messages, Meta, Http, Texts, Session) {
    "use strict";

    const SERVICE = "/admin";
    const shortName = (action) => action.name.split(".").pop();

    const Doing = {
      /** What metadata says of an action of a set, by its short name. */
      async action(model, set, name) {
        const meta = await Meta.of(model, set);
        return meta.actions.find((one) => shortName(one) === name);
      },

      /** Whether a person may do something to rows of a set. */
      may(verb, set) {
        return Session.may(verb, set);
      },

      /** Whether a person may change the active entity that a page shows. */
      isOpen(set, context) {
        return (
          !context.isTransient() && Session.may("update", set) && !context.getPath().includes("IsActiveEntity=false")
        );
      },

      /** Carries an action out; resolves with the service's answer. */
      call(context, action, values = {}) {
        return Http.post(`${SERVICE}${context.getPath()}/${action.name}`, values);
      },

      /** Asks for the parameters of an action and carries it out; undefined when the person left it. */
      async ask({model, context, set, name, text}) {
        const action = await Doing.action(model, set, name);
        return FieldDialog.open({
          title: action.label,
          action: action.label,
          text,
          fields: action.parameters,
          submit: (values) => Doing.call(context, action, values)
        });
      },

      /**
       * Asks for something new, has `show(made)` show what the service made of it, and leads to its page. `action`: the
       * text of the button, `paths`: what is asked for, `ticked`: what of it is a list.
       *
       * @param {any} page
       * @param {{action: string, paths: string[], ticked: string, show?: (made: any) => any}} how
       */
      async create({view, meta}, {action, paths, ticked, show = () => {}}) {
        try {
          const t = await Texts.of(Component.getComponentById("promenade"));
          const made = await FieldDialog.open({
            title: t(action),
            action: t(action),
            fields: paths.map((path) => meta.field(path)),
            values: {[ticked]: []},
            submit: (changed, all) => Http.post(`${SERVICE}/${meta.set}`, {...changed, [ticked]: all[ticked]})
          });
          if (made) {
            await show(made);
            view.getController().getOwnerComponent().getRouter().navTo("object", {set: meta.set, key: made.ID});
          }
        } catch (error) {
          Messages.show(error);
        }
      },

      /** Changes values of what a page shows, unless somebody has changed it meanwhile; resolves with the answer. */
      async patch(context, values) {
        const tag = context.getObject()["@odata.etag"];
        return Http.request("PATCH", `${SERVICE}${context.getPath()}`, {
          body: values,
          headers: tag ? {"If-Match": tag} : {}
        });
      }
    };
    return Doing;
  }
);
