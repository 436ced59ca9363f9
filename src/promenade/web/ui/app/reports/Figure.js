sap.ui.define(["sap/ui/core/Control"], function (Control) {
  "use strict";

  /** A figure with what it is, and a line below; a link where `href` is given. A frame until `value` is there. */
  return Control.extend("promenade.reports.Figure", {
    metadata: {
      properties: {
        label: {type: "string", defaultValue: ""},
        value: {type: "string", defaultValue: ""},
        note: {type: "string", defaultValue: ""},
        href: {type: "sap.ui.core.URI", defaultValue: ""},
        isUrgent: {type: "boolean", defaultValue: false}
      }
    },

    renderer: {
      apiVersion: 2,

      render(rm, figure) {
        const href = figure.getHref();
        rm.openStart(href ? "a" : "div", figure).class("promFigure");
        if (href) {
          rm.attr("href", href);
        }
        if (figure.getIsUrgent()) {
          rm.class("promFigureUrgent");
        }
        rm.openEnd();
        rm.openStart("span").class("promFigureLabel").openEnd().text(figure.getLabel()).close("span");
        rm.openStart("span").class("promFigureValue");
        if (!figure.getValue()) {
          rm.class("promFrame");
        }
        rm.openEnd().text(figure.getValue()).close("span");
        rm.openStart("span").class("promFigureNote").openEnd().text(figure.getNote()).close("span");
        rm.close(href ? "a" : "div");
      }
    }
  });
});
