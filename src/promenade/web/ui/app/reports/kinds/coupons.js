sap.ui.define(
  ["promenade/generic/Addresses", "promenade/reports/Cards", "promenade/reports/Numbers", "promenade/reports/Service"],
  function (Addresses, Cards, Numbers, Service) {
    "use strict";

    const SUMS = {
      pooled: "totalPooled",
      issued: "totalIssued",
      reserved: "totalReserved",
      redeemed: "totalRedeemed",
      expired: "totalExpired",
      cancelled: "totalCancelled"
    };
    const NOTHING = {pooled: 0, issued: 0, reserved: 0, redeemed: 0, expired: 0, cancelled: 0};

    /** Codes of a status are a list; those in the pool and those issued are told by their type. */
    const LISTED = {reserved: "RESERVED", redeemed: "REDEEMED", expired: "EXPIRED", cancelled: "CANCELLED"};

    function behind(desk, step, type) {
      if (!LISTED[step]) {
        return type ? Addresses.href("CouponTypes", type.couponTypeId) : "#/list/CouponTypes";
      }
      const ofType = type && {couponType_ID: [{key: type.couponTypeId, text: type.couponTypeName}]};
      return desk.listHref("CouponCodes", {filters: {status: [LISTED[step]], ...ofType}});
    }

    function funnel(desk, sums, title, type) {
      const {t} = desk;
      const steps = ["pooled", "issued", "reserved", "redeemed", "expired", "cancelled"];
      const rows = steps.map((step) => ({step, value: sums[step] ?? 0}));
      return Cards.chart(t, {
        id: "funnel",
        title,
        note: t("funnelNote"),
        kind: "ranking",
        isWide: true,
        height: "16rem",
        data: {
          title: t("codes"),
          labels: rows.map(({step}) => t(`codes.${step}`)),
          links: rows.map(({step}) => behind(desk, step, type)),
          series: [desk.whole(t("count"), rows, "value")]
        }
      });
    }

    function types(desk, {id, filter, orderby, series}) {
      const {t, read} = desk;
      return Cards.ranking(t, {
        id,
        title: t(id),
        note: t(`${id}Note`),
        isWide: true,
        kind: series.length > 1 ? "ranking stacked" : "ranking",
        load: async (top) => {
          const [{rows, count}] = await read("reporting", [
            {set: "CouponAnalytics", filter, orderby, top, count: true}
          ]);
          return {
            count,
            data: {
              title: t("couponType"),
              labels: rows.map((row) => row.couponTypeName),
              links: rows.map((row) => desk.href({couponType: row.couponTypeId})),
              series: series.map(([key, name]) => desk.whole(t(key), rows, name)),
              extra: [
                desk.whole(t("codes.issued"), rows, "totalIssued"),
                Cards.words(t("redemptionRate"), rows, (row) => Numbers.percent(row.redemptionRate))
              ]
            }
          };
        }
      });
    }

    /** How many there are of each state, of all or of one type. */
    async function overall(desk) {
      const {
        state: {couponType},
        read,
        t
      } = desk;
      const [{rows: byKind}, one] = await read("reporting", [
        {set: "CouponAnalytics", apply: Service.sums("", ["codeType"], SUMS)},
        ...(couponType ? [{set: "CouponAnalytics", filter: `couponTypeId eq ${couponType}`, top: 1}] : [])
      ]);
      const of = (codeType) => byKind.find((row) => row.codeType === codeType) || NOTHING;
      const [individual, shared] = [of("INDIVIDUAL"), of("GENERIC")];
      const chosen = one && one.rows[0];
      const sums = chosen
        ? Object.fromEntries(Object.entries(SUMS).map(([step, name]) => [step, chosen[name]]))
        : individual;
      return [
        Cards.figures([
          {label: t("codes.issued"), value: Numbers.whole(individual.issued), note: t("individualCodes")},
          {label: t("codes.redeemed"), value: Numbers.whole(individual.redeemed), note: t("individualCodes")},
          {label: t("codes.pooled"), value: Numbers.whole(individual.pooled), note: t("individualCodes")},
          {label: t("spent"), value: Numbers.whole(shared.redeemed), note: t("sharedCodes")}
        ]),
        funnel(desk, sums, chosen ? t("funnelOf", chosen.couponTypeName) : t("funnel"), chosen)
      ];
    }

    /** What became of coupons, from the pool to the till. */
    return async function coupons(desk) {
      const {t} = desk;
      const list = (given) => desk.part({id: given.id, title: t(given.id)}, async () => [await types(desk, given)]);
      const parts = await Promise.all([
        desk.part({id: "funnel", title: t("funnel")}, () => overall(desk)),
        list({
          id: "couponTypes",
          filter: "codeType eq 'INDIVIDUAL'",
          orderby: "totalIssued desc",
          series: [
            ["codes.redeemed", "totalRedeemed"],
            ["codes.reserved", "totalReserved"],
            ["codes.expired", "totalExpired"],
            ["codes.cancelled", "totalCancelled"],
            ["codes.created", "totalCreated"],
            ["codes.active", "totalActive"]
          ]
        }),
        list({
          id: "sharedTypes",
          filter: "codeType eq 'GENERIC'",
          orderby: "totalRedeemed desc",
          series: [["spent", "totalRedeemed"]]
        })
      ]);
      return parts.flat();
    };
  }
);
