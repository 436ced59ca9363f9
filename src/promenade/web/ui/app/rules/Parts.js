sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/HBox",
    "sap/m/Input",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/Toolbar",
    "sap/m/ToolbarSpacer",
    "sap/m/VBox",
    "sap/ui/core/InvisibleText",
    "promenade/rules/Controls",
    "promenade/rules/Naming",
    "promenade/rules/Texts"
  ],
  function (
    Button,
    Column,
    ColumnListItem,
    HBox,
    Input,
    Table,
    Text,
    Title,
    Toolbar,
    ToolbarSpacer,
    VBox,
    InvisibleText,
    Controls,
    Naming,
    Texts
  ) {
    "use strict";

    /** The small tables of a rule: tiers, parts of a bundle, articles, exclusions. */
    const LISTS = {
      scaledTiers: {columns: ["thresholdAmount", "discountType", "discountValue"]},
      quantityTiers: {columns: ["minQuantity", "discountType", "discountValue"]},
      bundleComponents: {columns: ["quantity", "articleNumber", "articleGroupId", "includeSubGroups", "discounted"]},
      articleListItems: {columns: ["articleNumber", "ean"], isArticles: true},
      exclusions: {columns: ["exclusionType", "excluded"]}
    };
    const NEW = {
      scaledTiers: (items) => ({...next(items), thresholdAmount: null}),
      quantityTiers: (items) => ({...next(items), minQuantity: null}),
      bundleComponents: () => ({
        quantity: "1",
        articleNumber: null,
        articleGroupId: null,
        includeSubGroups: false,
        discounted: true
      }),
      articleListItems: () => ({articleNumber: null, ean: null}),
      exclusions: () => ({
        exclusionType: "ARTICLE",
        articleNumber: null,
        articleGroupId: null,
        manufacturer: null,
        fieldName: null,
        value: null,
        articleListItems: []
      })
    };
    const WIDTHS = {
      thresholdAmount: "12rem",
      minQuantity: "10rem",
      quantity: "7rem",
      discountType: "14rem",
      discountValue: "12rem",
      includeSubGroups: "9rem",
      discounted: "8rem",
      exclusionType: "12rem",
      ean: "12rem",
      fixedPrice: "10rem"
    };
    const PAGE = 20;

    /** Another tier is mostly meant as the one before it. */
    function next(items) {
      const last = items[items.length - 1] || {discountType: "PERCENTAGE"};
      return {discountType: last.discountType, discountValue: null};
    }

    function remover(desk, path, list) {
      return new Button({
        icon: "sap-icon://decline",
        type: "Transparent",
        tooltip: Texts.of("removeItem"),
        visible: {path: "rules>/isEditable"},
        press(event) {
          const item = event.getSource().getBindingContext("rules").getObject();
          desk.set(
            path(),
            desk.model.getProperty(path()).filter((one) => one !== item)
          );
          list().focus();
        }
      });
    }

    /** A field of its own name beside another one in a cell: the heading of the column does not tell them apart. */
    function namedControl(place, name) {
      const text = Texts.of(`hint.exclusion.${name}`);
      const label = new InvisibleText({text});
      return [label, Controls.of({...place, labelledBy: label}, name).setPlaceholder(text)];
    }

    /** What an exclusion leaves out: the fields that its type uses; what the till has reduced needs none. */
    function excluded(place) {
      const fields = [
        ["ARTICLE", [Controls.of(place, "articleNumber")]],
        ["ARTICLE_GROUP", [Controls.of(place, "articleGroupId")]],
        ["MANUFACTURER", [Controls.of(place, "manufacturer")]],
        ["ADDITIONAL_FIELD", ["fieldName", "value"].flatMap((name) => namedControl(place, name))]
      ];
      const shown = (type) => ({path: "rules>exclusionType", formatter: (chosen) => chosen === type});
      const boxes = fields.map(([type, items]) => new VBox({items, visible: shown(type)}));
      const tokens = Naming.tokens(place, "articleListItems", {
        property: "articleNumber",
        pickedAs: "articleNumber",
        also: (one) => one.ean || ""
      });
      return new VBox({items: [...boxes, new VBox({items: [tokens], visible: shown("ARTICLE_LIST")})]});
    }

    function cell(place, name, shape) {
      return name === "excluded" ? excluded(place) : Controls.of(place, name, shape);
    }

    /** Article numbers as somebody pastes them, from a sheet or a mail. */
    function pasted(text) {
      return text.split(/[\s,;]+/).filter(Boolean);
    }

    function addArticles(desk, table, path, numbers) {
      const items = desk.model.getProperty(path);
      const known = new Set(items.map((one) => one.articleNumber));
      const fresh = [...new Set(numbers)]
        .filter((one) => !known.has(one))
        .map((articleNumber) => ({articleNumber, ean: null}));
      desk.set(path, [...items, ...fresh]);
      Naming.refer(desk, table, fresh, "articleNumber");
    }

    function articleTools(desk, path, table) {
      const several = new Input({
        width: "14rem",
        placeholder: Texts.of("pasteArticles"),
        ariaLabelledBy: [],
        tooltip: Texts.of("pasteArticles"),
        visible: {path: "rules>/isEditable"},
        change(event) {
          addArticles(desk, table(), path(), pasted(event.getParameter("value")));
          event.getSource().setValue("");
        }
      });
      const choose = new Button({
        text: Texts.of("chooseArticles"),
        icon: "sap-icon://add",
        visible: {path: "rules>/isEditable"},
        async press() {
          addArticles(desk, table(), path(), await Naming.pick(desk, "articleNumber", true));
          choose.focus();
        }
      });
      return [several, choose];
    }

    function adder(desk, list, path, table) {
      return new Button({
        text: Texts.of(`add.${list}`),
        icon: "sap-icon://add",
        visible: {path: "rules>/isEditable"},
        press() {
          const items = desk.model.getProperty(path());
          desk.set(path(), [...items, NEW[list](items)]);
          const row = table().getItems().at(-1);
          row.focus();
        }
      });
    }

    function headers(names) {
      return names.map((name) => new Text({text: Texts.of(`field.${name}`)}));
    }

    /**
     * The table of a list of a row: `{desk, entity}` say where and of what, `shape` which discount types it takes.
     */
    function of({desk, entity, hasPrices}, list, shape) {
      const spec = LISTS[list];
      const names = [...spec.columns, ...(hasPrices && list === "articleListItems" ? ["fixedPrice"] : [])];
      const heads = headers(names);
      const title = new Title({text: Texts.of(`field.${list}`), level: "H5", titleStyle: "H6"});
      let table = null;
      const path = () => `${table.getBindingContext("rules").getPath()}/values/${list}`;
      const placeOf = (at) => ({desk, entity: `${entity}/${list}`, at: "", faults: "faults/", labelledBy: heads[at]});
      const cells = names.map((name, at) => cell(placeOf(at), name, shape));
      const tools = spec.isArticles ? articleTools(desk, path, () => table) : [adder(desk, list, path, () => table)];
      table = new Table({
        growing: true,
        growingThreshold: PAGE,
        noDataText: Texts.of(`none.${list}`),
        headerToolbar: new Toolbar({content: [title, new ToolbarSpacer(), ...tools]}),
        columns: [
          ...heads.map((header, at) => new Column({header, width: WIDTHS[names[at]] || ""})),
          new Column({width: "3rem", header: new Text({text: ""})})
        ],
        items: {
          path: `rules>values/${list}`,
          template: new ColumnListItem({vAlign: "Top", cells: [...cells, remover(desk, path, () => table)]})
        }
      });
      table.addAriaLabelledBy(title);
      return new VBox({items: [table, faultOf(list)]}).addStyleClass("promenadeRuleFieldWide");
    }

    function faultOf(list) {
      const path = `rules>faults/${list}`;
      return new HBox({
        visible: {path, formatter: Boolean},
        items: [new Text({text: {path}}).addStyleClass("promenadeRuleFault")]
      });
    }

    return {LISTS, of};
  }
);
