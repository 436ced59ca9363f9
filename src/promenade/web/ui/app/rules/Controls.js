sap.ui.define(
  [
    "sap/m/CheckBox",
    "sap/m/DatePicker",
    "sap/m/HBox",
    "sap/m/Input",
    "sap/m/Label",
    "sap/m/Select",
    "sap/m/Text",
    "sap/m/TimePicker",
    "sap/m/ToggleButton",
    "sap/m/VBox",
    "sap/ui/core/Item",
    "promenade/rules/Codes",
    "promenade/rules/Naming",
    "promenade/rules/References",
    "promenade/rules/Settings",
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
    Select,
    Text,
    TimePicker,
    ToggleButton,
    VBox,
    Item,
    Codes,
    Naming,
    References,
    Settings,
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
    const {to, isEditable, settings, pathOf} = Settings;
    const NUMERIC_OPERATORS = Codes.ComparisonOperators.filter((one) => !["CONTAINS", "STARTS_WITH"].includes(one));

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
              const path = pathOf(event.getSource(), place, name);
              const all = place.desk.model.getProperty(path);
              const chosen = WEEKDAYS.filter((one) => (one === weekday ? !isIn(all, one) : isIn(all, one)));
              place.desk.set(path, chosen.length ? chosen.join(",") : null);
            }
          })
      );
      return new HBox({items: buttons}).addStyleClass("promenadeRuleDays");
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
      if (References.of(name)) {
        return Naming.picked(place, name);
      }
      if (name === "manufacturer") {
        return Naming.manufacturer(place, name, constraints);
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

    return {of, labelled, singleValue, loyaltyAspect};
  }
);
