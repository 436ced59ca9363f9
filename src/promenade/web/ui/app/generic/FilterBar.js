sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/DateRangeSelection",
    "sap/m/FlexBox",
    "sap/m/Input",
    "sap/m/Label",
    "sap/m/MultiComboBox",
    "sap/m/MultiInput",
    "sap/m/Select",
    "sap/m/ToggleButton",
    "sap/m/Token",
    "sap/m/VBox",
    "sap/ui/core/Item",
    "sap/ui/model/Filter",
    "promenade/generic/Editing",
    "promenade/generic/Extensions",
    "promenade/generic/Reference",
    "promenade/generic/Texts",
    "promenade/generic/Words",
    "promenade/generic/Zone"
  ],
  function (
    Button,
    DateRangeSelection,
    FlexBox,
    Input,
    Label,
    MultiComboBox,
    MultiInput,
    Select,
    ToggleButton,
    Token,
    VBox,
    Item,
    Filter,
    Editing,
    Extensions,
    Reference,
    Texts,
    Words,
    Zone
  ) {
    "use strict";

    /**
     * What a list can be filtered by at hand. The state is `{path: value}`: codes `[code]`, links `[{key, text}]`,
     * flags `true` or `false`, days `{from, to}` (`yyyy-MM-dd`), texts and numbers as typed.
     */
    const WIDTH = "13rem";
    const TIMES = new Set(["Edm.Date", "Edm.DateTimeOffset"]);
    const NUMBERS = new Set(["Edm.Int32", "Edm.Int64", "Edm.Decimal"]);

    // ---- controls: each `{control, show(value)}`, and tells `change(value)`, undefined for none -----------------

    function codes(field, change) {
      const {set, key} = field.valueList;
      const control = new MultiComboBox({
        width: WIDTH,
        selectionFinish: (event) => {
          const keys = event.getSource().getSelectedKeys();
          change(keys.length ? keys : undefined);
        },
        items: {
          path: `/${set}`,
          length: 1000,
          parameters: {$$sharedRequest: true, $$groupId: "$auto.Codes"},
          template: new Item({key: `{${key}}`, text: {path: "name", formatter: (name) => Words.of(name)}})
        }
      });
      return {control, show: (keys) => control.setSelectedKeys(keys || [])};
    }

    /** What people would otherwise have to type, see `Extensions.choices`. */
    function chosen(field, change, model) {
      const control = new MultiComboBox({
        width: WIDTH,
        selectionFinish(event) {
          const keys = event.getSource().getSelectedKeys();
          change(keys.length ? keys : undefined);
        }
      });
      let wanted = [];
      Extensions.choicesOf(field)(model).then((entries) => {
        if (!control.isDestroyed()) {
          entries.forEach((one) => control.addItem(new Item({key: one.key, text: one.text})));
          control.setSelectedKeys(wanted);
        }
      });
      return {
        control,
        show(keys) {
          wanted = keys || [];
          control.setSelectedKeys(wanted);
        }
      };
    }

    function links(field, change) {
      const {valueList} = field;
      const told = () => {
        const tokens = control.getTokens().map((one) => ({key: one.getKey(), text: one.getText()}));
        change(tokens.length ? tokens : undefined);
      };
      const put = (entries) => {
        control.destroyTokens();
        // Set, never given to the constructor, which takes what has braces for a binding: the address may say anything.
        entries.forEach((one) => control.addToken(new Token().setKey(one.key).setText(one.text)));
      };
      const nameOf = (row) => {
        const name = field.textPath ? row[field.textPath.split("/").pop()] : null;
        return name || row[valueList.shown[0]] || row[valueList.key];
      };
      const control = new MultiInput({width: WIDTH, tokenUpdate: () => queueMicrotask(told)});
      const add = (rows) => {
        const known = new Map(control.getTokens().map((one) => [one.getKey(), one.getText()]));
        rows.forEach((row) => known.set(row[valueList.key], nameOf(row)));
        control.setValue("");
        put([...known].map(([key, name]) => ({key, text: name})));
        told();
      };
      Reference.attach(control, {...valueList, title: field.label}, {isMany: true, take: (input, rows) => add(rows)});
      return {control, show: (entries) => put(entries || [])};
    }

    function flag(field, change) {
      const control = new Select({
        width: "8rem",
        items: ["any", "yes", "no"].map((key) => new Item({key, text: Texts.of(key)})),
        change() {
          const key = control.getSelectedKey();
          change(key === "any" ? undefined : key === "yes");
        }
      });
      return {control, show: (value) => control.setSelectedKey(value === undefined ? "any" : value ? "yes" : "no")};
    }

    function days(field, change) {
      const control = new DateRangeSelection({
        width: "16rem",
        change(event) {
          const {from, to, valid} = event.getParameters();
          control.setValueState(valid ? "None" : "Error");
          if (valid) {
            change(from ? {from: Zone.day(from), to: Zone.day(to || from)} : undefined);
          }
        }
      });
      return {
        control,
        show(range) {
          control.setDateValue(range ? Zone.dateOf(range.from) : null);
          control.setSecondDateValue(range ? Zone.dateOf(range.to) : null);
        }
      };
    }

    function text(field, change) {
      const control = new Input({
        width: WIDTH,
        showClearIcon: true,
        change: (event) => change(event.getParameter("value").trim() || undefined)
      });
      return {control, show: (value) => control.setValue(value || "")};
    }

    function controlOf(field) {
      if (Extensions.choicesOf(field)) {
        return chosen;
      }
      if (field.valueList) {
        return field.valueList.isFixed ? codes : links;
      }
      if (field.type === "Edm.Boolean") {
        return flag;
      }
      return TIMES.has(field.type) ? days : text;
    }

    function labelled(label, control) {
      return new VBox({items: [new Label({text: label, labelFor: control}), control]});
    }

    function statusSelect(onChange) {
      return new Select({
        width: "13rem",
        items: Editing.states.map((key) => new Item({key, text: Texts.of(`editing.${key}`)})),
        change: (event) => onChange(event.getSource().getSelectedKey())
      });
    }

    // ---- filters ------------------------------------------------------------------------------------------------

    const isText = (one) => typeof one === "string";
    const isDay = (one) => isText(one) && /^\d{4}-\d\d-\d\d$/.test(one) && !Number.isNaN(Date.parse(one));

    /** What the controls above make of a value: anything else comes from an address that somebody has written. */
    const SOUND = new Map([
      [codes, (value) => Array.isArray(value) && value.every(isText)],
      [chosen, (value) => Array.isArray(value) && value.every(isText)],
      [links, (value) => Array.isArray(value) && value.every((one) => one && isText(one.key) && isText(one.text))],
      [flag, (value) => typeof value === "boolean"],
      [days, (value) => Boolean(value) && isDay(value.from) && isDay(value.to)],
      [text, isText]
    ]);

    function filterOf(field, value) {
      const equals = (one) => new Filter(field.path, "EQ", one);
      const either = (values) => new Filter({filters: values.map(equals), and: false});
      if (Array.isArray(value)) {
        return either(value.map((one) => (one.key === undefined ? one : one.key)));
      }
      if (field.type === "Edm.Date") {
        return new Filter(field.path, "BT", value.from, value.to);
      }
      if (field.type === "Edm.DateTimeOffset") {
        // What ends with a day has its first moment that is out as its value.
        const [from, to] = field.isEnd ? ["GT", "LE"] : ["GE", "LT"];
        const filters = [
          new Filter(field.path, from, Zone.begin(value.from)),
          new Filter(field.path, to, Zone.end(value.to))
        ];
        return new Filter({and: true, filters});
      }
      if (field.type === "Edm.Boolean" || NUMBERS.has(field.type)) {
        return new Filter(field.path, "EQ", value);
      }
      return new Filter({path: field.path, operator: "Contains", value1: value, caseSensitive: false});
    }

    /** On a telephone the filters are behind a button that counts those in use; style.css hides what is not for it. */
    function folding(model) {
      const bar = new FlexBox({wrap: "Wrap", columnGap: "1rem", rowGap: "0.25rem", alignItems: "End"});
      bar.setModel(model).addStyleClass("sapUiSmallMarginBeginEnd sapUiTinyMarginBottom promFilters promFolded");
      const button = new ToggleButton({
        icon: "sap-icon://filter",
        type: "Transparent",
        press: (event) => bar.toggleStyleClass("promFolded", !event.getParameter("pressed"))
      }).addStyleClass("promFilterButton sapUiTinyMarginBegin");
      return {
        bar,
        control: new VBox({renderType: "Bare", alignItems: "Start", items: [button, bar]}),
        count(filters, status) {
          const inUse = Object.keys(filters).length + (status && status !== "all" ? 1 : 0);
          button.setText(inUse ? Texts.of("filtersInUse", inUse) : Texts.of("filters"));
        }
      };
    }

    return {
      /** What can be filtered by of what an address says. */
      sound(meta, filters) {
        const isSound = ([path, value]) => meta.has(path) && SOUND.get(controlOf(meta.field(path)))?.(value);
        return Object.fromEntries(Object.entries(filters || {}).filter(isSound));
      },

      /** The UI5 filters of a state; what it says of unknown properties is left out. */
      filtersOf(meta, state) {
        return Object.entries(state)
          .filter(([path]) => meta.has(path))
          .map(([path, value]) => filterOf(meta.field(path), value));
      },

      /** `{control, show(state)}`: one control for each of the set's SelectionFields, and the editing status. */
      create({meta, model, state, onChange, hiddenPath, filterFields}) {
        let current = {...state.filters};
        let {status} = state;
        const {bar, control, count} = folding(model);
        const shown = new Map();
        const told = () => {
          count(current, status);
          onChange({...current}, status);
        };
        const select =
          meta.isDraft && state.status
            ? statusSelect((key) => {
                status = key;
                told();
              })
            : null;
        if (select) {
          bar.addItem(labelled(Texts.of("editing.label"), select));
        }
        (filterFields || meta.filters)
          .filter((one) => one.path !== hiddenPath)
          .forEach((field) => {
            const change = (value) => {
              delete current[field.path];
              Object.assign(current, value === undefined ? {} : {[field.path]: value});
              told();
            };
            const made = controlOf(field)(field, change, model);
            shown.set(field.path, made);
            bar.addItem(labelled(field.label, made.control));
          });
        const show = (given) => {
          current = {...given.filters};
          status = given.status;
          select?.setSelectedKey(status);
          shown.forEach((made, path) => made.show(current[path]));
          count(current, status);
        };
        const reset = () => {
          show({filters: {}, status: status && "all"});
          told();
        };
        bar.addItem(new Button({type: "Transparent", text: Texts.of("reset"), press: reset}));
        show(state);
        return {control, show};
      }
    };
  }
);
