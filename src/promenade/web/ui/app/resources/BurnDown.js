sap.ui.define(
  [
    "sap/m/Link",
    "sap/m/Text",
    "sap/ui/core/Component",
    "promenade/generic/Format",
    "promenade/reports/Cards",
    "promenade/reports/Numbers",
    "promenade/reports/Period",
    "promenade/reports/Service",
    "promenade/reports/leftAtEnd",
    "promenade/reports/style",
    "promenade/resources/Texts"
  ],
  function (Link, Text, Component, Format, Cards, Numbers, Period, Service, leftAtEnd, style, Texts) {
    "use strict";

    const DAYS_MAX = 120;

    /** When nothing will be left, in a sentence. */
    function outlook(t, row) {
      const rate = Numbers.money(row.dailyBurnRate, row.currency);
      if (!row.projectedExhaustion) {
        return t(row.remainingAmount > 0 ? "resources.burnsNothing" : "resources.isEmpty");
      }
      const day = Numbers.date(row.projectedExhaustion);
      const lasts = row.validTo && row.projectedExhaustion > row.validTo;
      return lasts ? t("resources.lasts", rate, Numbers.date(row.validTo)) : t("resources.emptyOn", rate, day);
    }

    function daysOf(row) {
      const today = Period.isoOf(new Date());
      const earliest = Period.isoOf(new Date(Date.now() - DAYS_MAX * 86_400_000));
      const first = (row.firstConsumedAt || "").slice(0, 10) || today;
      return Period.days({from: first > earliest ? first : earliest, to: today});
    }

    function chart(t, words, row, consumed) {
      const days = daysOf(row);
      const left = leftAtEnd(row.remainingAmount, days, consumed);
      const byDay = new Map(consumed.map(({day, amount}) => [day, amount]));
      const money = (value) => Numbers.money(value, row.currency);
      const total = days.map(() => row.totalAmount);
      return Cards.chart(words, {
        id: "burnDown",
        title: t("resources.leftByDay"),
        note: outlook(t, row),
        kind: "line",
        isWide: true,
        data: {
          title: t("resources.day"),
          labels: consumed.length ? days.map(Numbers.day) : [],
          series: [
            {label: t("resources.left"), values: left, texts: left.map(money)},
            {label: t("resources.totalAmount"), values: total, texts: total.map(money)}
          ],
          extra: [
            {label: t("resources.spentThatDay"), values: [], texts: days.map((day) => money(byDay.get(day) || 0))}
          ]
        }
      });
    }

    function shares(t, words, rows) {
      const money = (label, name) =>
        Cards.series(
          label,
          rows,
          (row) => row[name],
          (value, row) => Numbers.money(value, row.currency)
        );
      return Cards.chart(words, {
        id: "shares",
        title: t("resources.shares"),
        kind: "doughnut",
        height: "14rem",
        data: {
          title: t("resources.stakeholder"),
          labels: rows.map((one) => one.stakeholderName),
          series: [money(t("resources.cost"), "stakeholderCost")],
          extra: [
            Cards.series(
              t("resources.share"),
              rows,
              () => null,
              (_, one) => Format.percent(one.sharePercentage)
            ),
            money(t("resources.paidIn"), "contributionsTotal")
          ]
        }
      });
    }

    return {
      /** The charts of a budget: what was left day by day, and who bears what was spent. */
      async load({ID, IsActiveEntity}) {
        const component = Component.getComponentById("promenade");
        const t = await Texts.of(component);
        const words = (key, ...values) => t(`reports.${key}`, ...values);
        style();
        const sums = Service.sums("", ["day"], {amount: "amount"});
        const apply = `filter(budget_ID eq ${ID})/compute(date(consumedAt) as day)/${sums}`;
        const [
          [
            {
              rows: [row]
            },
            {rows: parts}
          ],
          [{rows: consumed}]
        ] = await Promise.all([
          Service.read("reporting", [
            {set: "BudgetUtilization", filter: `budgetId eq ${ID}`, top: 1},
            {set: "StakeholderCostBreakdown", filter: `budgetId eq ${ID}`, orderby: "stakeholderCost desc", top: 20}
          ]),
          Service.read("admin", [{set: "BudgetConsumptions", apply, orderby: "day"}])
        ]);
        if (!row || IsActiveEntity === false) {
          return [new Text({text: t("resources.nothingSpent")})];
        }
        return [
          chart(t, words, row, consumed),
          ...(parts.length && consumed.length ? [shares(t, words, parts).addStyleClass("sapUiSmallMarginTop")] : []),
          new Link({text: t("resources.budgetReport"), href: `#/reports/budgets?budget=${ID}`}).addStyleClass(
            "sapUiSmallMarginTop"
          )
        ];
      }
    };
  }
);
