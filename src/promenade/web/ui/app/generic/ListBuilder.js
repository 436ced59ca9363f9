sap.ui.define(
  [
    "sap/m/HBox",
    "sap/m/ObjectMarker",
    "sap/m/VBox",
    "sap/ui/Device",
    "sap/ui/table/Column",
    "sap/ui/table/rowmodes/Auto",
    "sap/ui/table/rowmodes/Fixed",
    "promenade/generic/Columns",
    "promenade/generic/Displays",
    "promenade/generic/ListTable",
    "promenade/generic/Texts"
  ],
  function (HBox, ObjectMarker, VBox, Device, Column, Auto, Fixed, Columns, Displays, ListTable, Texts) {
    "use strict";

    /** Makes the tables that `Lists` hands out; on its own so that the tables' library is fetched when one is shown. */
    const WIDTHS = {
      "Edm.Boolean": 6,
      "Edm.Date": 8,
      "Edm.DateTimeOffset": 11,
      "Edm.TimeOfDay": 6,
      "Edm.Int32": 7,
      "Edm.Int64": 8,
      "Edm.Decimal": 9
    };
    const STATE = 10;
    const KEY = 10;
    const NAME_MIN = 220;
    const CODE_MIN = 130;
    const TEXT_MIN = 120;
    const LETTER = 0.48; // of a column's name, in rem, as are the widths above
    const AROUND = 1.5;
    const REM = 16;
    const NARROW = 1200;
    const CODE_MAX = 18; // letters of the longest texts that are numbers of something, as an EAN: every digit counts
    const NUMBERS = new Set(["Edm.Int32", "Edm.Int64", "Edm.Decimal"]);

    /** What the longest word of a column's name takes, in rem: the name breaks between its words alone. */
    const ofLabel = (field) => Math.max(...field.label.split(/[\s-]/).map((one) => one.length)) * LETTER + AROUND;

    const isCode = (field) => field.maxLength !== null && field.maxLength <= CODE_MAX && !field.valueList;
    const isName = (field, meta) => field.path === meta.titlePath || field.isMultiLine;

    /** States, dates and figures take what they need, and so do keys beside a name; texts share the rest. */
    function widthOf(field, meta) {
      const isKeyBeside = meta.semanticKey.includes(field.path) && meta.titlePath && !isName(field, meta);
      const fixed = field.criticalityPath
        ? STATE
        : (!field.valueList && WIDTHS[field.type]) || (isKeyBeside && !field.valueList && KEY);
      return fixed ? `${Math.max(fixed, ofLabel(field))}rem` : "auto";
    }

    /** Names get room, codes enough to be read. */
    function minWidthOf(field, meta) {
      const isKey = meta.semanticKey.includes(field.path) || isCode(field);
      const least = isName(field, meta) ? NAME_MIN : isKey ? CODE_MIN : TEXT_MIN;
      return Math.max(least, Math.ceil(ofLabel(field) * REM));
    }

    /** On small screens a list shows what matters most; its columns' menu has the rest. */
    const isShown = (field) => Device.resize.width >= NARROW || field.importance !== "Low";

    function columnOf(field, meta) {
      const sortPath = field.textPath && !(field.valueList && field.valueList.isFixed) ? field.textPath : field.path;
      return new Column({
        label: field.label,
        width: widthOf(field, meta),
        minWidth: minWidthOf(field, meta),
        visible: isShown(field),
        autoResizable: true,
        hAlign: NUMBERS.has(field.type) && !field.valueList ? "End" : "Begin",
        template: Displays.display(field, {isInList: true}),
        sortProperty: field.isSortable === false ? "" : sortPath,
        name: field.path
      });
    }

    /** Whether a row is a draft, or somebody is editing it: `[type, who]` of a marker, null for neither. */
    function markOf(isActive, hasDraft, isMine, by, last) {
      if (isActive === false) {
        return ["Draft", ""];
      }
      if (!hasDraft || isMine) {
        return null;
      }
      return by ? ["LockedBy", by] : ["UnsavedBy", last || ""];
    }

    /** The first column of a list of drafts also says how a row is being edited. */
    function markedColumn(field, meta) {
      const column = columnOf(field, meta);
      const data = ["DraftIsCreatedByMe", "InProcessByUser", "LastChangedByUser"];
      const paths = ["IsActiveEntity", "HasDraftEntity", ...data.map((one) => `DraftAdministrativeData/${one}`)];
      const parts = paths.map((path) => ({path, targetType: "any"}));
      const bound = (at, none) => ({parts, formatter: (...values) => markOf(...values)?.[at] ?? none});
      const marker = new ObjectMarker({
        type: bound(0, "Draft"),
        additionalInfo: bound(1, ""),
        visible: {parts, formatter: (...values) => Boolean(markOf(...values))}
      }).addStyleClass("sapUiTinyMarginBegin");
      const template = new HBox({alignItems: "Center", items: [column.getTemplate(), marker]});
      column.setTemplate(template);
      column.setMinWidth(170);
      return column;
    }

    /** Columns that a page adds: `{id, labelKey or label, width, create({model, meta}), exported: [path]}`. */
    function addedColumn(one, given) {
      return new Column({
        label: one.label || `{i18n>${one.labelKey}}`,
        width: one.width || "auto",
        minWidth: 110,
        template: one.create(given),
        name: one.id
      });
    }

    /** On a telephone a row is a card: its name, and below it what matters of it. */
    function cardColumn(fields, all) {
      const {meta, addedColumns = []} = all;
      const name = fields.find((one) => one.path === meta.titlePath) || fields[0];
      const rest = fields.filter((one) => one !== name && one.importance !== "Low");
      const column = Columns.card((meta.isDraft ? markedColumn : columnOf)(name, meta), [
        ...rest.map((one) => Columns.line(one.label, Displays.display(one, {isInList: true}), [one.path])),
        ...addedColumns.map((one) => new VBox({items: [one.create(all)]}))
      ]);
      column.data(
        "paths",
        [name, ...rest].map((one) => one.path)
      );
      return column;
    }

    function columnsOf(fields, all) {
      if (Columns.isTelephone()) {
        return [cardColumn(fields, all)];
      }
      return [
        ...fields.map((one, at) => (all.meta.isDraft && at === 0 ? markedColumn : columnOf)(one, all.meta)),
        ...(all.addedColumns || []).map((one) => addedColumn(one, all))
      ];
    }

    return {
      /** The table that `Lists.create` describes, from what it was given and its own choices. */
      build(all) {
        const fields = (all.columns || all.meta.columns).filter((one) => one.path !== all.hiddenPath);
        const table = new ListTable({
          selectionMode: "None",
          threshold: 50,
          enableColumnReordering: true,
          showColumnVisibilityMenu: !Columns.isTelephone(),
          rowMode: all.rows === "auto" ? new Auto({minRowCount: 6}) : new Fixed({rowCount: all.rows}),
          noData: Texts.of("nothingFound"),
          columns: columnsOf(fields, all)
        });
        table.setModel(all.model);
        table.open(all);
        return table;
      }
    };
  }
);
