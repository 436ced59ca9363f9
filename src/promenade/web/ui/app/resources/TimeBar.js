sap.ui.define(["sap/ui/core/Control"], function (Control) {
  "use strict";

  const percent = (part) => `${(100 * part).toFixed(2)}%`;

  /** When something runs within a window of time: a bar whose words say the same. */
  return Control.extend("promenade.resources.TimeBar", {
    metadata: {
      properties: {
        from: {type: "any", defaultValue: null},
        to: {type: "any", defaultValue: null},
        startsAt: {type: "any", defaultValue: null},
        endsAt: {type: "any", defaultValue: null},
        text: {type: "string", defaultValue: ""}
      }
    },

    renderer: {
      apiVersion: 2,

      render(rm, bar) {
        const [from, to] = [Date.parse(bar.getFrom()), Date.parse(bar.getTo())];
        const part = (moment, otherwise) => (moment ? (Date.parse(moment) - from) / (to - from) : otherwise);
        const left = Math.min(1, Math.max(0, part(bar.getStartsAt(), 0)));
        const right = Math.max(left, Math.min(1, part(bar.getEndsAt(), 1)));
        const now = (Date.now() - from) / (to - from);
        rm.openStart("div", bar).class("promenadeTime").attr("role", "img").attr("aria-label", bar.getText());
        rm.attr("title", bar.getText()).openEnd();
        if (to > from) {
          rm.openStart("span").class("promenadeTimeBar").style("left", percent(left));
          rm.style("width", `max(0.25rem, ${percent(right - left)})`)
            .openEnd()
            .close("span");
          if (now > 0 && now < 1) {
            rm.openStart("span").class("promenadeTimeNow").style("left", percent(now)).openEnd().close("span");
          }
        }
        rm.close("div");
      }
    }
  });
});
