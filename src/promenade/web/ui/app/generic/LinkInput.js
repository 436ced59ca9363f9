sap.ui.define(
  [
    "sap/m/Input",
    "sap/m/SuggestionItem",
    "promenade/generic/Marks",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/generic/ValueHelp"
  ],
  function (Input, SuggestionItem, Marks, Messages, Texts, ValueHelp) {
    "use strict";

    /** An input for what refers to another entity: it shows the other's name, suggests while typing, opens a list. */
    const SUGGESTIONS = 10;

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
      Marks.clear(input);
      input.setValue(row ? textOf(field, row) : "");
      await write(input, field, options, value);
      if (options.onChange) {
        options.onChange(input, row);
      }
    }

    function suggest(input, field, value) {
      const {set, shown, key} = field.valueList;
      const [first, second] = shown.length ? shown : [key];
      const template = new SuggestionItem({
        key: `{${key}}`,
        text: `{${second || first}}`,
        ...(second ? {description: `{${first}}`} : {})
      });
      const select = [...new Set([key, ...shown])].join(",");
      input.bindAggregation("suggestionItems", {
        path: `/${set}`,
        length: SUGGESTIONS,
        template,
        parameters: {$select: select, ...(value ? {$search: ValueHelp.phrase(value)} : {})},
        ...(field.filters ? {filters: field.filters} : {})
      });
    }

    /** What was typed and not chosen: nothing, the only row that it names, or a mistake. */
    async function resolve(input, field, options, typed) {
      if (!typed) {
        await take(input, field, options, null);
        return;
      }
      const rows = await ValueHelp.find(input.getModel(), field.valueList, typed);
      if (rows.length === 1) {
        await take(input, field, options, rows[0]);
        return;
      }
      Marks.set(input, Texts.of(rows.length ? "severalMatch" : "noneMatches"));
    }

    async function choose(input, field, options) {
      const [row] = await ValueHelp.pick({
        set: field.valueList.set,
        title: field.label,
        filters: field.filters,
        model: input.getModel()
      });
      if (row) {
        await take(input, field, options, row);
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
          required: field.isRequired,
          showValueHelp: true,
          showSuggestion: true,
          filterSuggests: false,
          startSuggestion: 1,
          autocomplete: false,
          suggest: (event) => suggest(input, field, event.getParameter("suggestValue")),
          suggestionItemSelected(event) {
            const item = event.getParameter("selectedItem");
            const chosen = item && item.getBindingContext();
            if (chosen) {
              take(input, field, options, chosen.getObject());
            }
          },
          change(event) {
            const typed = event.getParameter("value").trim();
            const picked = input.data("picked");
            if (!picked || picked.text !== typed) {
              resolve(input, field, options, typed).catch((error) => Messages.show(error));
            }
          },
          valueHelpRequest: () => choose(input, field, options).catch((error) => Messages.show(error))
        });
        return input;
      }
    };
  }
);
