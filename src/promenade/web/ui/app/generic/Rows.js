sap.ui.define([], function () {
  "use strict";

  /** What is hidden is not scrolled: browsers only forget where it was, and OpenUI5 would go to the first row. */
  function ignoreHidden(event) {
    if (!event.currentTarget.offsetParent) {
      event.stopImmediatePropagation();
    }
  }

  return {
    /**
     * Has the rows of a `sap.ui.table.Table` be as high as their texts, which break rather than be cut off.
     *
     * OpenUI5 can do that, scrolling to the end of the last row included, but has no public setting for it: if this one
     * goes, tests/ui/generic/test_columns.py says so.
     */
    fit(table) {
      table._bVariableRowHeightEnabled = true;
      const onAfterRendering = () => table.getDomRef().addEventListener("scroll", ignoreHidden, {capture: true});
      table.addEventDelegate({onAfterRendering});
      return table.addStyleClass("promList");
    }
  };
});
