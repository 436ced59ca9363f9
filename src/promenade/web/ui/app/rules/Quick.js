sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/HBox",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/core/Icon",
    "promenade/rules/Card",
    "promenade/rules/Controls",
    "promenade/rules/Naming",
    "promenade/rules/Parts",
    "promenade/rules/Rows",
    "promenade/rules/Shapes",
    "promenade/rules/Texts",
    "promenade/rules/TypePicker"
  ],
  function (Button, HBox, Text, VBox, Icon, Card, Controls, Naming, Parts, Rows, Shapes, Texts, TypePicker) {
    "use strict";

    /** What is mostly left as it is, or said by more than a field: the editor has it. */
    const EXPERT = new Set([
      ...Object.keys(Parts.LISTS),
      "operator",
      "valueTo",
      "targetArticleList",
      "restrictToOnePerBasket",
      "maxPoints"
    ]);
    const PART = ["quantity", "articleGroupId", "articleNumber"];

    /** The fields of each part of a bundle, in a line of their own. */
    function partsOf(desk, {values}) {
      return (values.bundleComponents || []).map((_, at) => {
        const path = `values/bundleComponents/${at}/`;
        const place = {desk, entity: "/DiscountActions/bundleComponents", at: path, faults: `${path}faults/`};
        return new HBox({
          items: PART.map((name) => Controls.labelled(name, Controls.of(place, name)))
        }).addStyleClass("promenadeRuleFields");
      });
    }

    function articlesOf(desk, {kind}) {
      const place = {desk, entity: `/${kind}`, at: "values/", faults: "faults/"};
      const as = {property: "articleNumber", pickedAs: "articleNumber", also: (one) => one.ean || ""};
      return Controls.labelled("articleListItems", Naming.tokens(place, "articleListItems", as));
    }

    function fieldsOf(desk, row) {
      const shape = Shapes[row.kind][Rows.type(row)];
      const [first] = shape.needs.flat();
      const lines = partsOf(desk, row);
      const main = Card.fields(
        desk,
        row,
        shape,
        shape.fields.filter((name) => !EXPERT.has(name))
      );
      if (first === "articleListItems") {
        main.insertItem(articlesOf(desk, row), 0);
      }
      return [...lines, main];
    }

    /**
     * Some rules of a promotion, with the fields that most of them want and no more; the editor has the rest. `adds`
     * are the kinds of rules that can be added here, `{kind, families, key}`, and those that are shown.
     */
    return class Quick {
      constructor(desk, adds) {
        this._desk = desk;
        this._adds = adds;
        this._boxes = new Map();
        this._list = new VBox();
        const buttons = adds.map(
          (add) =>
            new Button({
              text: Texts.of(`quick.${add.key}`),
              icon: "sap-icon://add",
              visible: {path: "rules>/isEditable"},
              press: (event) => this._ask(add, event.getSource())
            })
        );
        this.control = new VBox({
          items: [this._list, new HBox({items: buttons}).addStyleClass("promenadeQuickAdd")]
        });
        this.control.addStyleClass("promenadeRules").setModel(desk.model, "rules");
        desk.listeners.push((event) => this._on(event));
        this._arrange();
      }

      /** The rules that it shows. */
      rows() {
        return this._desk.all().filter((row) => this._adds.some((add) => this._isOf(add, row)));
      }

      _isOf({kind, families}, row) {
        return row.kind === kind && (!families || families.includes(Shapes[kind][Rows.type(row)].family));
      }

      async _ask({kind, families}, button) {
        const type = await TypePicker.ask(kind, this.control, ({family}) => !families || families.includes(family));
        if (type) {
          this._focus(this._desk.add(kind, type).key);
        } else {
          button.focus();
        }
      }

      _on({isStructure, retyped}) {
        if (retyped) {
          this._drop(retyped.key);
        }
        if (isStructure || retyped) {
          this._arrange();
        }
      }

      _drop(key) {
        this._boxes.get(key)?.destroy();
        this._boxes.delete(key);
      }

      _arrange() {
        const rows = this.rows();
        const keys = new Set(rows.map((row) => row.key));
        [...this._boxes.keys()].filter((key) => !keys.has(key)).forEach((key) => this._drop(key));
        rows.forEach((row, place) => {
          if (!this._boxes.has(row.key)) {
            this._boxes.set(row.key, this._box(row));
          }
          const box = this._boxes.get(row.key);
          if (this._list.indexOfItem(box) !== place) {
            this._list.removeItem(box);
            this._list.insertItem(box, place);
          }
        });
      }

      _box(row) {
        const {name} = Texts.ofType(row.kind, Rows.type(row));
        const head = new HBox({
          items: [
            new Icon({src: `sap-icon://${Shapes[row.kind][Rows.type(row)].icon}`, size: "1.25rem", decorative: true}),
            new VBox({
              items: [
                new Text({text: name}).addStyleClass("promenadeRuleKind"),
                new Text({text: {path: "rules>sentence"}})
              ]
            }).addStyleClass("promenadeRuleWords"),
            new Button({
              icon: "sap-icon://delete",
              type: "Transparent",
              tooltip: Texts.of("delete"),
              visible: {path: "rules>/isEditable"},
              press: () => this._desk.remove(row.key)
            })
          ]
        }).addStyleClass("promenadeQuickHead");
        const fields = new VBox({items: fieldsOf(this._desk, row), visible: {path: "rules>/isEditable"}});
        const box = new VBox({items: [head, fields]}).addStyleClass("promenadeQuick");
        box.bindElement({path: `/rows/${row.key}`, model: "rules"});
        return box;
      }

      /** Puts the cursor into the first field of a rule once it is there. */
      _focus(key) {
        const box = this._boxes.get(key);
        const find = () =>
          box.getDomRef().querySelector(":is(input, textarea, [role=combobox]):not([tabindex='-1'])") ||
          box.getDomRef().querySelector("button");
        const once = {
          onAfterRendering() {
            box.removeEventDelegate(once);
            find()?.focus();
          }
        };
        box.addEventDelegate(once);
      }

      /** Puts the cursor into the first field that something is wrong with; whether there is one. */
      lead() {
        const isWrong = (one) => one.getValueState?.() === "Error" && one.getVisible() && one.getDomRef();
        const [wrong] = this.control.findAggregatedObjects(true, isWrong);
        wrong?.focus();
        return Boolean(wrong);
      }
    };
  }
);
