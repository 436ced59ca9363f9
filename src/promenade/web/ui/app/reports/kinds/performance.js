sap.ui.define(
  [
    "sap/m/MessageStrip",
    "promenade/reports/Cards",
    "promenade/reports/Comparison",
    "promenade/reports/Numbers",
    "promenade/reports/Period",
    "promenade/reports/Service",
    "promenade/reports/kinds/performanceOfOne"
  ],
  function (MessageStrip, Cards, Comparison, Numbers, Period, Service, performanceOfOne) {
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

    /** Discount and applications by promotion, each with these properties. */
    const byPromotion = ({posGroup}, {days, applications}, name) =>
      posGroup
        ? {set: "CalculationLogPromotions", apply: sums(applications, ["promotion_ID", ...name], IN_LOG)}
        : {set: "PromotionUsageByDay", apply: sums(days, ["promotionId", ...name], USAGE)};

    /** Of the period to compare with: rows by key, none without one. */
    async function earlier(desk, query, key) {
      const [{rows}] = desk.comparison ? await desk.read("reporting", [query(conditions(desk.earlier))]) : [{rows: []}];
      const byKey = new Map(rows.map((row) => [key(row), row]));
      return (row) => byKey.get(key(row)) || {};
    }

    function ranking(desk, found) {
      const {t, state, read} = desk;
      const source = byPromotion(state, found, ["promotionName"]);
      const key = (row) => row.promotionId || row.promotion_ID;
      return Cards.ranking(t, {
        id: "ranking",
        title: t("ranking"),
        note: t("rankingNote"),
        isWide: true,
        load: async (top) => {
          const [[{rows, count}], then] = await Promise.all([
            read("reporting", [{...source, orderby: "given desc", top, count: true}]),
            earlier(desk, (of) => byPromotion(state, of, []), key)
          ]);
          const given = desk.money(t("discount"), rows, "given");
          const thens = rows.map((row) => then(row).given);
          return {
            count,
            data: {
              title: t("promotion"),
              labels: rows.map((row) => row.promotionName),
              links: rows.map((row) => desk.href({promotion: key(row)})),
              series: [given],
              extra: [
                ...Comparison.columns(desk, given, thens, desk.writeMoney),
                desk.whole(t("applications"), rows, "times")
              ]
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
     * @param {string[]} [options.links]
     * @param {any[]} [options.thens] amounts of the period to compare with
     */
    function columns(desk, {id, rows, labels, title, note, axis = "given", more = [], isWide, thens, links}) {
      const {t} = desk;
      const given = desk.money(t("discount"), rows, axis);
      const [then, change] = thens
        ? Comparison.columns(desk, given, thens, desk.writeMoney).map((one) => [one])
        : [[], []];
      return Cards.chart(t, {
        id,
        title: t(id),
        note,
        isWide,
        kind: "bar",
        data: {title, labels, links, series: [given, ...then], extra: [...change, ...more]}
      });
    }

    /** Every day of a period: one without a sale is a gap in the rows, and a zero in the picture. */
    function everyDay(period, rows) {
      const found = new Map(rows.map((row) => [row.day, row]));
      return Period.days(period).map((day) => found.get(day) || {day, given: 0, times: 0});
    }

    function discountByDay(desk, rows, before) {
      const {t, state, comparison} = desk;
      const isLong = !comparison && Period.days(state).length > 92;
      const filled = isLong ? rows : everyDay(state, rows);
      const then = comparison && everyDay(comparison, before);
      return columns(desk, {
        links: filled.map(({day}) => desk.href({from: day, to: day})),
        thens: then && filled.map((_, index) => then[index]?.given),
        id: "byDay",
        rows: rows.length || before?.length ? filled : [],
        labels: rows.length || before?.length ? filled.map(({day}) => Numbers.day(day)) : [],
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
      const [ofWeekday, ofHour] = await Promise.all(
        ["weekday", "hour"].map((key) =>
          earlier(
            desk,
            (of) => ({set: "PromotionUsageByDayAndHour", apply: sums(of.days, [key], USAGE)}),
            (row) => row[key]
          )
        )
      );
      const amount = (value) => Numbers.money(value, state.currency);
      const of = (id, key, rows, then, write) =>
        columns(desk, {
          id,
          rows,
          labels: rows.map((row) => write(row[key])),
          title: t(key),
          links: rows.map(() => desk.hrefOf("hours")),
          thens: desk.comparison ? rows.map((row) => then(row).given) : undefined,
          more: [desk.whole(t("applications"), rows, "times")]
        });
      return [
        of("byWeekday", "weekday", weekdays, ofWeekday, Numbers.weekday),
        of("byHour", "hour", hours, ofHour, Numbers.hour),
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
      const SOLD = {given: "discount", revenue: "grandTotal", times: "$count"};
      const key = (row) => row.posGroup_ID;
      return Cards.ranking(t, {
        id: "posGroups",
        title: t("posGroups"),
        note: t("posGroupsNote"),
        isWide: true,
        load: async (top) => {
          const apply = sums(sales, ["posGroup_ID"], SOLD);
          const query = {set: "CalculationLogs", apply, orderby: "revenue desc", top, count: true};
          const [{rows, count}] = await read("reporting", [query]);
          const [names, then] = await Promise.all([
            desk.namesOfPosGroups(rows.map(key).filter(Boolean)),
            earlier(desk, (of) => ({set: "CalculationLogs", apply: sums(of.sales, ["posGroup_ID"], SOLD)}), key)
          ]);
          const revenue = desk.money(t("revenue"), rows, "revenue");
          const thens = rows.map((row) => then(row).revenue);
          return {
            count,
            data: {
              title: t("posGroup"),
              labels: rows.map((row) => names.get(row.posGroup_ID) || t("noPosGroup")),
              links: rows.map((row) => row.posGroup_ID && desk.href({posGroup: row.posGroup_ID})),
              series: [revenue],
              extra: [
                ...Comparison.columns(desk, revenue, thens, desk.writeMoney),
                desk.money(t("discount"), rows, "given"),
                desk.whole(t("sales"), rows, "times")
              ]
            }
          };
        }
      });
    }

    function figures(desk, [total], [revenue], [before], [sold]) {
      const {t, state, comparison} = desk;
      const money = (value) => Numbers.money(value ?? 0, state.currency);
      const whole = (value) => Numbers.whole(value ?? 0);
      /** The note gives way to the comparison, where there is one. */
      const figure = (label, now, then, write, note, more) => ({
        label: t(label),
        value: write(now),
        note: comparison ? Comparison.note(desk, now, then, write) : t(note),
        ...more
      });
      const one = state.promotion ? "One" : "";
      return Cards.figures([
        figure(`revenueWith${one}`, revenue?.revenue, sold?.revenue, money, "revenueWithNote"),
        figure("discountGiven", total?.given, before?.given, money, "discountGivenNote"),
        figure("applications", total?.times, before?.times, whole, "applicationsNote"),
        figure(`salesWith${one}`, revenue?.times, sold?.times, whole, "showSales", {href: desk.hrefOf("sales")})
      ]);
    }

    /** Of the whole period, and day by day; and of that to compare with. */
    async function overall(desk, found) {
      const asked = (of) => {
        const revenue = sums(of.sales, [], {revenue: "grandTotal", times: "$count"});
        return [...usage(desk.state, of), {set: "CalculationLogs", apply: revenue}];
      };
      const queries = [...asked(found), ...(desk.comparison ? asked(conditions(desk.earlier)) : [])];
      const answers = (await desk.read("reporting", queries)).map(({rows}) => rows);
      const [total, days, sales, before = [], then, sold = []] = answers;
      return [figures(desk, total, sales, before, sold), discountByDay(desk, days, then)];
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
