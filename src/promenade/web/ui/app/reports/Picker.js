sap.ui.define(
  [
    "sap/m/Input",
    "sap/ui/core/ListItem",
    "promenade/generic/Lookups",
    "promenade/generic/Marks",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/reports/Plain",
    "promenade/reports/Service"
  ],
  function (Input, ListItem, Lookups, Marks, Messages, Texts, plain, Service) {
    "use strict";

    const SHOWN = 12;
    const ACTIVE = "IsActiveEntity eq true";
    const REPORTED = {service: "reporting", key: "promotionId", name: "promotionName"};

    /** How a promotion or a POS group is looked up: in what, by which property. Trials need not have begun. */
    const SOURCES = {
      promotions: [{...REPORTED, set: "PromotionPerformance"}],
      trials: [
        {...REPORTED, set: "ABTestResults"},
        {service: "admin", set: "Promotions", key: "ID", name: "name", also: `${ACTIVE} and isExperiment eq true`},
        {service: "admin", set: "PromotionPilotConfigs", key: "promotion_ID", name: "promotion/name", also: ACTIVE}
      ],
      posGroups: [{service: "admin", set: "PosGroups", key: "ID", name: "name", also: ACTIVE}]
    };

    const valueOf = (row, path) => path.split("/").reduce((found, name) => found?.[name], row);

    async function ask({service, set, key, name, also}, conditions) {
      const [owner, inner] = name.split("/");
      const shown = inner ? {select: key, expand: `${owner}($select=${inner})`} : {select: `${key},${name}`};
      const filter = Service.all(also, conditions(key, name));
      const [{rows}] = await Service.read(service, [{set, filter, orderby: name, top: SHOWN, ...shown}]);
      return rows.map((row) => ({key: row[key], name: valueOf(row, name)}));
    }

    /** The first of them by name, each once: `{key, name}`. */
    async function find(kind, conditions) {
      const found = (await Promise.all(SOURCES[kind].map((source) => ask(source, conditions)))).flat();
      const byKey = new Map(found.map((one) => [one.key, one]));
      return [...byKey.values()]
        .sort((one, other) => String(one.name).localeCompare(String(other.name)))
        .slice(0, SHOWN);
    }

    const containing = (typed) => (_, name) =>
      typed && `contains(tolower(${name}),${Service.text(typed.toLowerCase())})`;

    /** The one that a text names: that of just this name, or the only one that contains it. */
    async function named(kind, typed) {
      const found = await find(kind, containing(typed));
      const same = found.filter(({name}) => name.toLowerCase() === typed.toLowerCase());
      const meant = same.length ? same : found;
      return {one: meant.length === 1 ? meant[0] : null, fault: meant.length ? "severalMatch" : "noneMatches"};
    }

    /** What was typed and not chosen is looked up; unless it names one, it stays as the field's error. */
    async function lookUp(input, kind, typed, take) {
      let answer = {one: null, fault: "notLookedUp"};
      await Texts.ready();
      try {
        answer = await named(kind, typed);
      } catch (error) {
        Messages.show(error);
      }
      if (input.isDestroyed() || input.getValue().trim() !== typed) {
        return; // something else is in the field meanwhile
      }
      if (answer.one) {
        take(answer.one);
      } else {
        Marks.set(input, Texts.of(answer.fault));
      }
    }

    async function suggest(input, kind, typed, isLatest) {
      try {
        const found = await find(kind, containing(typed));
        if (isLatest() && !input.isDestroyed()) {
          input.destroySuggestionItems();
          found.forEach(({key, name}) => input.addSuggestionItem(new ListItem(plain({key, text: name}))));
        }
      } catch (error) {
        Messages.show(error);
      }
    }

    /** Fields in which somebody looks for one of very many by its name. */
    return {
      /** A field for one of a kind; `onChoice(key)` is told what was chosen, null when it is emptied. */
      create({kind, label, placeholder, onChoice}) {
        let round = 0;
        let shown = "";
        const take = ({key, name}) => {
          shown = name;
          Marks.clear(input);
          onChoice(key);
        };
        const input = new Input({
          showSuggestion: true,
          showClearIcon: true,
          width: "17rem",
          placeholder,
          ariaLabelledBy: [label],
          startSuggestion: 1,
          filterSuggests: false,
          autocomplete: false,
          suggest(event) {
            const mine = ++round;
            suggest(input, kind, event.getParameter("suggestValue"), () => mine === round);
          },
          suggestionItemSelected(event) {
            const item = event.getParameter("selectedItem");
            if (item) {
              take({key: item.getKey(), name: item.getText()});
            }
          },
          change() {
            const typed = input.getValue().trim();
            if (!typed) {
              take({key: null, name: ""});
            } else if (typed === shown) {
              Marks.clear(input);
            } else {
              Lookups.during(lookUp(input, kind, typed, take));
            }
          }
        });
        return {
          input,
          show(name) {
            shown = name;
            input.setValue(name);
          }
        };
      },

      /** What one of a kind is called, null if it is not there. */
      async nameOf(kind, key) {
        const [found] = await find(kind, (property) => `${property} eq ${key}`);
        return found ? found.name : null;
      }
    };
  }
);
