sap.ui.define(
  [
    "sap/m/SegmentedButton",
    "sap/m/SegmentedButtonItem",
    "promenade/reports/Cards",
    "promenade/reports/HeatMap",
    "promenade/reports/Numbers",
    "promenade/reports/Service",
    "promenade/reports/TableFile"
  ],
  function (SegmentedButton, SegmentedButtonItem, Cards, HeatMap, Numbers, Service, TableFile) {
    "use strict";

    function measureButton(desk, measure, heading) {
      const {t} = desk;
      return new SegmentedButton({
        ariaLabelledBy: [heading],
        selectedKey: measure,
        items: ["applications", "discount"].map((key) => new SegmentedButtonItem({key, text: t(key)})),
        selectionChange: (event) => desk.go({measure: event.getParameter("item").getKey()})
      });
    }

    /** The hours of the week with a use, as the table of a file. */
    function tableOf({t, state}, rows) {
      return {
        title: t("weekday"),
        labels: rows.map(({weekday}) => Numbers.weekday(weekday)),
        series: [
          Cards.words(t("hour"), rows, ({hour}) => Numbers.hour(hour)),
          Cards.series(t("applications"), rows, (row) => row.applications, Numbers.whole),
          Cards.series(t("discount"), rows, (row) => row.discount, Numbers.whole, {
            units: rows.map(() => state.currency)
          })
        ]
      };
    }

    /** The ten strongest of them. */
    function busiest(desk, rows) {
      const {
        t,
        state: {measure}
      } = desk;
      const used = rows
        .filter((row) => row[measure] > 0)
        .toSorted((one, other) => other[measure] - one[measure])
        .slice(0, 10);
      return Cards.chart(t, {
        id: "busiest",
        title: t("busiest"),
        kind: "ranking",
        isWide: true,
        height: `${Math.max(8, used.length * 2 + 3)}rem`,
        data: {
          title: t("hour"),
          labels: used.map(({weekday, hour}) => `${Numbers.weekday(weekday)} ${Numbers.hour(hour)}`),
          series: [
            measure === "discount" ? desk.money(t(measure), used, measure) : desk.whole(t(measure), used, measure)
          ]
        }
      });
    }

    /** When promotions, or one of them, are used: every hour of the week. */
    return async function hours(desk) {
      const {state, read, t} = desk;
      const measure = state.measure;
      const filter = Service.all(
        `day ge ${state.from} and day le ${state.to}`,
        `currency eq ${Service.text(state.currency)}`,
        state.promotion && `promotionId eq ${state.promotion}`
      );
      const apply = Service.sums(filter, ["weekday", "hour"], {
        applications: "transactions",
        discount: "totalDiscount"
      });
      const [{rows}] = await read("reporting", [{set: "PromotionUsageByDayAndHour", apply, orderby: "weekday,hour"}]);
      const write = measure === "discount" ? (value) => Numbers.money(value, state.currency) : Numbers.whole;
      const map = new HeatMap({
        caption: t("hoursOf", t(measure)),
        legend: t("legend"),
        data: {
          values: new Map(rows.map((row) => [`${row.weekday} ${row.hour}`, row[measure]])),
          write,
          short: measure === "discount" ? Numbers.short : String
        }
      });
      return [
        Cards.box({
          id: "heatMap",
          title: t("heatMap"),
          note: t("heatMapNote"),
          isWide: true,
          beside: (heading) => [
            TableFile.button(t, t("heatMap"), () => tableOf(desk, rows)),
            measureButton(desk, measure, heading)
          ],
          content: [map]
        }),
        busiest(desk, rows)
      ];
    };
  }
);
