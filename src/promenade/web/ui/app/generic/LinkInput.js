sap.ui.define(
  ["sap/m/Input", "promenade/generic/Messages", "promenade/generic/Reference"],
  function (Input, Messages, Reference) {
    "use strict";

    /** An input for what refers to another entity, bound to the property that holds its key: it shows its name. */

    /** Of a row that was picked: its name, as the field will show it. */
    function textOf(field, row) {
      const name = field.textPath ? field.textPath.split("/").pop() : null;
      const shown = [...field.valueList.shown].reverse().map((path) => row[path]);
      return (name && row[name]) || shown.find(Boolean) || row[field.valueList.key];
    }

    /** Writes what was chosen, and has the name read anew where the change is sent at once. */
    async function write(input, field, options, value) {
      const context = input.getBindingContext(options.model);
      if (options.model) {
        context.getModel().setProperty(field.path, value, context);
        return;
      }
      const kept = context.setProperty(field.path, value);
      const isSentLater = context.isTransient() || !context.getUpdateGroupId().startsWith("$");
      if (isSentLater) {
        kept.catch((error) => Messages.show(error));
        return;
      }
      const navigation = field.textPath ? field.textPath.split("/").slice(0, -1).join("/") : null;
      const shown = navigation ? context.requestSideEffects([{$NavigationPropertyPath: navigation}]) : null;
      await Promise.all([kept, shown]);
    }

    async function take(input, field, options, row) {
      const value = row ? row[field.valueList.key] : null;
      input.data("picked", row ? {value, text: textOf(field, row)} : null);
      input.setValue(row ? textOf(field, row) : "");
      await write(input, field, options, value);
      if (options.onChange) {
        options.onChange(input, row);
      }
    }

    return {
      /** An input bound to the field; `options` as of `Fields.input`. */
      create(field, options) {
        const {model} = options;
        const textPath = model ? `_texts/${field.path}` : field.textPath;
        const parts = [field.path, textPath].filter(Boolean).map((path) => ({path, model, targetType: "any"}));
        const input = new Input({
          value: {
            parts,
            mode: "OneWay",
            formatter(value, text) {
              const picked = this.data("picked");
              return picked && picked.value === value ? picked.text : text || value || "";
            }
          },
          required: field.isRequired
        });
        return Reference.attach(
          input,
          {...field.valueList, title: field.label, filters: field.filters},
          {
            take: (control, [row]) => take(control, field, options, row).catch((error) => Messages.show(error)),
            isShown: (control, text) => control.data("picked")?.text === text
          }
        );
      }
    };
  }
);
