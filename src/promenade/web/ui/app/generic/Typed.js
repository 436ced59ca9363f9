sap.ui.define(["sap/ui/core/Element"], function (Element) {
  "use strict";

  return {
    /**
     * Takes over what was typed into the field that has the focus.
     *
     * A field gives its text to its model when the focus leaves it, which a reload, the browser's Back and the end of
     * a window do not wait for. The field is told what it would have been told, and keeps the focus.
     */
    take() {
      const field = Element.closestTo(document.activeElement);
      field?.onsapfocusleave?.({type: "sapfocusleave", target: field.getDomRef(), relatedControlId: null});
    }
  };
});
