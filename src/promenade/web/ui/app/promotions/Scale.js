sap.ui.define(["sap/ui/core/Control"], function (Control) {
  "use strict";

  const percent = (part) => `${(part * 100).toFixed(3)}%`;

  /** The head of a calendar: days or weeks of the period. */
  return Control.extend("promenade.promotions.Scale", {
    metadata: {properties: {days: {type: "object"}}},

    renderer: {
      apiVersion: 2,
      render(rm, control) {
        rm.openStart("div", control).class("promenadeScale").openEnd();
        for (const tick of (control.getDays() || {ticks: []}).ticks) {
          rm.openStart("div").class("promenadeTick");
          rm.style("left", percent(tick.at)).style("width", percent(tick.until - tick.at));
          if (tick.isOff) {
            rm.class("promenadeTickOff");
          }
          if (tick.isToday) {
            rm.class("promenadeTickToday").attr("aria-current", "date");
          }
          rm.openEnd().text(tick.upper).voidStart("br").voidEnd().text(tick.lower).close("div");
        }
        rm.close("div");
      }
    }
  });
});
