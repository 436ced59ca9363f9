sap.ui.define(
  [
    "sap/m/SegmentedButton",
    "sap/m/SegmentedButtonItem",
    "promenade/reports/Cards",
    "promenade/reports/Comparison",
    "promenade/reports/HeatMap",
    "promenade/reports/Numbers",
    "promenade/reports/Service",
    "promenade/reports/TableFile"
  ],
  function (SegmentedButton, SegmentedButtonItem, Cards, Comparison, HeatMap, Numbers, Service, TableFile) {
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
    function busiest(desk, rows, before) {
      const {
        t,
        state: {measure}
      } = desk;
      const used = rows
        .filter((row) => row[measure] > 0)
        .toSorted((one, other) => other[measure] - one[measure])
        .slice(0, 10);
      const series =
        measure === "discount" ? desk.money(t(measure), used, measure) : desk.whole(t(measure), used, measure);
      const then = new Map(before.map((row) => [`${row.weekday} ${row.hour}`, row[measure]]));
      const thens = used.map(({weekday, hour}) => then.get(`${weekday} ${hour}`));
      return Cards.chart(t, {
        id: "busiest",
        title: t("busiest"),
        kind: "ranking",
        isWide: true,
        height: `${Math.max(8, used.length * 2 + 3)}rem`,
        data: {
          title: t("hour"),
          labels: used.map(({weekday, hour}) => `${Numbers.weekday(weekday)} ${Numbers.hour(hour)}`),
          series: [series],
          extra: Comparison.columns(desk, series, thens, writer(desk))
        }
      });
    }

    const writer = ({state, writeMoney}) => (state.measure === "discount" ? writeMoney : Numbers.whole);

    function query({from, to, currency, promotion}) {
      const filter = Service.all(
        `day ge ${from} and day le ${to}`,
        `currency eq ${Service.text(currency)}`,
        promotion && `promotionId eq ${promotion}`
      );
      const added = {applications: "transactions", discount: "totalDiscount"};
      const apply = Service.sums(filter, ["weekday", "hour"], added);
      return {set: "PromotionUsageByDayAndHour", apply, orderby: "weekday,hour"};
    }

    /** When promotions, or one of them, are used: every hour of the week. */
    return async function hours(desk) {
      const {state, read, t} = desk;
      const measure = state.measure;
      const asked = [query(state), ...(desk.comparison ? [query(desk.earlier)] : [])];
      const [rows, before = []] = (await read("reporting", asked)).map((one) => one.rows);
      const write = writer(desk);
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
        busiest(desk, rows, before)
      ];
    };
  }
);
