sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/HBox",
    "sap/m/OverflowToolbar",
    "sap/m/SearchField",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/ToolbarSpacer",
    "sap/ui/core/InvisibleText",
    "promenade/generic/Displays",
    "promenade/generic/Messages",
    "promenade/generic/PartDialog",
    "promenade/generic/Texts",
    "promenade/generic/ValueHelp",
    "promenade/session/Session"
  ],
  function (
    Button,
    Column,
    ColumnListItem,
    HBox,
    OverflowToolbar,
    SearchField,
    Table,
    Text,
    ToolbarSpacer,
    InvisibleText,
    Displays,
    Messages,
    PartDialog,
    Texts,
    ValueHelp,
    Session
  ) {
    "use strict";

    /** The parts of an entity as tables on its page: what belongs to it, and what refers to it. */
    const PAGE = 20;
    const SEARCH_FROM = 10;
    const NUMBERS = new Set(["Edm.Int32", "Edm.Int64", "Edm.Decimal"]);

    /** The property by which a part refers to what it is part of: no column, for it is the same in all rows. */
    const ownerPath = (part) => (part.partner ? `${part.partner}_ID` : null);

    /** What the person may do with rows of a part, on a page that shows a draft or not. */
    function rightsOf(part, target, isDraftShown) {
      const isThroughDraft = target.isNode;
      const isOpen = isThroughDraft ? isDraftShown && !part.isClosed : !target.isDraft;
      const may = (verb, can) => isOpen && can && Session.may(verb, target.set);
      return {
        create: may("create", target.canInsert),
        update: may("update", target.canUpdate),
        remove: may("delete", target.canDelete)
      };
    }

    function columnsOf(part, target) {
      const shown = target.columns.filter((field) => field.path !== ownerPath(part));
      return shown.map(
        (field, at) =>
          new Column({
            header: new Text({text: field.label}),
            hAlign: NUMBERS.has(field.type) && !field.valueList ? "End" : "Begin",
            demandPopin: true,
            minScreenWidth: at < 4 ? "" : "Desktop",
            importance: field.importance
          })
      );
    }

    function rowOf({part, target, rights, onOpen, onChanged}, table) {
      const cells = target.columns
        .filter((field) => field.path !== ownerPath(part))
        .map((field) => Displays.display(field, {isInList: true}));
      const act = async (event, what) => {
        try {
          if (await what(event.getSource().getBindingContext(), table)) {
            onChanged();
          }
        } catch (error) {
          Messages.show(error);
        }
      };
      const buttons = [
        rights.update &&
          new Button({
            icon: "sap-icon://edit",
            type: "Transparent",
            tooltip: Texts.of("change"),
            press: (event) => act(event, (context) => PartDialog.change({part, target, context, table}))
          }),
        rights.remove &&
          new Button({
            icon: "sap-icon://delete",
            type: "Transparent",
            tooltip: Texts.of("delete"),
            press: (event) => act(event, (context) => PartDialog.remove({target, context, table}))
          })
      ].filter(Boolean);
      return new ColumnListItem({
        cells: buttons.length ? [...cells, new HBox({justifyContent: "End", items: buttons})] : cells,
        type: onOpen ? "Navigation" : "Inactive",
        press: (event) => onOpen(event.getSource().getBindingContext())
      });
    }

    function toolbarOf(given, table) {
      const {part, target, rights, onCount, onChanged} = given;
      const search = target.isSearchable
        ? new SearchField({
            width: "16rem",
            placeholder: Texts.of("search"),
            visible: false,
            tooltip: Texts.of("searchIn", part.label),
            search(event) {
              const words = ValueHelp.words(event.getParameter("query") || "");
              table.getBinding("items").changeParameters({$search: words});
            }
          })
        : null;
      const create = rights.create
        ? new Button({
            text: Texts.of("add"),
            icon: "sap-icon://add",
            type: "Transparent",
            press: () =>
              PartDialog.create({part, target, owner: table.getBindingContext(), table}).then(
                (isDone) => isDone && onChanged(),
                (error) => Messages.show(error)
              )
          })
        : null;
      table.attachUpdateFinished((event) => {
        const count = event.getParameter("total");
        onCount(count);
        const isLong = count > SEARCH_FROM || Boolean(search && search.getValue());
        search?.setVisible(isLong);
        table.getHeaderToolbar()?.setVisible(Boolean(create) || isLong);
      });
      return search || create
        ? new OverflowToolbar({
            style: "Clear",
            visible: Boolean(create),
            content: [new ToolbarSpacer(), ...[search, create].filter(Boolean)]
          })
        : null;
    }

    function selectOf(target) {
      return [...new Set([...target.key, ...target.columns.map((one) => one.path)])].join(",");
    }

    return {
      ownerPath,

      /**
       * A table of a part, bound relative to its page. `isDraftShown`: the page shows a draft, through which parts are
       * written; `onOpen(context)`: where a row leads, null for nowhere; `onCount(number)` of its rows; `onChanged()`:
       * one of them was written.
       */
      create({part, target, isDraftShown, onOpen, onCount, onChanged}) {
        const rights = rightsOf(part, target, isDraftShown);
        const hasButtons = rights.update || rights.remove;
        const table = new Table({
          growing: true,
          growingThreshold: PAGE,
          noDataText: Texts.of(rights.create ? "noneAdd" : "none"),
          autoPopinMode: false,
          contextualWidth: "Auto",
          popinLayout: "GridSmall",
          columns: [
            ...columnsOf(part, target),
            ...(hasButtons
              ? [
                  new Column({
                    width: "6rem",
                    hAlign: "End",
                    header: new Text({text: Texts.of("rowActions"), visible: false})
                  })
                ]
              : [])
          ]
        });
        const given = {part, target, rights, onOpen, onCount, onChanged};
        table.setHeaderToolbar(toolbarOf(given, table));
        const name = new InvisibleText({text: part.label}).toStatic();
        table.addAriaLabelledBy(name);
        table.addDependent(name);
        table.bindItems({
          path: part.navigation,
          template: rowOf(given, table),
          templateShareable: false,
          parameters: {$$ownRequest: true, $count: true, $select: selectOf(target)},
          events: {dataReceived: (event) => Messages.keepQuiet(event.getParameter("error"))}
        });
        return table;
      }
    };
  }
);
