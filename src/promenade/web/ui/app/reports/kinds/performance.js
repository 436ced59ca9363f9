sap.ui.define(
  [
    "sap/m/MessageStrip",
    "promenade/reports/Cards",
    "promenade/reports/Numbers",
    "promenade/reports/Period",
    "promenade/reports/Service",
    "promenade/reports/kinds/performanceOfOne"
  ],
  function (MessageStrip, Cards, Numbers, Period, Service, performanceOfOne) {
    "use strict";

    const {all, sums, text} = Service;

    /** Conditions on sums by day, on sums of all time, and on confirmed sales. */
    function conditions({promotion, posGroup, from, to, currency}) {
      const {begin, end} = Period.moments({from, to});
      const ofPromotion = promotion && `promotionId eq ${promotion}`;
      const ofCurrency = `currency eq ${text(currency)}`;
      return {
        days: all(`day ge ${from} and day le ${to}`, ofCurrency, ofPromotion),
        ever: all(ofCurrency, ofPromotion),
        sales: all(
          `confirmedAt ge ${begin} and confirmedAt lt ${end}`,
          ofCurrency,
          Service.applied(promotion),
          posGroup && `posGroup_ID eq ${posGroup}`
        ),
        applications: all(
          `log/confirmedAt ge ${begin} and log/confirmedAt lt ${end}`,
          `log/currency eq ${text(currency)}`,
          "pilotArm ne 'CONTROL'",
          promotion && `promotion_ID eq ${promotion}`,
          posGroup && `log/posGroup_ID eq ${posGroup}`
        )
      };
    }

    const USAGE = {given: "totalDiscount", times: "applications"};
    const IN_LOG = {given: "totalDiscount", times: "$count"};

    /** Discount and applications, altogether and by day: of a POS group from its sales, else from sums. */
    function usage({posGroup}, {days, applications}) {
      if (!posGroup) {
        return [
          {set: "PromotionUsageByDay", apply: sums(days, [], USAGE)},
          {set: "PromotionUsageByDay", apply: sums(days, ["day"], USAGE), orderby: "day"}
        ];
      }
      const byDay = `filter(${applications})/compute(date(log/confirmedAt) as day)/${sums("", ["day"], IN_LOG)}`;
      return [
        {set: "CalculationLogPromotions", apply: sums(applications, [], IN_LOG)},
        {set: "CalculationLogPromotions", apply: byDay, orderby: "day"}
      ];
    }

    function ranking(desk, {days, applications}) {
      const {t, state, read} = desk;
      const source = state.posGroup
        ? {set: "CalculationLogPromotions", apply: sums(applications, ["promotion_ID", "promotionName"], IN_LOG)}
        : {set: "PromotionUsageByDay", apply: sums(days, ["promotionId", "promotionName"], USAGE)};
      return Cards.ranking(t, {
        id: "ranking",
        title: t("ranking"),
        note: t("rankingNote"),
        isWide: true,
        load: async (top) => {
          const [{rows, count}] = await read("reporting", [{...source, orderby: "given desc", top, count: true}]);
          return {
            count,
            data: {
              title: t("promotion"),
              labels: rows.map((row) => row.promotionName),
              links: rows.map((row) => desk.href({promotion: row.promotionId || row.promotion_ID})),
              series: [desk.money(t("discount"), rows, "given")],
              extra: [desk.whole(t("applications"), rows, "times")]
            }
          };
        }
      });
    }

    /**
     * @param {any} desk
     * @param {object} options
     * @param {string} options.id
     * @param {any[]} options.rows
     * @param {string[]} options.labels
     * @param {string} options.title
     * @param {string} [options.note]
     * @param {string} [options.axis]
     * @param {any[]} [options.more]
     * @param {boolean} [options.isWide]
     */
    function columns(desk, {id, rows, labels, title, note, axis = "given", more = [], isWide}) {
      const {t} = desk;
      return Cards.chart(t, {
        id,
        title: t(id),
        note,
        isWide,
        kind: "bar",
        data: {title, labels, series: [desk.money(t("discount"), rows, axis)], extra: more}
      });
    }

    function discountByDay(desk, rows) {
      const {t, state} = desk;
      const found = new Map(rows.map((row) => [row.day, row]));
      // A day without a sale is a gap in the rows, and a zero in the picture.
      const isLong = Period.days(state).length > 92;
      const filled = isLong ? rows : Period.days(state).map((day) => found.get(day) || {day, given: 0, times: 0});
      return columns(desk, {
        id: "byDay",
        rows: rows.length ? filled : [],
        labels: rows.length ? filled.map(({day}) => Numbers.day(day)) : [],
        title: t("day"),
        isWide: true,
        more: [desk.whole(t("applications"), filled, "times")]
      });
    }

    async function when(desk, {days, ever}) {
      const {t, state, read} = desk;
      const distribution = sums(ever, ["bucketFrom", "bucketTo"], {transactions: "transactions"});
      const answers = await read("reporting", [
        {set: "PromotionUsageByDayAndHour", apply: sums(days, ["weekday"], USAGE), orderby: "weekday"},
        {set: "PromotionUsageByDayAndHour", apply: sums(days, ["hour"], USAGE), orderby: "hour"},
        {set: "PromotionDiscountDistribution", apply: distribution, orderby: "bucketFrom"}
      ]);
      const [weekdays, hours, buckets] = answers.map(({rows}) => rows);
      const amount = (value) => Numbers.money(value, state.currency);
      return [
        columns(desk, {
          id: "byWeekday",
          rows: weekdays,
          labels: weekdays.map(({weekday}) => Numbers.weekday(weekday)),
          title: t("weekday"),
          more: [desk.whole(t("applications"), weekdays, "times")]
        }),
        columns(desk, {
          id: "byHour",
          rows: hours,
          labels: hours.map(({hour}) => Numbers.hour(hour)),
          title: t("hour"),
          more: [desk.whole(t("applications"), hours, "times")]
        }),
        Cards.chart(t, {
          id: "distribution",
          title: t("distribution"),
          note: t("distributionNote"),
          kind: "bar",
          data: {
            title: t("discountEach"),
            labels: buckets.map(({bucketFrom, bucketTo}) => t("fromTo", amount(bucketFrom), amount(bucketTo))),
            series: [desk.whole(t("transactions"), buckets, "transactions")]
          }
        })
      ];
    }

    async function places(desk, {sales}) {
      const {t, read} = desk;
      return Cards.ranking(t, {
        id: "posGroups",
        title: t("posGroups"),
        note: t("posGroupsNote"),
        isWide: true,
        load: async (top) => {
          const apply = sums(sales, ["posGroup_ID"], {given: "discount", revenue: "grandTotal", times: "$count"});
          const query = {set: "CalculationLogs", apply, orderby: "revenue desc", top, count: true};
          const [{rows, count}] = await read("reporting", [query]);
          const names = await desk.namesOfPosGroups(rows.map((row) => row.posGroup_ID).filter(Boolean));
          return {
            count,
            data: {
              title: t("posGroup"),
              labels: rows.map((row) => names.get(row.posGroup_ID) || t("noPosGroup")),
              links: rows.map((row) => row.posGroup_ID && desk.href({posGroup: row.posGroup_ID})),
              series: [desk.money(t("revenue"), rows, "revenue")],
              extra: [desk.money(t("discount"), rows, "given"), desk.whole(t("sales"), rows, "times")]
            }
          };
        }
      });
    }

    function figures(desk, [total], [revenue]) {
      const {t, state} = desk;
      const money = (value) => Numbers.money(value ?? 0, state.currency);
      return Cards.figures([
        {
          label: t(state.promotion ? "revenueWithOne" : "revenueWith"),
          value: money(revenue?.revenue),
          note: t("revenueWithNote")
        },
        {label: t("discountGiven"), value: money(total?.given), note: t("discountGivenNote")},
        {label: t("applications"), value: Numbers.whole(total?.times ?? 0), note: t("applicationsNote")},
        {
          label: t(state.promotion ? "salesWithOne" : "salesWith"),
          value: Numbers.whole(revenue?.times ?? 0),
          href: desk.hrefOf("sales"),
          note: t("showSales")
        }
      ]);
    }

    /** Of the whole period, and day by day. */
    async function overall(desk, found) {
      const revenue = sums(found.sales, [], {revenue: "grandTotal", times: "$count"});
      const answers = await desk.read("reporting", [
        ...usage(desk.state, found),
        {set: "CalculationLogs", apply: revenue}
      ]);
      const [total, days, sales] = answers.map(({rows}) => rows);
      return [figures(desk, total, sales), discountByDay(desk, days)];
    }

    /** What promotions, or one of them, gave and brought. */
    return async function performance(desk) {
      const {state, t} = desk;
      const found = conditions(state);
      const parts = await Promise.all([
        desk.part({id: "byDay", title: t("byDay")}, () => overall(desk, found)),
        state.promotion
          ? desk.part({id: "uplift", title: t("uplift")}, () => performanceOfOne(desk))
          : desk.part({id: "ranking", title: t("ranking")}, async () => [await ranking(desk, found)]),
        desk.part({id: "posGroups", title: t("posGroups")}, async () => [await places(desk, found)]),
        state.posGroup
          ? [new MessageStrip({text: t("notByPosGroup"), showIcon: true}).addStyleClass("promWide")]
          : desk.part({id: "byWeekday", title: t("byWeekday")}, () => when(desk, found))
      ]);
      return parts.flat();
    };
  }
);
