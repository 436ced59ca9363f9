sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/CustomListItem",
    "sap/m/HBox",
    "sap/m/MessageStrip",
    "sap/m/Select",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/core/Icon",
    "sap/ui/core/Item",
    "promenade/rules/Controls",
    "promenade/rules/Naming",
    "promenade/rules/Parts",
    "promenade/rules/References",
    "promenade/rules/Rows",
    "promenade/rules/Shapes",
    "promenade/rules/Texts"
  ],
  function (
    Button,
    CustomListItem,
    HBox,
    MessageStrip,
    Select,
    Text,
    VBox,
    Icon,
    Item,
    Controls,
    Naming,
    Parts,
    References,
    Rows,
    Shapes,
    Texts
  ) {
    "use strict";

    /** One rule on the page: its sentence, what one can do with it, and, unfolded, the fields that its type uses. */
    const isEditable = () => ({path: "rules>/isEditable"}); // a binding of its own for each control
    const READ_AS_LOYALTY_TARGET = {
      targetArticleNumber: "ARTICLE",
      targetArticleGroupId: "ARTICLE_GROUP",
      articleListItems: "ARTICLE_LIST"
    };

    const isFilled = (value) => (Array.isArray(value) ? value.length > 0 : Boolean(value));

    /** When a field is shown, as a binding of `visible`; null: always. */
    function visibility(row, name) {
      if (row.kind === "LoyaltyActions" && (READ_AS_LOYALTY_TARGET[name] || name === "includeSubGroups")) {
        const scope = READ_AS_LOYALTY_TARGET[name] || "ARTICLE_GROUP";
        return {path: "rules>values/targetScope", formatter: (chosen) => chosen === scope};
      }
      if (name === "valueTo") {
        return {path: "rules>values/operator", formatter: (operator) => operator === "BETWEEN"};
      }
      if (name === "applicationQuantity") {
        return {path: "rules>values/applicationQuantityMode", formatter: (mode) => Boolean(mode) && mode !== "ALL"};
      }
      if (name === "includeSubGroups" && row.kind === "DiscountActions") {
        return {path: "rules>values/targetArticleGroupId", formatter: Boolean};
      }
      return null;
    }

    /** Several values as tokens; a number, and the lower end of BETWEEN, in a field of its own. */
    function values(desk, row, shape, isRequired) {
      const place = {desk, entity: "/Conditions", at: "values/", faults: "faults/"};
      const parts = [{path: "rules>values/operator"}, {path: "rules>values/fieldName"}, {path: "rules>values/values"}];
      const isSingle = (operator, fieldName, all) => {
        const isNumber = shape.isNumeric || (row.values.conditionType === "LOYALTY_ACCOUNT" && fieldName === "points");
        return operator === "BETWEEN" || (Boolean(isNumber) && (all || []).length < 2);
      };
      const pickedAs = {
        parts: ["conditionType", "operator", "fieldName"],
        formatter: (conditionType, operator, fieldName) => References.ofValues({conditionType, operator, fieldName})
      };
      const several = Naming.tokens(place, "values", {property: "value", pickedAs});
      several.setPlaceholder(Texts.of("severalValues"));
      return [
        Controls.labelled("value", Controls.singleValue(place), {isRequired, visible: {parts, formatter: isSingle}}),
        Controls.labelled("values", several, {isRequired, visible: {parts, formatter: (...all) => !isSingle(...all)}})
      ];
    }

    function field(desk, row, shape, name) {
      const isRequired = shape.needs.some((names) => names.length === 1 && names[0] === name);
      const place = {desk, entity: `/${row.kind}`, at: "values/", faults: "faults/"};
      const visible = visibility(row, name);
      if (name === "targetArticleList") {
        return []; // says no more than that there are list items
      }
      if (name === "values") {
        return values(desk, row, shape, isRequired);
      }
      if (name === "fieldName" && row.values.conditionType === "LOYALTY_ACCOUNT") {
        return [Controls.labelled("aspect", Controls.loyaltyAspect(place))];
      }
      if (Parts.LISTS[name]) {
        const table = Parts.of({desk, entity: `/${row.kind}`, hasPrices: row.kind === "DiscountActions"}, name, shape);
        if (visible) {
          table.bindProperty("visible", visible);
        }
        return [table];
      }
      return [
        Controls.labelled(name, Controls.of(place, name, shape), {visible, isRequired, isWide: name === "weekdays"})
      ];
    }

    function fields(desk, row, shape, names) {
      return new HBox({items: names.flatMap((name) => field(desk, row, shape, name))}).addStyleClass(
        "promenadeRuleFields"
      );
    }

    function typeField(desk, row) {
      const name = Rows.KINDS[row.kind].type;
      const items = Object.keys(Shapes[row.kind]).map((key) => new Item({key, text: Texts.ofType(row.kind, key).name}));
      const select = new Select({
        width: "100%",
        items,
        selectedKey: Rows.type(row),
        editable: isEditable(),
        change: (event) => desk.changeType(row.key, event.getParameter("selectedItem").getKey())
      });
      return Controls.labelled(name, select);
    }

    /** What is set though the type says it in another way is shown, else nobody would know of it. */
    function alsoOf(row, shape) {
      return (shape.also || []).filter(
        (name) =>
          (isFilled(row.values[name]) && name !== "operator" && name !== "valueTo") ||
          ((name === "operator" || name === "valueTo") && isFilled(row.values.values) && row.values.operator)
      );
    }

    function moreOf(desk, row, shape) {
      if (!shape.more) {
        return [];
      }
      const box = new VBox({visible: shape.more.some((name) => isFilled(row.values[name]))});
      const fill = () => box.getItems().length || box.addItem(fields(desk, row, shape, shape.more));
      if (box.getVisible()) {
        fill();
      }
      const link = new Button({
        type: "Transparent",
        text: Texts.of(box.getVisible() ? "lessOptions" : "moreOptions"),
        press() {
          fill();
          box.setVisible(!box.getVisible());
          link.setText(Texts.of(box.getVisible() ? "lessOptions" : "moreOptions"));
        }
      });
      return [link, box];
    }

    function form(desk, row) {
      const shape = Shapes[row.kind][Rows.type(row)];
      const help = new Text({text: Texts.ofType(row.kind, Rows.type(row)).help}).addStyleClass("promenadeRuleKind");
      const names = [...shape.fields, ...alsoOf(row, shape)];
      const main = fields(desk, row, shape, names);
      main.insertItem(typeField(desk, row), 0);
      return [help, main, ...moreOf(desk, row, shape)];
    }

    function connector(desk, row, isFirst) {
      const codes = isFirst
        ? [
            ["AND", "if"],
            ["NOT", "ifNot"]
          ]
        : [
            ["AND", "and"],
            ["OR", "or"],
            ["NOT", "andNot"]
          ];
      const shown = {
        path: "rules>values/logicalConnector",
        formatter: (code) => (isFirst && code === "OR" ? "AND" : code || "AND")
      };
      const select = new Select({
        width: "7.5rem",
        editable: isEditable(),
        selectedKey: shown,
        tooltip: Texts.of("field.logicalConnector"),
        items: codes.map(([key, word]) => new Item({key, text: Texts.of(`connector.${word}`)})),
        change: (event) =>
          desk.set(`/rows/${row.key}/values/logicalConnector`, event.getParameter("selectedItem").getKey())
      });
      return select;
    }

    function button(icon, key, press, visible = isEditable()) {
      return new Button({icon: `sap-icon://${icon}`, type: "Transparent", tooltip: Texts.of(key), press, visible});
    }

    function buttons(desk, row, toggle) {
      const isMovable = row.kind !== "LoyaltyActions";
      return new HBox({
        items: [
          ...(isMovable
            ? [
                button("slim-arrow-up", "moveUp", () => desk.move(row.key, -1)),
                button("slim-arrow-down", "moveDown", () => desk.move(row.key, 1))
              ]
            : []),
          button("duplicate", "duplicate", () => desk.duplicate(row.key)),
          button("delete", "delete", () => desk.remove(row.key)),
          toggle
        ]
      }).addStyleClass("promenadeRuleButtons");
    }

    function head(desk, row, {isFirst, toggle}) {
      const kind = new Text({text: Texts.ofType(row.kind, Rows.type(row)).name}).addStyleClass("promenadeRuleKind");
      const sentence = new Text({text: {path: "rules>sentence"}});
      const items = [
        new Icon({
          src: `sap-icon://${Shapes[row.kind][Rows.type(row)].icon}`,
          size: "1.25rem",
          width: "1.5rem",
          decorative: true
        }),
        new VBox({items: [kind, sentence]}).addStyleClass("promenadeRuleWords"),
        buttons(desk, row, toggle)
      ];
      if (row.kind === "Conditions") {
        items.unshift(connector(desk, row, isFirst));
      }
      return new HBox({items}).addStyleClass("promenadeRuleHead");
    }

    /** What is wrong with the rule as a whole. */
    function strip() {
      return new MessageStrip({
        type: "Error",
        showIcon: true,
        text: {path: "rules>trouble"},
        visible: {path: "rules>trouble", formatter: Boolean}
      });
    }

    return {
      fields,

      /**
       * The item of a list that shows a row: `{item, setOpen(bool)}`. `isFirst`: no other rule stands before it.
       */
      create(desk, row, isFirst) {
        const body = new VBox({visible: false}).addStyleClass("promenadeRuleForm");
        const toggle = new Button({type: "Transparent", press: () => setOpen(!body.getVisible())});
        const content = new VBox({items: [head(desk, row, {isFirst, toggle}), strip(), body]}).addStyleClass(
          "promenadeRule"
        );
        const item = new CustomListItem({type: "Inactive", content, accDescription: {path: "rules>sentence"}});
        function setOpen(isOpen) {
          if (isOpen && !body.getItems().length) {
            form(desk, row).forEach((one) => body.addItem(one));
          }
          body.setVisible(isOpen);
          row.isOpen = isOpen;
          toggle.setIcon(`sap-icon://${isOpen ? "collapse" : "edit"}`);
          toggle.setTooltip(Texts.of(isOpen ? "close" : "open"));
        }
        setOpen(Boolean(row.isOpen));
        item.bindElement({path: `/rows/${row.key}`, model: "rules"});
        item.data("key", row.key);
        item.toggleStyleClass("promenadeRuleOr", !isFirst && row.values.logicalConnector === "OR");
        return {item, setOpen};
      }
    };
  }
);
