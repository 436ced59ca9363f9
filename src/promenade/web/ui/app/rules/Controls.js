sap.ui.define(
  [
    "sap/m/CheckBox",
    "sap/m/DatePicker",
    "sap/m/HBox",
    "sap/m/Input",
    "sap/m/Label",
    "sap/m/MultiInput",
    "sap/m/Select",
    "sap/m/Text",
    "sap/m/TimePicker",
    "sap/m/ToggleButton",
    "sap/m/Token",
    "sap/m/VBox",
    "sap/ui/core/Item",
    "promenade/generic/ValueHelp",
    "promenade/rules/Codes",
    "promenade/rules/Shapes",
    "promenade/rules/Texts",
    "promenade/rules/Types"
  ],
  function (
    CheckBox,
    DatePicker,
    HBox,
    Input,
    Label,
    MultiInput,
    Select,
    Text,
    TimePicker,
    ToggleButton,
    Token,
    VBox,
    Item,
    ValueHelp,
    Codes,
    Shapes,
    Texts,
    Types
  ) {
    "use strict";

    /**
     * The controls of single fields. A `place` says where a field is, `{desk, entity, at, faults, labelledBy}`:
     * `entity` is its path in the metadata, `at` and `faults` lead from the binding context to its value and to
     * what is wrong.
     */
    const PICKED = {
      articleNumber: ["Articles", "articleNumber"],
      targetArticleNumber: ["Articles", "articleNumber"],
      freeItemArticleNumber: ["Articles", "articleNumber"],
      articleGroupId: ["ArticleGroups", "groupId"],
      targetArticleGroupId: ["ArticleGroups", "groupId"],
      targetCouponType_ID: ["CouponTypes", "ID"],
      manufacturer: ["Articles", "manufacturerId"]
    };
    const CODED = {
      operator: "ComparisonOperators",
      valueCategory: "ConditionValueCategories",
      discountType: "DiscountTypes",
      selectionType: "SelectionTypes",
      applicationQuantityMode: "ApplicationQuantityModes",
      distributionMode: "DistributionModes",
      exclusionType: "ExclusionTypes",
      targetScope: "LoyaltyTargetScopes"
    };
    const DEFAULTS = {
      selectionType: "ALL",
      applicationQuantityMode: "ALL",
      distributionMode: "PROPORTIONAL",
      targetScope: "ALL_ITEMS"
    };
    const MONEY = new Set([
      "minAmount",
      "maxDiscountAmount",
      "freeItemReferencePrice",
      "currencyAmount",
      "thresholdAmount",
      "fixedPrice"
    ]);
    const SHORT = new Set(["minQuantity", "quantity", "timeFrom", "timeTo", "maxBundles", "applicationQuantity"]);
    const WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
    const NUMERIC_OPERATORS = Codes.ComparisonOperators.filter((one) => !["CONTAINS", "STARTS_WITH"].includes(one));

    const to = (place, name) => `rules>${place.at}${name}`;
    const isEditable = () => ({path: "rules>/isEditable"}); // a binding of its own for each control

    function faulty(place, name) {
      const path = `rules>${place.faults}${name}`;
      return {
        valueState: {path, formatter: (fault) => (fault ? "Error" : "None")},
        valueStateText: {path}
      };
    }

    function settings(place, name, more) {
      return {
        width: "100%",
        editable: isEditable(),
        ...faulty(place, name),
        ...(place.labelledBy ? {ariaLabelledBy: [place.labelledBy]} : {}),
        ...more
      };
    }

    /** The unit of a field: the currency, a percentage, nothing. */
    function unit(place, name) {
      if (MONEY.has(name)) {
        return {description: {path: "rules>/currency"}};
      }
      if (name !== "discountValue") {
        return {};
      }
      return {
        description: {
          parts: [{path: to(place, "discountType")}, {path: "rules>/currency"}],
          formatter: (type, currency) => (type === "PERCENTAGE" ? "%" : currency)
        }
      };
    }

    function decimal(place, name) {
      const type = new Types.Decimal();
      return new Input(settings(place, name, {value: {path: to(place, name), type}, ...unit(place, name)}));
    }

    function whole(place, name) {
      return new Input(settings(place, name, {value: {path: to(place, name), type: new Types.Whole()}}));
    }

    function text(place, name, constraints) {
      const maxLength = constraints.$MaxLength || 0;
      return new Input(settings(place, name, {value: {path: to(place, name), type: new Types.Text()}, maxLength}));
    }

    /** @type {(place: any, name: string, options?: {codes?: string[], fallback?: string}) => any} */
    function coded(place, name, {codes, fallback} = {}) {
      const list = CODED[name];
      const items = (codes || Codes[list]).map((key) => new Item({key, text: Texts.of(`code.${list}.${key}`)}));
      const type = new Types.Defaulted(fallback || DEFAULTS[name] || "");
      return new Select(
        settings(place, name, {
          items,
          forceSelection: false,
          selectedKey: {path: to(place, name), type}
        })
      );
    }

    function checked(place, name) {
      const label = Texts.of(`field.${name}`);
      return new CheckBox({
        text: place.labelledBy ? "" : label,
        editable: isEditable(),
        selected: {path: to(place, name)},
        ...(place.labelledBy ? {ariaLabelledBy: [place.labelledBy]} : {})
      });
    }

    function time(place, name) {
      const value = {path: to(place, name), type: new Types.Time()};
      return new TimePicker({
        valueFormat: "HH:mm",
        displayFormat: "HH:mm",
        ...settings(place, name, {value, placeholder: "08:00"})
      });
    }

    function day(place, name) {
      const value = {path: to(place, name), type: new Types.Text()};
      return new DatePicker({valueFormat: "yyyy-MM-dd", ...settings(place, name, {value})});
    }

    /** Asks for a row of a set; tells the desk its name and resolves with its key, or undefined. */
    async function pick(desk, name) {
      const [set, key] = PICKED[name];
      const columns = name === "manufacturer" ? ["manufacturerId", "manufacturer", "name"] : undefined;
      const [row] = await ValueHelp.pick({set, columns, title: Texts.of(`pick.${name}`)});
      if (row && name !== "manufacturer") {
        desk.learn(set, {[row[key]]: row.name});
      }
      return row && row[key];
    }

    function nameOf(place, name) {
      const set = name === "manufacturer" ? "none" : PICKED[name][0];
      return {
        parts: [{path: to(place, name)}, {path: `rules>/names/${set}`}],
        formatter: (key, names) => (key && names && names[key]) || ""
      };
    }

    function picked(place, name, constraints) {
      const {desk} = place;
      const byName = name === "targetCouponType_ID"; // its key is nothing to read
      const value = byName ? nameOf(place, name) : {path: to(place, name), type: new Types.Text()};
      const input = new Input(
        settings(place, name, {
          value,
          showValueHelp: true,
          valueHelpOnly: byName,
          maxLength: byName ? 0 : constraints.$MaxLength || 0,
          valueHelpIconSrc: "sap-icon://value-help",
          async valueHelpRequest(event) {
            const source = event.getSource();
            const key = await pick(desk, name);
            if (key) {
              desk.set(`${source.getBindingContext("rules").getPath()}/${place.at}${name}`, key);
            }
            source.focus();
          },
          change: (event) => desk.resolve(PICKED[name][0], event.getSource().getValue().trim())
        })
      );
      if (byName) {
        return input;
      }
      const shown = new Text({text: nameOf(place, name), wrapping: false}).addStyleClass("promenadeRuleName");
      shown.bindProperty("visible", {
        ...nameOf(place, name),
        formatter: (key, names) => Boolean(key && names && names[key])
      });
      return new VBox({items: [input, shown]});
    }

    function weekdays(place, name) {
      const isIn = (all, weekday) =>
        (all || "")
          .split(",")
          .map((one) => one.trim())
          .includes(weekday);
      const buttons = WEEKDAYS.map(
        (weekday) =>
          new ToggleButton({
            text: Texts.of(`weekday.${weekday}`),
            enabled: isEditable(),
            pressed: {path: to(place, name), formatter: (all) => isIn(all, weekday)},
            press(event) {
              const path = `${event.getSource().getBindingContext("rules").getPath()}/${place.at}${name}`;
              const all = place.desk.model.getProperty(path);
              const chosen = WEEKDAYS.filter((one) => (one === weekday ? !isIn(all, one) : isIn(all, one)));
              place.desk.set(path, chosen.length ? chosen.join(",") : null);
            }
          })
      );
      return new HBox({items: buttons}).addStyleClass("promenadeRuleDays");
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

    /**
     * Texts as tokens: of a list of entities `property` is shown; `pickedAs` names a field with a value help.
     *
     * @type {(place: any, name: string, as: {property: string, pickedAs?: any, also?: (one: any) => string}) => any}
     */
    function tokens(place, name, {property, pickedAs, also = () => ""}) {
      const {desk} = place;
      const pathOf = (control) => `${control.getBindingContext("rules").getPath()}/${place.at}${name}`;
      const add = (control, texts) => {
        const all = desk.model.getProperty(pathOf(control)) || [];
        const known = new Set(all.map((one) => one[property]));
        const fresh = [...new Set(texts)].filter((one) => one && !known.has(one));
        desk.set(pathOf(control), [...all, ...fresh.map((one) => ({[property]: one}))]);
      };
      // Where it is a cell of a table, each row has a copy of this control: it is always the event that says which.
      return new MultiInput(
        settings(place, name, {
          showValueHelp: Boolean(pickedAs),
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
          tokenUpdate: (event) => takeOut(desk, pathOf(event.getSource()), event),
          change(event) {
            add(event.getSource(), textsOf(event.getParameter("value")));
            event.getSource().setValue("");
          },
          async valueHelpRequest(event) {
            const source = event.getSource();
            const [set, key] = PICKED[pickedAs];
            const rows = await ValueHelp.pick({set, multi: true, title: Texts.of(`pick.${pickedAs}`)});
            desk.learn(set, Object.fromEntries(rows.map((row) => [row[key], row.name])));
            const numbers = rows.map((row) => row[key]);
            add(source, numbers);
            source.focus();
          }
        })
      );
    }

    /** The one value of a number or of BETWEEN. */
    function singleValue(place) {
      const type = new Types.Decimal();
      return new Input(
        settings(place, "values", {
          value: {
            path: to(place, "values"),
            formatter: (all) => type.formatValue(all && all.length ? all[0].value : null)
          },
          description: {
            parts: [{path: to(place, "conditionType")}, {path: "rules>/currency"}],
            formatter: (kind, currency) => (kind && Shapes.Conditions[kind].values === "amount" ? currency : "")
          },
          change(event) {
            const path = `${event.getSource().getBindingContext("rules").getPath()}/${place.at}values`;
            const all = place.desk.model.getProperty(path);
            const value = type.parseValue(event.getParameter("value"));
            place.desk.set(path, value === null ? [] : [{...all[0], value}, ...all.slice(1)]);
          }
        })
      );
    }

    function loyaltyAspect(place) {
      const items = ["tier", "points"].map((key) => new Item({key, text: Texts.of(`aspect.${key}`)}));
      return new Select(settings(place, "fieldName", {items, selectedKey: {path: to(place, "fieldName")}}));
    }

    /** The control of a field; what it needs of the type of its rule is in `shape`. */
    function of(place, name, shape = {}) {
      const constraints = place.desk.constraints(`${place.entity}/${name}`);
      if (name === "operator") {
        const fallback = shape.isNumeric ? "GTE" : "EQUALS";
        return coded(place, name, {codes: shape.isNumeric ? NUMERIC_OPERATORS : undefined, fallback});
      }
      if (name === "discountType") {
        return coded(place, name, {codes: shape.discountTypes});
      }
      if (name === "valueTo") {
        return decimal(place, name); // of what is no number it leaves all as it is
      }
      if (CODED[name]) {
        return coded(place, name);
      }
      if (name === "weekdays") {
        return weekdays(place, name);
      }
      if (PICKED[name]) {
        return picked(place, name, constraints);
      }
      const make =
        {
          "Edm.Decimal": decimal,
          "Edm.Int32": whole,
          "Edm.Boolean": checked,
          "Edm.TimeOfDay": time,
          "Edm.Date": day
        }[constraints.$Type] || text;
      return make(place, name, constraints);
    }

    /** @type {(name: string, control: any, more?: Record<string, any>) => any} A control with its label. */
    function labelled(name, control, {visible, isWide, isRequired, label} = {}) {
      const focused = control.isA("sap.m.VBox") ? control.getItems()[0] : control;
      const hasOwnLabel = control.isA("sap.m.CheckBox");
      const head = new Label({
        text: hasOwnLabel ? "\u00a0" : label || Texts.of(`field.${name}`),
        labelFor: hasOwnLabel ? null : focused,
        required: Boolean(isRequired),
        showColon: false,
        wrapping: true
      });
      const width = isWide
        ? "promenadeRuleFieldWide"
        : SHORT.has(name)
          ? "promenadeRuleFieldShort"
          : "promenadeRuleField";
      const block = new VBox({items: [head, control]}).addStyleClass(width);
      if (visible) {
        block.bindProperty("visible", visible);
      }
      return block;
    }

    return {PICKED, of, labelled, tokens, singleValue, loyaltyAspect};
  }
);
