sap.ui.define(["promenade/generic/Clock", "promenade/generic/Zone"], function (Clock, Zone) {
  "use strict";

  /** A moment so many days later on the stores' clock, at the same time of day; none stays none. */
  function later(moment, days) {
    if (!moment || !days) {
      return moment;
    }
    const wall = Clock.wall(moment, Zone.current());
    return Clock.moment(`${Clock.later(wall.slice(0, 10), days)}${wall.slice(10)}`, Zone.current());
  }

  return {
    later,

    /** A validity whose `part`, "start", "end" or "all" of it, was drawn by so many days. */
    window({validFrom, validTo}, part, days) {
      return {
        validFrom: part === "end" ? validFrom : later(validFrom, days),
        validTo: part === "start" ? validTo : later(validTo, days)
      };
    }
  };
});
