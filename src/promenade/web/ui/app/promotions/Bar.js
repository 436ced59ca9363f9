sap.ui.define(["sap/ui/core/Control", "promenade/promotions/Texts"], function (Control, Texts) {
  "use strict";

  const percent = (part) => `${(part * 100).toFixed(3)}%`;

  function renderGround(rm, {ticks, today}) {
    for (const tick of ticks.filter((one) => one.isOff)) {
      rm.openStart("span").class("promenadeDayOff").style("left", percent(tick.at));
      rm.style("width", percent(tick.until - tick.at))
        .openEnd()
        .close("span");
    }
    if (today !== null) {
      rm.openStart("span").class("promenadeToday").style("left", percent(today)).openEnd().close("span");
    }
  }

  /** When a promotion runs, as a bar on a calendar's scale: a link to the promotion, coloured by its status. */
  return Control.extend("promenade.promotions.Bar", {
    metadata: {
      properties: {
        days: {type: "object"},
        text: {type: "string"},
        status: {type: "string"},
        state: {type: "string"},
        startsAt: {type: "any"},
        endsAt: {type: "any"},
        validity: {type: "string"},
        href: {type: "string"}
      }
    },

    renderer: {
      apiVersion: 2,
      render(rm, control) {
        const days = control.getDays();
        rm.openStart("div", control).class("promenadeTrack").openEnd();
        if (days) {
          renderGround(rm, days);
          control._renderBar(rm, days);
        }
        rm.close("div");
      }
    },

    _renderBar(rm, {from, to}) {
      const begin = this.getStartsAt() ? new Date(this.getStartsAt()) : null;
      const end = this.getEndsAt() ? new Date(this.getEndsAt()) : null;
      const left = Math.max(0, begin ? (begin.getTime() - from) / (to - from) : 0);
      const right = Math.min(1, end ? (end.getTime() - from) / (to - from) : 1);
      const words = Texts.get("calendar.bar", [this.getText(), this.getStatus(), this.getValidity()]);
      rm.openStart("a", `${this.getId()}-bar`)
        .class("promenadeBar")
        .class(`promenadeBar${this.getState() || "None"}`);
      rm.attr("href", this.getHref()).attr("title", words).attr("aria-label", words);
      // A short one stays wide enough to be seen and pressed.
      rm.style("left", percent(left)).style("width", `max(${percent(Math.max(0, right - left))}, 0.75rem)`);
      if (!begin || begin < from) {
        rm.class("promenadeBarOpenLeft");
      }
      if (!end || end > to) {
        rm.class("promenadeBarOpenRight");
      }
      // What is seen begins what is heard: who speaks to a page says what it reads.
      rm.openEnd().text(`${this.getText()}, ${this.getStatus()}`).close("a");
    }
  });
});
