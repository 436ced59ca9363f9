sap.ui.define([], function () {
  "use strict";

  return {
    /**
     * Has the rows of a `sap.ui.table.Table` be as high as their texts, which break rather than be cut off.
     *
     * OpenUI5 can do that, scrolling to the end of the last row included, but has no public setting for it: if this one
     * goes, tests/ui/generic/test_columns.py says so.
     */
    fit(table) {
      table._bVariableRowHeightEnabled = true;
      return table.addStyleClass("promList");
    }
  };
});
