sap.ui.define(
  [
    "sap/m/Input",
    "sap/ui/core/ListItem",
    "promenade/generic/Messages",
    "promenade/reports/Plain",
    "promenade/reports/Service"
  ],
  function (Input, ListItem, Messages, plain, Service) {
    "use strict";

    const SHOWN = 12;

    /** How a promotion or a POS group is looked up: in what, and by which fields. */
    const SOURCES = {
      PromotionPerformance: {service: "reporting", key: "promotionId", name: "promotionName"},
      ABTestResults: {service: "reporting", key: "promotionId", name: "promotionName"},
      PosGroups: {service: "admin", key: "ID", name: "name", also: "IsActiveEntity eq true"}
    };

    function find(set, conditions) {
      const {service, key, name, also} = SOURCES[set];
      return Service.read(service, [
        {
          set,
          filter: Service.all(also, conditions),
          select: `${key},${name}`,
          orderby: name,
          top: SHOWN
        }
      ]).then(([{rows}]) => rows.map((row) => ({key: row[key], name: row[name]})));
    }

    const contains = (set, typed) =>
      typed && `contains(tolower(${SOURCES[set].name}),${Service.text(typed.toLowerCase())})`;

    /** Fields in which somebody looks for one of very many by its name. */
    return {
      /** A field for one of a set; `onChoice(key)` is told what was chosen, null when it is emptied. */
      create({set, label, placeholder, onChoice}) {
        let round = 0;
        const input = new Input({
          showSuggestion: true,
          showClearIcon: true,
          width: "17rem",
          placeholder,
          ariaLabelledBy: [label],
          startSuggestion: 1,
          filterSuggests: false,
          suggest: async (event) => {
            const mine = ++round;
            const typed = event.getParameter("suggestValue");
            try {
              const found = await find(set, contains(set, typed));
              if (mine === round && !input.isDestroyed()) {
                input.destroySuggestionItems();
                found.forEach(({key, name}) => input.addSuggestionItem(new ListItem(plain({key, text: name}))));
              }
            } catch (error) {
              Messages.show(error);
            }
          },
          suggestionItemSelected: (event) => {
            const item = event.getParameter("selectedItem");
            if (item) {
              onChoice(item.getKey());
            }
          },
          change: (event) => event.getParameter("value") || onChoice(null)
        });
        return input;
      },

      /** What one of a set is called, null if it is not there. */
      async nameOf(set, key) {
        const [found] = await find(set, `${SOURCES[set].key} eq ${key}`);
        return found ? found.name : null;
      }
    };
  }
);
