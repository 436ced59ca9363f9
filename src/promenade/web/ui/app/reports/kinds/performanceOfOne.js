sap.ui.define(
  [
    "sap/m/Text",
    "promenade/reports/Cards",
    "promenade/reports/Numbers",
    "promenade/reports/Service",
    "promenade/reports/Verdict"
  ],
  function (Text, Cards, Numbers, Service, Verdict) {
    "use strict";

    function postMortem(desk, [row]) {
      const {t} = desk;
      return (
        row &&
        Cards.figures([
          {label: t("averageDiscount"), value: Numbers.money(row.avgDiscountPerTx, row.currency), note: t("allTime")},
          {label: t("applicationsEver"), value: Numbers.whole(row.applicationsCount), note: t("allTime")},
          {label: t("firstApplied"), value: Numbers.date(row.firstAppliedAt), note: Numbers.moment(row.firstAppliedAt)},
          {label: t("lastApplied"), value: Numbers.date(row.lastAppliedAt), note: Numbers.moment(row.lastAppliedAt)}
        ])
      );
    }

    function articles(desk, rows) {
      const {t} = desk;
      return Cards.chart(t, {
        id: "articles",
        title: t("articles"),
        note: t("allTime"),
        kind: "ranking",
        isWide: true,
        height: `${Math.max(8, rows.length * 2 + 3)}rem`,
        data: {
          title: t("article"),
          labels: rows.map((row) => row.articleName || row.articleNumber),
          links: rows.map(({articleNumber}) => desk.listHref("Articles", {search: articleNumber})),
          series: [desk.money(t("discount"), rows, "totalDiscount")],
          extra: [desk.whole(t("applications"), rows, "applications")]
        }
      });
    }

    function noBaseline(t, row) {
      return row.baselineFrom
        ? t("upliftNoBaseline", Numbers.date(row.baselineFrom), Numbers.date(row.baselineTo))
        : t("upliftFirst");
    }

    /** What limits the comparison, besides chance. */
    function caution(t, {baselineDays, promotionDays}) {
      const isShort = baselineDays < promotionDays;
      return [...(isShort ? [t("upliftShort", baselineDays, promotionDays)] : []), t("upliftNote")].join(" ");
    }

    /** Both periods side by side. Without sales before it, there is nothing to compare, and it says so. */
    function uplift(desk, [row]) {
      const {t} = desk;
      if (!row || row.upliftPct === null) {
        return Cards.box({
          id: "uplift",
          title: t("uplift"),
          isWide: true,
          content: [new Text({text: row ? noBaseline(t, row) : t("nothing")})]
        });
      }
      const of = (name) => row[name];
      const series = (label, names) => ({
        label,
        values: names.map(of),
        texts: names.map((name) => Numbers.money(row[name], row.currency)),
        units: names.map(() => row.currency)
      });
      const words = Verdict.ofBaskets(t, {
        uplift: row.upliftPct,
        pValue: row.pValue,
        level: row.significanceLevel,
        treated: row.promotionTransactions,
        control: row.baselineTransactions
      });
      return Cards.chart(t, {
        id: "uplift",
        title: t("uplift"),
        note: `${words} ${caution(t, row)}`,
        kind: "bar",
        isWide: true,
        data: {
          title: t("measure"),
          labels: [t("averageBasket"), t("revenuePerDay")],
          series: [
            series(t("before", Numbers.date(row.baselineFrom), Numbers.date(row.baselineTo)), [
              "baselineAvgBasket",
              "baselineRevenuePerDay"
            ]),
            series(t("during", Numbers.date(row.promotionFrom), Numbers.date(row.promotionTo)), [
              "promotionAvgBasket",
              "promotionRevenuePerDay"
            ])
          ]
        }
      });
    }

    /** What is known of a single promotion alone: its post mortem. */
    return async function performanceOfOne(desk) {
      const {
        state: {promotion, currency},
        read
      } = desk;
      const key = `promotionId eq ${promotion}`;
      const ofCurrency = `currency eq ${Service.text(currency)}`;
      const [row, before, top] = (
        await read("reporting", [
          {set: "PromotionPerformanceByCurrency", filter: Service.all(key, ofCurrency), top: 1},
          {set: "PromotionUpliftByCurrency", filter: Service.all(key, ofCurrency), top: 1},
          {set: "PromotionTopArticles", filter: Service.all(key, ofCurrency), orderby: "rank", top: 20}
        ])
      ).map(({rows}) => rows);
      return [postMortem(desk, row), uplift(desk, before), articles(desk, top)].filter(Boolean);
    };
  }
);
