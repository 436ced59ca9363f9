sap.ui.define(["sap/ui/core/Control", "promenade/promotions/Texts"], function (Control, Texts) {
  "use strict";

  const DAY_MS = 86_400_000;
  const EDGE_PX = 8;
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

  /**
   * When a promotion runs, as a bar on a calendar's scale: a link to the promotion, which says in words what its colour
   * means. With a mouse it can be drawn to other days, or at an edge longer and shorter, if `isMovable`.
   */
  return Control.extend("promenade.promotions.Bar", {
    metadata: {
      properties: {
        days: {type: "object"},
        text: {type: "string"},
        meaning: {type: "string"},
        look: {type: "string"},
        startsAt: {type: "any"},
        endsAt: {type: "any"},
        validity: {type: "string"},
        href: {type: "string"},
        isMovable: {type: "boolean", defaultValue: false}
      },
      events: {moved: {parameters: {part: {type: "string"}, days: {type: "int"}}}}
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
      const words = Texts.get("calendar.bar", [this.getText(), this.getMeaning(), this.getValidity()]);
      rm.openStart("a", `${this.getId()}-bar`).class("promenadeBar");
      `promenadeBar${this.getLook() || "None"}`.split(" ").forEach((name) => rm.class(name));
      rm.attr("href", this.getHref()).attr("title", words).attr("aria-label", words).attr("draggable", "false");
      // A short one stays wide enough to be seen and pressed.
      rm.style("left", percent(left)).style("width", `max(${percent(Math.max(0, right - left))}, 0.75rem)`);
      this._open = {start: !begin || begin < from, end: !end || end > to};
      if (this._open.start) {
        rm.class("promenadeBarOpenLeft");
      }
      if (this._open.end) {
        rm.class("promenadeBarOpenRight");
      }
      if (this.getIsMovable()) {
        rm.class("promenadeBarMovable");
      }
      // What is seen begins what is heard: who speaks to a page says what it reads.
      rm.openEnd().text(`${this.getText()}, ${this.getMeaning()}`).close("a");
    },

    // ---- drawing with a mouse ---------------------------------------------------------------------------------

    onAfterRendering() {
      const bar = this.getDomRef("bar");
      if (bar && this.getIsMovable()) {
        // Properties, not listeners: rendering again keeps the element, and would add them once more.
        bar.onpointerdown = (event) => this._grab(event, bar);
        bar.onclick = () => !this._wasDrawn;
      }
    },

    /** Which part of the bar is under the pointer: an edge that is shown, or all of it. */
    _partAt({clientX}, bar) {
      const {left, right, width} = bar.getBoundingClientRect();
      const isWide = width > 3 * EDGE_PX;
      if (isWide && !this._open.start && clientX - left < EDGE_PX) {
        return "start";
      }
      return isWide && !this._open.end && right - clientX < EDGE_PX ? "end" : "all";
    },

    _grab(event, bar) {
      this._wasDrawn = false;
      if (event.button !== 0 || event.pointerType === "touch") {
        return;
      }
      const part = this._partAt(event, bar);
      const {from, to} = this.getDays();
      const dayPx = (bar.parentElement.clientWidth * DAY_MS) / (to - from);
      const {left, width} = getComputedStyle(bar);
      let days = 0;
      const follow = (moved) => {
        days = Math.round((moved.clientX - event.clientX) / dayPx);
        this._wasDrawn ||= days !== 0;
        const by = `${days * dayPx}px`;
        bar.style.left = part === "end" ? left : `calc(${left} + ${by})`;
        bar.style.width = part === "all" ? width : `calc(${width} ${part === "end" ? "+" : "-"} ${by})`;
      };
      const leave = () => {
        bar.removeEventListener("pointermove", follow);
        this.invalidate(); // it stands where it was until other days are stored
        if (days) {
          this.fireMoved({part, days});
        }
      };
      bar.setPointerCapture(event.pointerId);
      bar.addEventListener("pointermove", follow);
      bar.addEventListener("lostpointercapture", leave, {once: true});
    }
  });
});
