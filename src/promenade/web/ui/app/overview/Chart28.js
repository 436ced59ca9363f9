sap.ui.define(
  ["promenade/reports/Cards", "promenade/reports/Numbers", "promenade/reports/Period"],
  function (Cards, Numbers, Period) {
    "use strict";

    return {
      /** Discount of the last 28 days in one currency. */
      create(t, {days}, currency) {
        const found = new Map(days.rows.filter((row) => row.currency === currency).map((row) => [row.day, row]));
        const rows = Period.days(Period.of("last28")).map((day) => found.get(day) || {day, given: 0, times: 0});
        const money = (value) => Numbers.money(value, currency);
        return Cards.chart(t, {
          id: "last28",
          title: t("chart", currency),
          kind: "bar",
          height: "19rem",
          data: {
            title: t("day"),
            labels: rows.map(({day}) => Numbers.day(day)),
            series: [Cards.series(t("given"), rows, (row) => row.given, money)],
            extra: [Cards.series(t("times"), rows, (row) => row.times, Numbers.whole)]
          }
        });
      }
    };
  }
);
