sap.ui.define(["sap/ui/core/format/DateFormat"], function (DateFormat) {
  "use strict";

  const MONTHS = {month: 1, quarter: 3};
  const pad = (number) => String(number).padStart(2, "0");

  /** Months and quarters of a calendar, written as `2026-11`, in the person's time zone. */
  return {
    /** The month that a moment is in; with `quarter` the first month of its quarter. */
    of(date, span) {
      const month = span === "quarter" ? Math.floor(date.getMonth() / 3) * 3 : date.getMonth();
      return `${date.getFullYear()}-${pad(month + 1)}`;
    },

    /** Its first moment, and the first one after it. */
    bounds(first, span) {
      const [year, month] = first.split("-").map(Number);
      const from = new Date(year, month - 1, 1);
      const start = span === "quarter" ? new Date(year, Math.floor((month - 1) / 3) * 3, 1) : from;
      return {from: start, to: new Date(start.getFullYear(), start.getMonth() + MONTHS[span], 1)};
    },

    /** The period before (-1) or after (1). */
    step(first, span, direction) {
      const {from} = this.bounds(first, span);
      return this.of(new Date(from.getFullYear(), from.getMonth() + direction * MONTHS[span], 1), span);
    },

    /** What it is called: `November 2026`, `4th quarter 2026`. */
    title(first, span) {
      const pattern = span === "quarter" ? "qqqq y" : "LLLL y";
      return DateFormat.getDateInstance({pattern}).format(this.bounds(first, span).from);
    },

    /**
     * What a scale shows: `{from, to, ticks: [{at, until, upper, lower, isOff, isToday}]}`, places as parts of 1.
     *
     * Ticks are days of a month, and weeks of a quarter.
     */
    scale(first, span, now) {
      const {from, to} = this.bounds(first, span);
      const place = (date) => (date.getTime() - from.getTime()) / (to.getTime() - from.getTime());
      const weekday = DateFormat.getDateInstance({pattern: "EEEEEE"});
      const day = DateFormat.getDateInstance({pattern: "d"});
      const dayAndMonth = DateFormat.getDateInstance({pattern: "d MMM"});
      const ticks = [];
      for (let date = from; date < to; ) {
        const length = span === "quarter" ? 7 - ((date.getDay() + 6) % 7) : 1;
        const next = new Date(date.getFullYear(), date.getMonth(), date.getDate() + length);
        ticks.push({
          at: place(date),
          until: Math.min(1, place(next)),
          isToday: date <= now && now < next,
          isOff: span === "month" && (date.getDay() + 6) % 7 > 4,
          upper: span === "month" ? weekday.format(date).replace(".", "") : dayAndMonth.format(date),
          lower: span === "month" ? day.format(date) : weekday.format(date)
        });
        date = next;
      }
      return {from, to, ticks, today: from <= now && now < to ? place(now) : null};
    }
  };
});
