sap.ui.define(
  ["sap/ui/core/format/DateFormat", "promenade/generic/Clock", "promenade/generic/Zone"],
  function (DateFormat, Clock, Zone) {
    "use strict";

    const MONTHS = {month: 1, quarter: 3};
    const SATURDAY = 5; // of a week that begins with Monday as 0

    const asUtc = (day) => new Date(`${day}T00:00:00Z`);
    const weekdayOf = (day) => (asUtc(day).getUTCDay() + 6) % 7;
    const monthOf = (day) => day.slice(0, 7);
    const words = (pattern) => {
      const format = DateFormat.getDateInstance({pattern, UTC: true});
      return (day) => format.format(asUtc(day));
    };

    /** The first day of the month so many months after another. */
    function monthLater(first, months) {
      const [year, month] = first.split("-").map(Number);
      return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10);
    }

    /** Months and quarters of a calendar, written as `2026-11`, in the time zone of the pages. */
    const Period = {
      /** The month that a moment is in; with `quarter` the first month of its quarter. */
      of: (moment, span) => Period.around(Zone.day(moment), span),

      /** The same of a day or a month. */
      around(day, span) {
        const month = Number(day.slice(5, 7)) - 1;
        return monthOf(span === "quarter" ? monthLater(day, -(month % MONTHS.quarter)) : day);
      },

      /** Its first day, and the first one after it. */
      days(first, span) {
        const start = Period.around(first, span);
        return {from: `${start}-01`, to: monthLater(start, MONTHS[span])};
      },

      /** Its first moment, and the first one after it. */
      bounds(first, span) {
        const {from, to} = Period.days(first, span);
        return {from: Zone.begin(from), to: Zone.begin(to)};
      },

      /** The period before (-1) or after (1). */
      step: (first, span, direction) => monthOf(monthLater(Period.around(first, span), direction * MONTHS[span])),

      /** What it is called: `November 2026`, `4th quarter 2026`. */
      title: (first, span) => words(span === "quarter" ? "qqqq y" : "LLLL y")(Period.days(first, span).from),

      /**
       * What a scale shows: `{from, to, ticks: [{at, until, upper, lower, isOff, isToday}]}`, moments in milliseconds,
       * places as parts of 1.
       *
       * Ticks are days of a month, and weeks of a quarter.
       */
      scale(first, span, now) {
        const days = Period.days(first, span);
        const [from, to] = [days.from, days.to].map((day) => Date.parse(Zone.begin(day)));
        const place = (moment) => (moment - from) / (to - from);
        const [weekday, date, dateAndMonth] = ["EEEEEE", "d", "d MMM"].map(words);
        const ticks = [];
        for (let day = days.from; day < days.to; ) {
          const next = Clock.later(day, span === "quarter" ? 7 - weekdayOf(day) : 1);
          const [begin, end] = [day, next].map((one) => Date.parse(Zone.begin(one)));
          ticks.push({
            at: place(begin),
            until: Math.min(1, place(end)),
            isToday: begin <= now && now < end,
            isOff: span === "month" && weekdayOf(day) >= SATURDAY,
            upper: span === "month" ? weekday(day).replace(".", "") : dateAndMonth(day),
            lower: span === "month" ? date(day) : weekday(day)
          });
          day = next;
        }
        return {from, to, ticks, today: from <= now && now < to ? place(now) : null};
      }
    };

    return Period;
  }
);
