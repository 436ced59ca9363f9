sap.ui.define(
  [
    "sap/m/SuggestionItem",
    "promenade/generic/Lookups",
    "promenade/generic/Marks",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/generic/ValueHelp"
  ],
  function (SuggestionItem, Lookups, Marks, Messages, Texts, ValueHelp) {
    "use strict";

    /**
     * What all fields have in common that name rows of another set: they suggest while one types, open a list, and
     * find what a typed text names. A text that names nothing, or more than one thing, stays in the field as its error.
     *
     * @typedef {object} Source
     * @property {string} set
     * @property {string} key the property that the field stores
     * @property {string[]} shown what a row is known by: number, name
     * @property {string} [title] of the list to choose from
     * @property {any[]} [filters]
     * @property {string[]} [columns] of the list to choose from
     */
    const SUGGESTIONS = 10;
    const SEPARATOR = /[,;\n\t]/;
    const SETTINGS = {
      showValueHelp: true,
      showSuggestion: true,
      filterSuggests: false,
      startSuggestion: 1,
      autocomplete: false
    };

    const selectOf = ({key, shown}) => [...new Set([key, ...shown])].join(",");

    function suggest(input, source, typed) {
      const {set, shown, key, filters} = source;
      const [first, second] = shown.length ? shown : [key];
      const template = new SuggestionItem({
        key: `{${key}}`,
        text: `{${second || first}}`,
        ...(second ? {description: `{${first}}`} : {})
      });
      const text = typed.trim();
      input.bindAggregation("suggestionItems", {
        path: `/${set}`,
        length: SUGGESTIONS,
        template,
        templateShareable: false,
        parameters: {$select: selectOf(source), $search: ValueHelp.words(text)},
        filters: ValueHelp.activeAlone(input.getModel(), set, filters)
      });
    }

    /** What texts name: `{rows, left, fault}`, with the texts that name nothing, or no one thing. */
    async function find(model, source, texts) {
      const rows = [];
      const left = [];
      let fault = "";
      const found = await Promise.all(texts.map((one) => ValueHelp.find(model, source, one)));
      found.forEach((some, at) => {
        if (some.length === 1) {
          rows.push(some[0]);
        } else {
          left.push(texts[at]);
          fault ||= some.length ? "severalMatch" : "noneMatches";
        }
      });
      return {rows, left, fault};
    }

    /** Looks up what was typed into one field; where several may be named, commas may lie between them. */
    async function lookUp(input, source, {isMany, take}, typed) {
      const parts = typed.split(SEPARATOR).map((one) => one.trim());
      const texts = [...new Set(parts)].filter(Boolean);
      const model = input.getModel();
      let answer;
      try {
        answer = await find(model, source, [typed]);
        if (isMany && texts.length > 1 && !answer.rows.length) {
          answer = await find(model, source, texts);
        }
      } catch (error) {
        answer = {rows: [], left: [typed], fault: "notLookedUp"};
        Messages.show(error);
      }
      if (input.isDestroyed() || input.getValue().trim() !== typed) {
        return; // something else is in the field meanwhile
      }
      if (answer.rows.length) {
        take(input, answer.rows);
      }
      if (answer.left.length) {
        input.setValue(answer.left.join(", "));
        Marks.set(input, Texts.of(answer.fault));
      }
    }

    async function choose(input, source, {isMany, take}) {
      const {set, title, filters, columns} = source;
      const rows = await ValueHelp.pick({set, title, filters, columns, multi: isMany, model: input.getModel()});
      if (rows.length) {
        take(input, rows);
      }
    }

    return {
      SETTINGS,
      suggest,

      /**
       * Makes an input such a field. `take(input, rows)` is told the rows that were named or chosen, none when it was
       * emptied, and shows them; `isShown(input, text)`: whether that is what the field shows already.
       *
       * @param {any} input
       * @param {Source} source
       * @param {{isMany?: boolean, take: (input: any, rows: any[]) => unknown,
       *   isShown?: (input: any, text: string) => boolean}} how
       */
      attach(input, source, {isMany = false, take, isShown = () => false}) {
        const told = (control, rows) => {
          Marks.clear(control);
          take(control, rows);
        };
        const how = {isMany, take: told};
        Object.entries(SETTINGS).forEach(([name, value]) => input.setProperty(name, value));
        input.attachSuggest((event) => suggest(input, source, event.getParameter("suggestValue")));
        input.attachSuggestionItemSelected((event) => {
          const chosen = event.getParameter("selectedItem")?.getBindingContext();
          if (chosen) {
            told(input, [chosen.getObject()]);
          }
        });
        input.attachChange(() => {
          const typed = input.getValue().trim();
          if (typed && isShown(input, typed)) {
            Marks.clear(input);
          } else if (typed) {
            Lookups.during(lookUp(input, source, how, typed));
          } else if (isMany) {
            Marks.clear(input);
          } else {
            told(input, []);
          }
        });
        input.attachValueHelpRequest(() => choose(input, source, how).catch((error) => Messages.show(error)));
        input.addValidator?.(() => null); // what becomes a token was found, never just typed
        return input;
      }
    };
  }
);
