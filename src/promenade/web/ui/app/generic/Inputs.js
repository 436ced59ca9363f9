sap.ui.define(
  [
    "sap/m/CheckBox",
    "sap/m/ComboBox",
    "sap/m/DatePicker",
    "sap/m/Input",
    "sap/m/Select",
    "sap/m/TextArea",
    "sap/m/TimePicker",
    "sap/ui/core/Item",
    "promenade/generic/Extensions",
    "promenade/generic/LinkInput",
    "promenade/generic/Marks",
    "promenade/generic/Moment",
    "promenade/generic/Texts",
    "promenade/generic/Words"
  ],
  function (
    CheckBox,
    ComboBox,
    DatePicker,
    Input,
    Select,
    TextArea,
    TimePicker,
    Item,
    Extensions,
    LinkInput,
    Marks,
    Moment,
    Texts,
    Words
  ) {
    "use strict";

    /** What takes a value, by what it is a value of. */
    const bound = (field, {model}) => ({path: field.path, model, type: field.ui5Type});

    const common = (field, options) => ({
      required: field.isRequired,
      change(event) {
        Marks.clear(event.getSource());
        if (options.onChange) {
          options.onChange(event.getSource());
        }
      }
    });

    /** A code of a short list: the whole list is fetched, once for all fields that offer it. */
    function codeInput(field, options) {
      const {set, key} = field.valueList;
      const name = field.valueList.shown.includes("name") ? "name" : key;
      const parameters = {$$sharedRequest: true, $$groupId: "$auto.Codes"};
      const combo = new ComboBox({
        required: field.isRequired,
        selectedKey: bound(field, options),
        items: {
          path: `/${set}`,
          length: 1000,
          parameters,
          template: new Item({key: `{${key}}`, text: {path: name, formatter: (text) => Words.of(text)}})
        },
        filterSecondaryValues: false
      });
      combo.attachChange(() => {
        const isWrong = combo.getValue() !== "" && !combo.getSelectedItem();
        if (isWrong) {
          Marks.set(combo, Texts.of("chooseFromList"));
        } else {
          Marks.clear(combo);
        }
        if (!isWrong && options.onChange) {
          options.onChange(combo);
        }
      });
      return combo;
    }

    /** One of fixed values, each by its text. */
    function choiceInput(field, options, prefix) {
      const items = field.allowed.map((key) => new Item({key, text: `{i18n>${prefix}.${key}}`}));
      return new Select({selectedKey: bound(field, options), items, width: "100%", ...common(field, options)});
    }

    /** Yes, no, or neither: a box that is ticked or not cannot say the third. */
    function ternaryInput(field, options, prefix) {
      const {change, ...rest} = common(field, options);
      return new Select({
        selectedKey: {path: field.path, model: options.model, targetType: "any", formatter: String},
        items: ["null", "true", "false"].map((key) => new Item({key, text: `{i18n>${prefix}.${key}}`})),
        width: "100%",
        ...rest,
        change(event) {
          const select = event.getSource();
          select.getBindingContext(options.model).setProperty(field.path, JSON.parse(select.getSelectedKey()));
          change(event);
        }
      });
    }

    function flagInput(field, options) {
      return new CheckBox({
        selected: {path: field.path, model: options.model, type: field.ui5Type},
        ...(options.onChange ? {select: (event) => options.onChange(event.getSource())} : {})
      });
    }

    /** Several values of a short list are rare: they are typed, with commas between. */
    function manyInput(field, options) {
      return new Input({
        value: {
          path: field.path,
          model: options.model,
          targetType: "any",
          formatter: (values) => (values || []).join(", ")
        },
        change(event) {
          const values = event
            .getParameter("value")
            .split(",")
            .map((one) => one.trim())
            .filter(Boolean);
          event.getSource().getBindingContext(options.model).setProperty(field.path, values);
        }
      });
    }

    const BY_TYPE = {
      "Edm.Boolean": flagInput,
      "Edm.Date": (field, options) => new DatePicker({value: bound(field, options), ...common(field, options)}),
      "Edm.DateTimeOffset": (field, options) =>
        new Moment({
          label: field.label,
          isEnd: Boolean(field.isEnd),
          value: {
            path: field.path,
            model: options.model,
            type: new Moment.Instant(null, {isRequired: field.isRequired})
          },
          ...common(field, options)
        }),
      "Edm.TimeOfDay": (field, options) =>
        new TimePicker({
          value: bound(field, options),
          support2400: false,
          ...common(field, options)
        })
    };

    function textInput(field, options) {
      if (field.isMultiLine) {
        return new TextArea({
          value: bound(field, options),
          growing: true,
          rows: 2,
          growingMaxLines: 12,
          width: "100%",
          ...common(field, options)
        });
      }
      return new Input({
        value: bound(field, options),
        type: field.isMail ? "Email" : "Text",
        description: field.isPercent ? "%" : "",
        ...common(field, options)
      });
    }

    return {
      /** A control that takes a value of the field; `Fields.input` says the rest. */
      create(field, options) {
        const own = Extensions.inputOf(field);
        if (own) {
          return own(field, options);
        }
        const prefix = Extensions.wordsOf(field);
        if (prefix && field.allowed.length) {
          return choiceInput(field, options, prefix);
        }
        const ternary = Extensions.ternaryOf(field);
        if (ternary) {
          return ternaryInput(field, options, ternary);
        }
        if (field.isCollection) {
          return manyInput(field, options);
        }
        if (field.valueList) {
          return field.valueList.isFixed ? codeInput(field, options) : LinkInput.create(field, options);
        }
        return (BY_TYPE[field.type] || textInput)(field, options);
      }
    };
  }
);
