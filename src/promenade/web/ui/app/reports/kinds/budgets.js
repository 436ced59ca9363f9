sap.ui.define(
  [
    "sap/m/Text",
    "promenade/reports/Cards",
    "promenade/reports/Numbers",
    "promenade/reports/Period",
    "promenade/reports/Service",
    "promenade/reports/leftAtEnd"
  ],
  function (Text, Cards, Numbers, Period, Service, leftAtEnd) {
    "use strict";

    const AHEAD_DAYS = 28;
    const DAY_MS = 86_400_000;

    /** When nothing will be left, in a sentence. */
    function forecast(t, row) {
      const rate = Numbers.money(row.dailyBurnRate, row.currency);
      if (!row.projectedExhaustion) {
        return t(row.remainingAmount > 0 ? "burnsNothing" : "isEmpty");
      }
      const day = Numbers.date(row.projectedExhaustion);
      const isAfterEnd = row.validTo && row.projectedExhaustion > row.validTo;
      return isAfterEnd ? t("lastsLonger", rate, day, Numbers.date(row.validTo)) : t("emptyOn", rate, day);
    }

    function utilization(desk) {
      const {t, read} = desk;
      return Cards.ranking(t, {
        id: "utilization",
        title: t("utilization"),
        note: t("utilizationNote"),
        isWide: true,
        axis: (value) => Numbers.percent(value),
        load: async (top) => {
          const query = {set: "BudgetUtilization", orderby: "utilizationPct desc", top, count: true};
          const [{rows, count}] = await read("reporting", [query]);
          const money = (label, name) =>
            Cards.series(
              label,
              rows,
              (row) => row[name],
              (value, row) => Numbers.money(value, row.currency),
              {units: rows.map((row) => row.currency)}
            );
          return {
            count,
            data: {
              title: t("budget"),
              labels: rows.map((row) => row.budgetName),
              links: rows.map((row) => desk.href({budget: row.budgetId})),
              series: [
                Cards.series(
                  t("used"),
                  rows,
                  (row) => row.utilizationPct,
                  (value) => Numbers.percent(value)
                )
              ],
              extra: [
                money(t("consumed"), "consumedAmount"),
                money(t("remaining"), "remainingAmount"),
                money(t("total"), "totalAmount"),
                money(t("burnRate"), "dailyBurnRate"),
                Cards.words(t("exhaustion"), rows, (row) => Numbers.date(row.projectedExhaustion))
              ]
            }
          };
        }
      });
    }

    function ahead(row, days) {
      const today = days.at(-1);
      const until = row.projectedExhaustion && row.projectedExhaustion.slice(0, 10);
      const reach = until ? Math.round((Date.parse(until) - Date.parse(today)) / DAY_MS) : Infinity;
      if (reach > AHEAD_DAYS || reach < 1) {
        return [];
      }
      return Array.from({length: reach}, (_, index) =>
        new Date(Date.parse(today) + (index + 1) * DAY_MS).toISOString().slice(0, 10)
      );
    }

    function burnDown(desk, row, consumed) {
      const {t} = desk;
      const now = Period.isoOf(new Date());
      const first = (row.firstConsumedAt || "").slice(0, 10);
      const from = consumed.length && first > desk.state.from ? first : desk.state.from;
      const days = Period.days({from, to: now});
      const left = leftAtEnd(row.remainingAmount, days, consumed);
      const coming = ahead(row, days);
      const money = (value) => Numbers.money(value, row.currency);
      const labels = [...days, ...coming].map(Numbers.day);
      const values = [...left, ...coming.map(() => null)];
      const expected = coming.map((_, index) => (left.at(-1) * (coming.length - 1 - index)) / coming.length);
      const projected = [...left.map((one, index) => (index === left.length - 1 ? one : null)), ...expected];
      const units = labels.map(() => row.currency);
      const series = [{label: t("remaining"), values, texts: values.map(money), units}];
      if (coming.length) {
        series.push({
          label: t("projected"),
          values: projected,
          texts: projected.map((one) => (one === null ? Numbers.NOTHING : money(one.toFixed(2)))),
          isForecast: true,
          units
        });
      }
      const budget = [{key: row.budgetId, text: row.budgetName}];
      const takenOn = (day) =>
        desk.listHref("BudgetConsumptions", {filters: {budget_ID: budget, consumedAt: {from: day, to: day}}});
      const byDay = new Map(consumed.map(({day, amount}) => [day, amount]));
      return Cards.chart(t, {
        id: "burnDown",
        title: t("burnDown", row.budgetName),
        note: `${forecast(t, row)} ${t("burnDownNote")}`,
        kind: "line",
        isWide: true,
        data: {
          title: t("day"),
          labels,
          links: days.map(takenOn),
          series,
          extra: [
            {
              label: t("spentThatDay"),
              values: [...days.map((day) => byDay.get(day) || 0), ...coming.map(() => null)],
              texts: [...days.map((day) => money(byDay.get(day) || 0)), ...coming.map(() => Numbers.NOTHING)],
              units
            }
          ]
        }
      });
    }

    function figures(desk, row) {
      const {t} = desk;
      const money = (value) => Numbers.money(value, row.currency);
      return Cards.figures([
        {label: t("remaining"), value: money(row.remainingAmount), note: t("ofTotal", money(row.totalAmount))},
        {
          label: t("used"),
          value: Numbers.percent(row.utilizationPct),
          note: row.budgetName,
          isUrgent: row.utilizationPct > 80
        },
        {label: t("burnRate"), value: money(row.dailyBurnRate), note: t("burnRateNote")},
        {
          label: t("exhaustion"),
          value: Numbers.date(row.projectedExhaustion),
          note: row.validTo ? t("validTo", Numbers.date(row.validTo)) : ""
        }
      ]);
    }

    async function shares(desk, row) {
      const {t, read} = desk;
      const filter = `budgetId eq ${row.budgetId}`;
      const [{rows}] = await read("reporting", [
        {set: "StakeholderCostBreakdown", filter, orderby: "stakeholderCost desc", top: 20}
      ]);
      const money = (label, name) =>
        Cards.series(
          label,
          rows,
          (one) => one[name],
          (value) => Numbers.money(value, row.currency),
          {units: rows.map(() => row.currency)}
        );
      return Cards.chart(t, {
        id: "shares",
        title: t("shares", row.budgetName),
        kind: "doughnut",
        height: "16rem",
        data: {
          title: t("stakeholder"),
          labels: rows.map((one) => one.stakeholderName),
          links: rows.map((one) => `#object/Stakeholders/${one.stakeholderId}`),
          series: [money(t("cost"), "stakeholderCost")],
          extra: [
            Cards.words(t("share"), rows, (one) => Numbers.percent(one.sharePercentage)),
            money(t("contributions"), "contributionsTotal"),
            money(t("balance"), "netBalance")
          ]
        }
      });
    }

    /** Who bears what, over all budgets of the currency that the chosen one has. */
    function stakeholders(desk, currency) {
      const {t, read} = desk;
      return Cards.ranking(t, {
        id: "stakeholders",
        title: t("stakeholders", currency),
        load: async (top) => {
          const sums = {cost: "stakeholderCost", paid: "contributionsTotal", balance: "netBalance"};
          const apply = Service.sums(
            `currency eq ${Service.text(currency)}`,
            ["stakeholderId", "stakeholderName"],
            sums
          );
          const [{rows, count}] = await read("reporting", [
            {set: "StakeholderCostBreakdown", apply, orderby: "cost desc", top, count: true}
          ]);
          const money = (label, name) =>
            Cards.series(
              label,
              rows,
              (row) => row[name],
              (value) => Numbers.money(value, currency),
              {units: rows.map(() => currency)}
            );
          return {
            count,
            data: {
              title: t("stakeholder"),
              labels: rows.map((row) => row.stakeholderName),
              links: rows.map((row) => `#object/Stakeholders/${row.stakeholderId}`),
              series: [money(t("cost"), "cost")],
              extra: [money(t("contributions"), "paid"), money(t("balance"), "balance")]
            }
          };
        }
      });
    }

    /** What was taken from a budget, day by day. */
    async function consumption(key, begin) {
      const days = `filter(budget_ID eq ${key} and consumedAt ge ${begin})/compute(date(consumedAt) as day)`;
      const apply = `${days}/${Service.sums("", ["day"], {amount: "amount"})}`;
      const [{rows}] = await Service.read("admin", [{set: "BudgetConsumptions", orderby: "day", apply}]);
      return rows;
    }

    /** How far budgets are used up, when they will be empty, and who pays. */
    return async function budgets(desk) {
      const {state, read, t} = desk;
      const chosen = state.budget ? {filter: `budgetId eq ${state.budget}`} : {orderby: "utilizationPct desc"};
      const [
        {
          rows: [row]
        }
      ] = await read("reporting", [{set: "BudgetUtilization", ...chosen, top: 1}]);
      if (!row) {
        return [
          Cards.box({
            id: "utilization",
            title: t("utilization"),
            isWide: true,
            content: [new Text({text: t("nothing")})]
          })
        ];
      }
      const {budgetName, currency} = row;
      const {begin} = Period.moments(state);
      const parts = await Promise.all([
        desk.part({id: "utilization", title: t("utilization")}, async () => [await utilization(desk)]),
        [figures(desk, row)],
        desk.part({id: "burnDown", title: t("burnDown", budgetName)}, async () => [
          burnDown(desk, row, await consumption(row.budgetId, begin))
        ]),
        desk.part({id: "shares", title: t("shares", budgetName)}, async () => [await shares(desk, row)]),
        desk.part({id: "stakeholders", title: t("stakeholders", currency)}, async () => [
          await stakeholders(desk, currency)
        ])
      ]);
      return parts.flat();
    };
  }
);
