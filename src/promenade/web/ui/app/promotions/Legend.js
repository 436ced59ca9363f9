sap.ui.define(["sap/ui/core/Control"], function (Control) {
  "use strict";

  /** What the colours of a calendar's bars mean: `entries` of `{look, text}`. Each bar says the same in words. */
  return Control.extend("promenade.promotions.Legend", {
    metadata: {properties: {entries: {type: "object[]", defaultValue: []}, title: {type: "string"}}},

    renderer: {
      apiVersion: 2,
      render(rm, control) {
        rm.openStart("ul", control).class("promenadeLegend").attr("aria-label", control.getTitle()).openEnd();
        for (const {look, text} of control.getEntries()) {
          rm.openStart("li").openEnd();
          rm.openStart("span")
            .class("promenadeSwatch")
            .class(`promenadeBar${look}`)
            .attr("aria-hidden", "true")
            .openEnd();
          rm.close("span").text(text).close("li");
        }
        rm.close("ul");
      }
    }
  });
});
