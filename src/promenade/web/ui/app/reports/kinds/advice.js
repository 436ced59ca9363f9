sap.ui.define(
  ["promenade/reports/Cards", "promenade/reports/Comparison", "promenade/reports/Numbers", "promenade/reports/Service"],
  function (Cards, Comparison, Numbers, Service) {
    "use strict";

    /** Kinds of advice that evaluations give, and where what came of them is counted. */
    const KINDS = [
      "NearMissROI",
      "ThresholdGapROI",
      "ProgressiveNudgesROI",
      "SavingsSummaryROI",
      "DailyFreeItemAggregates"
    ];
    const USUAL = ["NearMissROI", "ThresholdGapROI"]; // by promotion, unless another kind is chosen
    const SUMS = {shown: "shown", converted: "converted", extraRevenue: "extraRevenue", totalDiscount: "totalDiscount"};

    /** Free items were given, not advised: nothing is held against them. */
    const hasGain = (set) => set.endsWith("ROI");

    const conditions = ({from, to, currency, promotion}) =>
      Service.all(
        `day ge ${from} and day le ${to}`,
        `currency eq ${Service.text(currency)}`,
        promotion && `promotionId eq ${promotion}`
      );

    function rate({shown, converted}) {
      return shown ? (100 * converted) / shown : null;
    }

    function summary(desk, rows, before) {
      const {t} = desk;
      const extra = desk.money(t("extraRevenue"), rows, "extraRevenue");
      const given = desk.money(t("discount"), rows, "totalDiscount");
      const gain = desk.money(t("netGain"), rows, "netGain");
      const links = rows.map(({set}) => desk.href({advice: set}));
      const compared = (series, name) => {
        const thens = rows.map((_, index) => before[index]?.[name]);
        return Comparison.columns(desk, series, thens, desk.writeMoney);
      };
      return [
        Cards.chart(t, {
          id: "adviceMoney",
          title: t("adviceMoney"),
          note: t("adviceMoneyNote"),
          kind: "bar",
          isWide: true,
          data: {
            title: t("kind"),
            labels: rows.map(({set}) => t(`advice.${set}`)),
            links,
            series: [extra, given],
            extra: [gain, ...compared(extra, "extraRevenue"), ...compared(given, "totalDiscount")]
          }
        }),
        Cards.chart(t, {
          id: "adviceRate",
          title: t("adviceRate"),
          note: t("adviceRateNote"),
          kind: "ranking",
          isWide: true,
          height: "14rem",
          axis: (value) => Numbers.percent(value),
          data: {
            title: t("kind"),
            labels: rows.map(({set}) => t(`advice.${set}`)),
            links,
            series: [
              Cards.series(t("adviceRate"), rows, rate, (value) =>
                value === null ? Numbers.NOTHING : Numbers.percent(Number(value.toFixed(1)))
              )
            ],
            extra: [desk.whole(t("shown"), rows, "shown"), desk.whole(t("converted"), rows, "converted")]
          }
        })
      ];
    }

    function byPromotion(desk, set, filter) {
      const {t, read} = desk;
      return Cards.ranking(t, {
        id: `advice-${set}`,
        title: t("adviceBy", t(`advice.${set}`)),
        isWide: true,
        load: async (top) => {
          const [most, said] = hasGain(set) ? ["netGain", "netGain"] : ["totalDiscount", "discount"];
          const apply = Service.sums(filter, ["promotionId", "promotionName"], {...SUMS, [most]: most});
          const [{rows, count}] = await read("reporting", [{set, apply, orderby: `${most} desc`, top, count: true}]);
          return {
            count,
            data: {
              title: t("promotion"),
              labels: rows.map((row) => row.promotionName),
              links: rows.map((row) => desk.href({promotion: row.promotionId})),
              series: [desk.money(t(said), rows, most)],
              extra: [
                desk.money(t("extraRevenue"), rows, "extraRevenue"),
                desk.money(t("discount"), rows, "totalDiscount"),
                desk.whole(t("shown"), rows, "shown"),
                desk.whole(t("converted"), rows, "converted")
              ]
            }
          };
        }
      });
    }

    /** Every kind, side by side; and those to compare with. */
    async function overall(desk) {
      const queries = (filter) =>
        KINDS.map((set) => ({
          set,
          apply: Service.sums(filter, [], hasGain(set) ? {...SUMS, netGain: "netGain"} : SUMS)
        }));
      const earlier = desk.comparison ? queries(conditions(desk.earlier)) : [];
      const answers = await desk.read("reporting", [...queries(conditions(desk.state)), ...earlier]);
      const nothing = {shown: 0, converted: 0, extraRevenue: 0, totalDiscount: 0, netGain: null};
      const known = (row) =>
        Object.fromEntries(Object.entries(row || {}).map(([name, value]) => [name, value ?? nothing[name]]));
      const rows = answers.map(({rows: [row]}, index) => ({
        ...nothing,
        ...known(row),
        set: KINDS[index % KINDS.length]
      }));
      return summary(desk, rows.slice(0, KINDS.length), rows.slice(KINDS.length));
    }

    /** Whether what tills tell customers pays. */
    return async function advice(desk) {
      const {state, t} = desk;
      const filter = conditions(state);
      const detailed = state.promotion
        ? []
        : KINDS.filter((set) => (state.advice ? [state.advice] : USUAL).includes(set));
      const parts = await Promise.all([
        desk.part({id: "adviceMoney", title: t("adviceMoney")}, () => overall(desk)),
        ...detailed.map((set) =>
          desk.part({id: `advice-${set}`, title: t("adviceBy", t(`advice.${set}`))}, async () => [
            await byPromotion(desk, set, filter)
          ])
        )
      ]);
      return parts.flat();
    };
  }
);
