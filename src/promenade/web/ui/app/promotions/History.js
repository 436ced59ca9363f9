sap.ui.define(
  [
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/Table",
    "sap/m/Text",
    "sap/ui/core/InvisibleText",
    "promenade/promotions/Texts"
  ],
  function (Column, ColumnListItem, Table, Text, InvisibleText, Texts) {
    "use strict";

    const KEYS = ["when", "who", "what", "note"];

    /** Who changed the promotion, and when. */
    return class History {
      constructor() {
        this.control = new Table({
          growing: true,
          growingThreshold: 20,
          noDataText: Texts.get("history.none"),
          columns: KEYS.map((key) => new Column({header: new Text({text: Texts.get(`history.${key}`)})}))
        });
        this.control.addAriaLabelledBy(new InvisibleText({text: Texts.get("section.history")}).toStatic());
      }

      show({id, isActive}) {
        if (!isActive) {
          this.control.unbindItems();
          return;
        }
        const template = new ColumnListItem({
          cells: [
            new Text({text: {path: "timestamp", targetType: "any", formatter: Texts.moment}}),
            new Text({text: "{actor}"}),
            new Text({text: {path: "action", formatter: (code) => Texts.code("verb", code)}}),
            new Text({text: "{note}"})
          ]
        });
        this.control.bindItems({
          path: "/AuditLogs",
          template,
          templateShareable: false,
          parameters: {$filter: `entityType eq 'Promotions' and entityId eq '${id}'`, $orderby: "timestamp desc,ID"}
        });
      }
    };
  }
);
