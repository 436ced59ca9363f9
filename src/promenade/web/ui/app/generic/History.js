sap.ui.define(
  [
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/FormattedText",
    "sap/m/Table",
    "sap/m/Text",
    "sap/ui/core/InvisibleText",
    "promenade/generic/Format",
    "promenade/generic/Texts",
    "promenade/generic/Trail"
  ],
  function (Column, ColumnListItem, FormattedText, Table, Text, InvisibleText, Format, Texts, Trail) {
    "use strict";

    const COLUMNS = {
      when: {width: "11rem"},
      who: {width: "12rem", minScreenWidth: "Tablet", demandPopin: true},
      what: {}
    };
    /** Has a property of a control say what the entry says that the control is bound to. */
    const bound = (say) => ({
      parts: PATHS.map((path) => ({path, targetType: "any"})),
      formatter: (...values) => (values[0] ? say(Object.fromEntries(PATHS.map((path, at) => [path, values[at]]))) : "")
    });
    const PATHS = ["action", "entityType", "entityId", "entityName", "ownerId", "changes", "note"];

    const History = {
      /** What an entry says, a line for each change, as a control bound to it. */
      words: () => new FormattedText({htmlText: bound((entry) => Trail.html(entry))}),

      /** What an entry says in a line or two. */
      line: () => new Text({maxLines: 3, text: bound((entry) => Trail.text(entry))}),

      /** Who did it, and the agent that did it for them, if one did. */
      who: (actor, agent) => (agent ? Texts.of("history.by", actor, agent) : actor),

      /** Who changed the entity of a page and what it consists of, when, and from what to what. */
      create() {
        const control = new Table({
          growing: true,
          growingThreshold: 20,
          noDataText: Texts.of("history.none"),
          columns: Object.entries(COLUMNS).map(
            ([key, settings]) => new Column({...settings, header: new Text({text: Texts.of(`history.${key}`)})})
          )
        });
        control.addAriaLabelledBy(new InvisibleText({text: Texts.of("history.title")}).toStatic());
        return control;
      },

      /** Shows the entries of an entity in a table of `create`; `id` null: none. */
      async show(control, model, set, id) {
        await Trail.ready(model);
        if (control.isDestroyed()) {
          return;
        }
        control.unbindItems();
        if (!id) {
          return;
        }
        const is = (kind) => `${kind}Type eq '${set}' and ${kind}Id eq '${id}'`;
        control.setModel(model);
        control.bindItems({
          path: "/AuditLogs",
          templateShareable: false,
          template: new ColumnListItem({
            vAlign: "Top",
            cells: [
              new Text({text: {path: "timestamp", targetType: "any", formatter: (one) => Format.dateTime(one)}}),
              new Text({text: {parts: ["actor", "agent"], formatter: History.who}}),
              History.words()
            ]
          }),
          parameters: {$filter: `${is("owner")} or ${is("entity")}`, $orderby: "timestamp desc,ID"}
        });
      }
    };

    return History;
  }
);
