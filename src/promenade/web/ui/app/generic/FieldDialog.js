sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/MessageStrip",
    "sap/m/VBox",
    "sap/ui/core/Component",
    "sap/ui/core/Messaging",
    "sap/ui/layout/form/ColumnLayout",
    "sap/ui/layout/form/Form",
    "sap/ui/layout/form/FormContainer",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Fields",
    "promenade/generic/Marks",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/generic/Unsaved"
  ],
  function (
    Button,
    Dialog,
    MessageStrip,
    VBox,
    Component,
    Messaging,
    ColumnLayout,
    Form,
    FormContainer,
    JSONModel,
    Fields,
    Marks,
    Messages,
    Texts,
    Unsaved
  ) {
    "use strict";

    /** A dialog that asks for the values of fields, and shows at each what the service has against it. */
    const MODEL = "asked";

    const isMissing = (value) => value === null || value === undefined || value === "" || value.length === 0;

    /** Marks required fields that are empty; whether there are none and every value is one of its type. */
    async function isComplete(asked) {
      await Unsaved.taken();
      asked.inputs.forEach((input, field) => {
        const isEmpty = isMissing(asked.values.getProperty(`/${field.path}`)) && !Marks.has(input);
        if (field.isRequired && input.setValueState && isEmpty) {
          Marks.set(input, Texts.of("required"));
        }
      });
      const wrong = [...asked.inputs.values()].find((one) => one.getValueState && one.getValueState() === "Error");
      wrong?.focus();
      return !wrong;
    }

    /** Shows an error: what has a target among the fields there, the rest above them. */
    function refuse(asked, error) {
      const {message, target, details} = Messages.read(error);
      const said = details.length ? details : [{message, target}];
      const rest = said.filter((one) => {
        const path = (one.target || "").replace(/^in\//, "");
        const field = [...asked.inputs.keys()].find((known) => known.path === path);
        const input = field && asked.inputs.get(field);
        if (!input || !input.setValueState) {
          return true;
        }
        Marks.set(input, one.message);
        input.focus();
        return false;
      });
      asked.strip.setVisible(rest.length > 0);
      asked.strip.setText(rest.map((one) => one.message).join("\n"));
    }

    /** The values as the service takes them: empty texts are none, what was not touched stays away. */
    function valuesOf(asked, initial) {
      const now = asked.values.getData();
      return Object.fromEntries(
        [...asked.inputs.keys()]
          .map((field) => [
            field.path,
            isMissing(now[field.path]) && !Array.isArray(now[field.path]) ? null : now[field.path]
          ])
          .filter(([path, value]) => value !== (initial[path] ?? null))
      );
    }

    /** What the fields hold, as something to compare: an empty one is like one that was never filled. */
    const stateOf = (asked) => {
      const now = asked.values.getData();
      return JSON.stringify([...asked.inputs.keys()].map(({path}) => (isMissing(now[path]) ? null : now[path])));
    };

    /** Asks before the address is changed or the window ends while something is in the dialog that was never sent. */
    function guard(dialog, asked) {
      const before = stateOf(asked);
      const release = Unsaved.guardDialog(Component.getComponentById("promenade").getRouter(), {
        isChanged: () => stateOf(asked) !== before || Unsaved.hasWrong(dialog),
        mayLeave: () => Messages.confirm(Texts.of("unsaved"), {action: Texts.of("leave"), isCritical: true}),
        leave: () => dialog.close()
      });
      dialog.attachBeforeClose(release);
    }

    function formOf(asked, fields) {
      const container = new FormContainer({
        formElements: fields.map((field) => {
          const input = Fields.input(field, {model: MODEL, isNew: true});
          asked.inputs.set(field, input);
          return Fields.labelled(field, input);
        })
      });
      const columns = fields.length > 8 ? 2 : 1;
      return new Form({
        editable: true,
        formContainers: [container],
        layout: new ColumnLayout({
          columnsM: 1,
          columnsL: columns,
          columnsXL: columns,
          labelCellsLarge: 12,
          emptyCellsLarge: 0
        })
      });
    }

    function defaultsOf(fields, values) {
      const defaults = fields
        .filter((field) => field.defaultValue !== null && values[field.path] === undefined)
        .map((field) => [field.path, field.defaultValue]);
      return {...Object.fromEntries(defaults), ...values};
    }

    function dialogOf(asked, {title, action, fields, text}, submit, done) {
      const isWide = fields.length > 8;
      return new Dialog({
        title,
        contentWidth: isWide ? "52rem" : "30rem",
        resizable: true,
        draggable: true,
        content: [
          new VBox({
            renderType: "Bare",
            items: [
              ...(text ? [new MessageStrip({text, showIcon: false}).addStyleClass("sapUiSmallMargin")] : []),
              asked.strip,
              formOf(asked, fields)
            ]
          })
        ],
        beginButton: new Button({text: action || Texts.of("ok"), type: "Emphasized", press: submit}),
        endButton: new Button({text: Texts.of("cancel"), press: (event) => event.getSource().getParent().close()}),
        afterClose: (event) => {
          Messaging.unregisterObject(event.getSource());
          event.getSource().destroy();
          done();
        }
      });
    }

    return {
      /**
       * Asks for fields. `values`: what they hold at first; `texts`: names of what links refer to, by path;
       * `submit(changed, all)` carries it out; when it rejects, the dialog stays and says why; after false it stays.
       *
       * Resolves with what `submit` resolved with, undefined when it was left.
       *
       * @param {object} options
       * @param {string} options.title
       * @param {string} [options.action]
       * @param {string} [options.text]
       * @param {any[]} options.fields
       * @param {Record<string, any>} [options.values]
       * @param {Record<string, string>} [options.texts]
       * @param {boolean} [options.isNew]
       * @param {(changed: any, all: any) => any} options.submit
       */
      async open({title, action, text, fields, values = {}, texts = {}, isNew = true, submit}) {
        await Texts.ready();
        const initial = isNew ? {} : values;
        const asked = {
          inputs: new Map(),
          values: new JSONModel({...(isNew ? defaultsOf(fields, values) : values), _texts: texts}),
          strip: new MessageStrip({type: "Error", showIcon: true, visible: false}).addStyleClass("sapUiSmallMargin")
        };
        return new Promise((resolve) => {
          let outcome;
          const dialog = dialogOf(
            asked,
            {title, action, fields, text},
            async () => {
              if (!(await isComplete(asked))) {
                return;
              }
              dialog.setBusy(true);
              try {
                outcome = await submit(valuesOf(asked, initial), asked.values.getData());
                if (outcome !== false) {
                  dialog.close();
                }
              } catch (error) {
                refuse(asked, error);
              } finally {
                dialog.setBusy(false);
              }
            },
            () => resolve(outcome)
          );
          dialog.setBusyIndicatorDelay(200);
          dialog.setModel(asked.values, MODEL);
          dialog.bindElement({path: "/", model: MODEL});
          dialog.addStyleClass("sapUiContentPadding");
          Messaging.registerObject(dialog, true);
          Component.getComponentById("promenade").getRootControl().addDependent(dialog);
          guard(dialog, asked);
          dialog.open();
        });
      }
    };
  }
);
