sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/MessageToast",
    "promenade/generic/Addresses",
    "promenade/generic/FieldDialog",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/net/News"
  ],
  function (Button, MessageToast, Addresses, FieldDialog, Messages, Texts, News) {
    "use strict";

    /** What can be done with an entity: the actions that $metadata binds to it. */
    const unread = (path) => ({path, targetType: "any"});

    async function invoke(context, action, values) {
      const binding = context.getModel().bindContext(`${action.name}(...)`, context);
      action.parameters.forEach(({path}) => {
        if (values[path] !== undefined) {
          binding.setParameter(path, values[path]);
        }
      });
      const result = await binding.invoke();
      News.wrote("POST", `${context.getPath()}/${action.name}`);
      return result;
    }

    /** The action of a button, asking before for what it needs. Resolves with `{result}`, null when left. */
    async function carryOut(context, action) {
      if (action.parameters.length) {
        const fields = action.parameters.map((one) => ({...one, isRequired: one.isRequired}));
        const done = await FieldDialog.open({
          title: action.label,
          action: action.label,
          fields,
          submit: async (changed) => ({result: await invoke(context, action, changed)})
        });
        return done || null;
      }
      if (
        action.isCritical &&
        !(await Messages.confirm(Texts.of("confirmAction", action.label), {
          action: action.label,
          isCritical: true
        }))
      ) {
        return null;
      }
      return {result: await invoke(context, action, {})};
    }

    return {
      carryOut,

      /**
       * A button for each action, shown while it can be called. `after(action, result)` once it was carried out;
       * `except`: names of those that somebody else shows.
       */
      buttons(meta, {after, except = []}) {
        const wanted = meta.actions.filter((one) => !except.includes(one.name.split(".").pop()));
        return wanted.map((action) => {
          const {availability} = action;
          const {paths} = availability;
          const button = new Button({
            text: action.label,
            type: "Transparent",
            tooltip: null,
            async press() {
              const context = button.getBindingContext();
              button.setBusy(true);
              try {
                const done = await carryOut(context, action);
                if (done) {
                  MessageToast.show(Texts.of("actionDone", action.label));
                  await after(action, done.result);
                }
              } catch (error) {
                Messages.show(error);
              } finally {
                button.setBusy(false);
              }
            }
          });
          if (paths.length) {
            button.bindProperty("visible", {
              parts: paths.map(unread),
              formatter: (...values) => availability.test((path) => values[paths.indexOf(path)])
            });
          }
          return button;
        });
      }
    };
  }
);
