sap.ui.define(
  [
    "sap/m/Input",
    "sap/m/MultiInput",
    "sap/m/Text",
    "sap/m/Token",
    "sap/m/VBox",
    "promenade/generic/AddToList",
    "promenade/generic/Lookups",
    "promenade/generic/Messages",
    "promenade/generic/Reference",
    "promenade/generic/ValueHelp",
    "promenade/rules/References",
    "promenade/rules/Settings",
    "promenade/rules/Texts",
    "promenade/rules/Types"
  ],
  function (
    Input,
    MultiInput,
    Text,
    Token,
    VBox,
    AddToList,
    Lookups,
    Messages,
    Reference,
    ValueHelp,
    References,
    Settings,
    Texts,
    Types
  ) {
    "use strict";

    /** The controls of fields that name something, and of lists of texts; of their `place` see `Controls`. */
    const {to, isEditable, settings, pathOf} = Settings;
    const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

    /** Looks up what was typed into a field that names something; whoever saves waits for it. */
    function refer(desk, control, holders, name, property = name) {
      const [, , key] = control.getBindingContext("rules").getPath().split("/");
      Lookups.during(desk.refer(key, holders, name, property)).catch((error) => Messages.show(error));
    }

    /** Asks for rows that a field can name; tells the desk their names and resolves with their keys. */
    async function pick(desk, name, multi = false) {
      const {set, key, canBeAdded} = References.of(name);
      const title = Texts.of(`pick.${multi && set === "Articles" ? "articleListItems" : name}`);
      const rows = await ValueHelp.pick({set, multi, title, add: canBeAdded ? AddToList.of(set) : undefined});
      desk.learn(set, Object.fromEntries(rows.map((row) => [row[key], row.name])));
      return rows.map((row) => row[key]);
    }

    async function pickManufacturer() {
      const columns = ["manufacturerId", "manufacturer", "name"];
      const [row] = await ValueHelp.pick({set: "Articles", columns, title: Texts.of("pick.manufacturer")});
      return row ? [row.manufacturerId] : [];
    }

    /** The name of what a field names, as far as it is known; `isTyped`: else what was typed in place of a key. */
    function nameOf(place, name, isTyped = false) {
      return {
        parts: [{path: to(place, name)}, {path: `rules>/names/${References.of(name).set}`}],
        formatter: (key, names) => (key && names && names[key]) || (isTyped && !GUID.test(key) && key) || ""
      };
    }

    /** What every input with a list to choose from has; `choose` resolves with the keys that were chosen. */
    function listed(place, name, choose) {
      return {
        showValueHelp: true,
        async valueHelpRequest(event) {
          const source = event.getSource();
          const [key] = await choose();
          if (key) {
            place.desk.set(pathOf(source, place, name), key);
          }
          source.focus();
        }
      };
    }

    /** A manufacturer is no row of its own: what a till sends counts, chosen from that of an article or not. */
    function manufacturer(place, name, constraints) {
      const value = {path: to(place, name), type: new Types.Text()};
      const maxLength = constraints.$MaxLength || 0;
      return new Input(settings(place, name, {value, maxLength, ...listed(place, name, pickManufacturer)}));
    }

    /** What is shown while one types into a field that names something, and what is chosen of it. */
    function suggested(nameAt, take) {
      return {
        ...Reference.SETTINGS,
        suggest(event) {
          const input = event.getSource();
          const name = nameAt(input);
          if (name) {
            Reference.suggest(input, References.of(name), event.getParameter("suggestValue"));
          } else {
            input.unbindAggregation("suggestionItems", true);
          }
        },
        suggestionItemSelected(event) {
          const chosen = event.getParameter("selectedItem")?.getBindingContext();
          if (chosen) {
            take(event.getSource(), chosen.getObject());
          }
        }
      };
    }

    function picked(place, name) {
      const {desk} = place;
      const {set, key} = References.of(name);
      const byName = key === "ID"; // nothing to read
      const take = (input, row) => {
        desk.learn(set, {[row[key]]: row.name});
        desk.set(pathOf(input, place, name), row[key]);
      };
      const typed = (input, value) => {
        const path = pathOf(input, place, name);
        const names = desk.model.getProperty(`/names/${set}`) || {};
        if (byName && value && names[desk.model.getProperty(path)] === value) {
          return; // it is shown already
        }
        desk.set(path, value || null);
        refer(desk, input, [desk.model.getProperty(path.slice(0, path.lastIndexOf("/")))], name);
      };
      const bound = byName ? nameOf(place, name, true) : {path: to(place, name), type: new Types.Text()};
      const input = new Input(
        settings(place, name, {
          value: bound,
          ...suggested(() => name, take),
          ...listed(place, name, () => pick(desk, name)),
          change: (event) => typed(event.getSource(), event.getSource().getValue().trim())
        })
      );
      if (byName || key === "ean") {
        return input;
      }
      const shown = new Text({text: nameOf(place, name), wrapping: false}).addStyleClass("promenadeRuleName");
      shown.bindProperty("visible", {
        ...nameOf(place, name),
        formatter: (one, names) => Boolean(one && names && names[one])
      });
      return new VBox({items: [input, shown]});
    }

    const textsOf = (typed) => typed.split(/[,;\n\t]/).map((one) => one.trim());

    /** Takes tokens that a person has removed out of the list that they stand for. */
    function takeOut(desk, path, event) {
      const gone = event
        .getParameter("removedTokens")
        .map((one) => one.getBindingContext("rules"))
        .filter(Boolean);
      if (event.getParameter("type") === "removed" && gone.length) {
        const items = gone.map((one) => one.getObject());
        const kept = desk.model.getProperty(path).filter((one) => !items.includes(one));
        event.preventDefault();
        desk.set(path, kept);
      }
    }

    /** Which set the texts of a control name: always the same one, or the one that fields beside it say. */
    function naming(place, pickedAs) {
      if (typeof pickedAs !== "object") {
        return {namedAt: () => pickedAs, isNamed: Boolean(pickedAs)};
      }
      const {parts, formatter} = pickedAs;
      return {
        namedAt: (control) =>
          formatter(...parts.map((path) => control.getBindingContext("rules").getProperty(`${place.at}${path}`))),
        isNamed: {
          parts: parts.map((path) => ({path: to(place, path)})),
          formatter: (...all) => Boolean(formatter(...all))
        }
      };
    }

    /**
     * Texts as tokens: of a list of entities `property` is shown; `pickedAs` names a field with a value help, or is
     * `{parts, formatter}` of the paths beside it that say which.
     *
     * @type {(place: any, name: string, as: {property: string, pickedAs?: any, also?: (one: any) => string}) => any}
     */
    function tokens(place, name, {property, pickedAs, also = () => ""}) {
      const {desk} = place;
      const {namedAt, isNamed} = naming(place, pickedAs);
      const add = (control, texts) => {
        const path = pathOf(control, place, name);
        const all = desk.model.getProperty(path) || [];
        const known = new Set(all.map((one) => one[property]));
        const fresh = [...new Set(texts)].filter((one) => one && !known.has(one)).map((one) => ({[property]: one}));
        desk.set(path, [...all, ...fresh]);
        const named = namedAt(control);
        if (named) {
          refer(desk, control, fresh, named, property);
        }
      };
      // Where it is a cell of a table, each row has a copy of this control: it is always the event that says which.
      return new MultiInput(
        settings(place, name, {
          showValueHelp: isNamed,
          showSuggestion: false,
          tokens: {
            path: to(place, name),
            templateShareable: false,
            template: new Token({
              key: `{rules>${property}}`,
              editable: isEditable(),
              text: {parts: [`rules>${property}`, "rules>"], formatter: (value, one) => value || also(one || {})}
            })
          },
          tokenUpdate(event) {
            if (event.getParameter("type") === "added") {
              event.preventDefault(); // what was suggested and chosen is taken as what is typed is
              const chosen = event.getParameter("addedTokens").map((one) => one.getText());
              add(event.getSource(), chosen);
            }
            takeOut(desk, pathOf(event.getSource(), place, name), event);
          },
          change(event) {
            add(event.getSource(), textsOf(event.getParameter("value")));
            event.getSource().setValue("");
          },
          ...(pickedAs ? {...suggested(namedAt, () => undefined), showValueHelp: isNamed} : {}),
          async valueHelpRequest(event) {
            const source = event.getSource();
            add(source, await pick(desk, namedAt(source), true));
            source.focus();
          }
        })
      );
    }

    return {picked, manufacturer, refer, pick, tokens};
  }
);
