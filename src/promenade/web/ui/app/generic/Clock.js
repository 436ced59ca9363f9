sap.ui.define([], function () {
  "use strict";

  /**
   * Clocks of places: `2026-11-22T17:30` on the wall there, and the moment that it is. Days are texts, `2026-11-22`.
   *
   * Where the clock is put forward, a time that it skips is the one that it shows instead; where it is put back, a time
   * that it shows twice is the first of the two. What is later than the year 9999 is the last moment of it.
   */
  const DAY_MS = 86_400_000;
  const LAST_DAY = "9999-12-31";
  const LAST = `${LAST_DAY}T23:59:59`;

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
    formatOf(timeZone || "UTC")
      .formatToParts(moment)
      .forEach(({type, value}) => {
        found[type] = value;
      });
    const year = found.year.padStart(4, "0");
    return year.length > 4 ? LAST : `${year}-${found.month}-${found.day}T${found.hour}:${found.minute}:${found.second}`;
  }

  const asUtc = (wall) => Date.parse(`${wall.length === 16 ? `${wall}:00` : wall}Z`);

  /** How far a place's clock is ahead of UTC at a moment. */
  const aheadAt = (moment, timeZone) => asUtc(wallOf(new Date(moment), timeZone)) - moment;

  const Clock = {
    /** What the clock on the wall of a place shows at a moment (ISO-8601 text or Date). */
    wall(moment, timeZone) {
      return wallOf(new Date(moment), timeZone);
    },

    /** The moment at which it shows that, as ISO-8601 in UTC; null when it is no time. */
    moment(wall, timeZone) {
      const target = asUtc(wall);
      if (Number.isNaN(target)) {
        return null;
      }
      const [before, after] = [target - DAY_MS, target + DAY_MS].map((one) => aheadAt(one, timeZone));
      const found = [before, after].find((ahead) => aheadAt(target - ahead, timeZone) === ahead);
      return new Date(Math.min(target - (found ?? before), asUtc(LAST))).toISOString().replace(".000Z", "Z");
    },

    /** The day that it is somewhere at a moment. */
    day: (moment, timeZone) => Clock.wall(moment, timeZone).slice(0, 10),

    /** The moment at which a day begins there. */
    begin: (day, timeZone) => String(Clock.moment(`${day}T00:00`, timeZone)),

    /** The moment at which it has ended there: 23, 24 or 25 hours later. */
    end: (day, timeZone) =>
      day < LAST_DAY ? Clock.begin(Clock.later(day, 1), timeZone) : String(Clock.moment(LAST, timeZone)),

    /** Whether a day begins there at a moment. */
    isBegin: (moment, timeZone) =>
      Date.parse(Clock.begin(Clock.day(moment, timeZone), timeZone)) === new Date(moment).getTime(),

    /** The day so many days later, or earlier. */
    later: (day, days) => new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
  };

  return Clock;
});
