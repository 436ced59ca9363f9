sap.ui.define(
  [
    "sap/m/HBox",
    "sap/m/ObjectMarker",
    "sap/ui/Device",
    "sap/ui/table/Column",
    "sap/ui/table/rowmodes/Auto",
    "sap/ui/table/rowmodes/Fixed",
    "promenade/generic/Displays",
    "promenade/generic/ListTable",
    "promenade/generic/Texts"
  ],
  function (HBox, ObjectMarker, Device, Column, Auto, Fixed, Displays, ListTable, Texts) {
    "use strict";

    /** Makes the tables that `Lists` hands out; on its own so that the tables' library is fetched when one is shown. */
    const WIDTHS = {
      "Edm.Boolean": "6rem",
      "Edm.Date": "8rem",
      "Edm.DateTimeOffset": "13rem",
      "Edm.TimeOfDay": "6rem",
      "Edm.Int32": "7rem",
      "Edm.Int64": "8rem",
      "Edm.Decimal": "9rem"
    };
    const NARROW = 1200;
    const CODE_MAX = 18; // letters of the longest texts that are numbers of something, as an EAN: every digit counts
    const NUMBERS = new Set(["Edm.Int32", "Edm.Int64", "Edm.Decimal"]);

    function widthOf(field) {
      if (field.criticalityPath) {
        return "10rem";
      }
      return field.valueList ? "auto" : WIDTHS[field.type] || "auto";
    }

    /** Names get room, codes enough to be read. */
    function minWidthOf(field, meta) {
      if (field.path === meta.titlePath) {
        return 220;
      }
      const isCode = field.maxLength !== null && field.maxLength <= CODE_MAX && !field.valueList;
      return meta.semanticKey.includes(field.path) || isCode ? 130 : 110;
    }

    /** On small screens a list shows what matters most; its columns' menu has the rest. */
    const isShown = (field) => Device.resize.width >= NARROW || field.importance !== "Low";

    function columnOf(field, meta) {
      const sortPath = field.textPath && !(field.valueList && field.valueList.isFixed) ? field.textPath : field.path;
      return new Column({
        label: field.label,
        width: widthOf(field),
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

    return {
      /** The table that `Lists.create` describes, from what it was given and its own choices. */
      build(all) {
        const fields = (all.columns || all.meta.columns).filter((one) => one.path !== all.hiddenPath);
        const table = new ListTable({
          selectionMode: "None",
          threshold: 50,
          enableColumnReordering: true,
          showColumnVisibilityMenu: true,
          rowMode: all.rows === "auto" ? new Auto({minRowCount: 6}) : new Fixed({rowCount: all.rows}),
          noData: Texts.of("nothingFound"),
          columns: [
            ...fields.map((one, at) => (all.meta.isDraft && at === 0 ? markedColumn : columnOf)(one, all.meta)),
            ...(all.addedColumns || []).map((one) => addedColumn(one, all))
          ]
        });
        table.setModel(all.model);
        table.open(all);
        return table;
      }
    };
  }
);
