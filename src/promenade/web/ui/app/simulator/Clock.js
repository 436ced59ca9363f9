sap.ui.define([], function () {
  "use strict";

  /** Clocks of shops: `2026-11-22T17:30` on the wall there, and the moment that it is. */
  function formatOf(timeZone) {
    return new Intl.DateTimeFormat("en-CA", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit"
    });
  }

  function wallOf(moment, timeZone) {
    const found = {};
    formatOf(timeZone)
      .formatToParts(moment)
      .forEach(({type, value}) => {
        found[type] = value;
      });
    return `${found.year}-${found.month}-${found.day}T${found.hour}:${found.minute}:${found.second}`;
  }

  const asUtc = (wall) => Date.parse(`${wall.length === 16 ? `${wall}:00` : wall}Z`);

  const Clock = {
    /** What the clock on the wall of a place shows at a moment (ISO-8601 text or Date). */
    wall(moment, timeZone) {
      return wallOf(new Date(moment), timeZone || "UTC");
    },

    /** The moment at which it shows that, as ISO-8601 in UTC; null when it is no time. */
    moment(wall, timeZone) {
      const target = asUtc(wall);
      if (Number.isNaN(target)) {
        return null;
      }
      // Twice: the first guess may lie on the other side of a change to or from summer time.
      let guess = target;
      for (let round = 0; round < 2; round += 1) {
        guess += target - asUtc(wallOf(new Date(guess), timeZone || "UTC"));
      }
      return new Date(guess).toISOString().replace(".000Z", "Z");
    }
  };

  return Clock;
});
