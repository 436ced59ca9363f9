sap.ui.define(
  [
    "sap/m/Text",
    "sap/m/VBox",
    "promenade/reports/Cards",
    "promenade/reports/Numbers",
    "promenade/reports/Service",
    "promenade/reports/TrialPlan",
    "promenade/reports/Verdict"
  ],
  function (Text, VBox, Cards, Numbers, Service, TrialPlan, Verdict) {
    "use strict";

    const between = (t, key, range) => (range ? ` ${t(key, ...range.map((one) => Numbers.decimal(one, 1)))}` : "");
    const range = (row, name) => (row[`${name}Low`] === null ? null : [row[`${name}Low`], row[`${name}High`]]);

    function baskets(t, row) {
      const given = {
        uplift: row.revenueUplift,
        pValue: row.revenuePValue,
        level: row.significanceLevel,
        treated: row.experimentTransactions,
        control: row.controlTransactions
      };
      return Verdict.ofBaskets(t, given) + between(t, "intervalBaskets", range(row, "revenueUplift"));
    }

    function rates(t, row) {
      const given = {
        uplift: row.uplift,
        pValue: row.pValue,
        level: row.significanceLevel,
        treated: row.experimentTransactions,
        control: row.controlTransactions,
        treatedHits: row.experimentConversions,
        controlHits: row.controlConversions
      };
      return Verdict.ofRates(t, given) + between(t, "intervalRates", Verdict.intervalOfRates(given));
    }

    /** Both arms against their own past; without one it warns that the shops may differ. */
    function past(t, row) {
      if (row.adjustedUplift === null) {
        return t("noPast");
      }
      const given = {
        uplift: row.adjustedUplift,
        pValue: row.adjustedPValue,
        level: row.significanceLevel,
        treated: row.experimentTransactions,
        control: row.controlTransactions
      };
      return t(
        "verdictPast",
        row.pastDays,
        Numbers.money(row.experimentPastAvgBasket, row.currency),
        Numbers.money(row.controlPastAvgBasket, row.currency),
        Verdict.ofGain(t, given)
      );
    }

    function significance(t, isSignificant, pValue) {
      return pValue === null ? t("untested") : t(isSignificant ? "significant" : "notSignificant");
    }

    /** Uplifts, in figures; `name` of what is judged. */
    function figures(t, row, name) {
      const mark = (isSignificant, pValue) => significance(t, isSignificant, pValue);
      return Cards.figures([
        {
          label: t("upliftBaskets"),
          value: Numbers.percent(row.revenueUplift, true),
          note: mark(row.revenueIsSignificant, row.revenuePValue)
        },
        ...(row.adjustedUplift === null
          ? []
          : [
              {
                label: t("upliftAdjusted"),
                value: Numbers.percent(row.adjustedUplift, true),
                note: mark(row.adjustedIsSignificant, row.adjustedPValue)
              }
            ]),
        {
          label: t("upliftRates"),
          value: Numbers.percent(row.uplift, true),
          note: mark(row.isSignificant, row.pValue)
        },
        {
          label: t("armTreated"),
          value: t("basketsCount", Numbers.whole(row.experimentTransactions)),
          note: name
        },
        {
          label: t("armControl"),
          value: t("basketsCount", Numbers.whole(row.controlTransactions)),
          note: t("armControlNote")
        }
      ]);
    }

    /** Uplift, in figures and in words. */
    function verdict(desk, row, name) {
      const {t} = desk;
      return [
        figures(t, row, name),
        Cards.box({
          id: "verdict",
          title: t("verdictOn", name),
          isWide: true,
          content: [
            new VBox({
              items: [
                new Text({text: t("verdictBaskets", baskets(t, row))}).addStyleClass(
                  "promVerdict sapUiSmallMarginBottom"
                ),
                new Text({text: past(t, row)}).addStyleClass("promVerdict sapUiSmallMarginBottom"),
                new Text({text: t("verdictRates", rates(t, row))}).addStyleClass("promVerdict sapUiSmallMarginBottom"),
                new Text({text: t("verdictCaution")}).addStyleClass("promVerdict sapThemeTextLight")
              ]
            })
          ]
        })
      ];
    }

    /** What the error bars say, for the table. */
    function interval(t, rows, name, write) {
      return Cards.words(t("interval"), rows, (row) => {
        const bounds = range(row, name);
        return bounds ? t("fromTo", ...bounds.map((one) => write(one, row))) : Numbers.NOTHING;
      });
    }

    function arms(desk, rows, {id, name, write, more}) {
      const {t} = desk;
      return Cards.chart(t, {
        id,
        title: t(id),
        kind: "ranking",
        height: "10rem",
        data: {
          title: t("arm"),
          labels: rows.map(({arm}) => t(`arm.${arm}`)),
          links: rows.map(({promotionId}) => desk.hrefOf("performance", {promotion: promotionId})),
          series: [
            Cards.series(t(id), rows, (row) => row[name], write, {
              isEachOwn: true,
              bounds: rows.map((row) => range(row, name))
            })
          ],
          extra: [...more, interval(t, rows, name, write)]
        }
      });
    }

    /** One verdict, or one for each currency: amounts of several are not compared. */
    function verdicts(desk, row, details) {
      return row.currency
        ? verdict(desk, row, row.promotionName)
        : details.flatMap((one) => verdict(desk, one, `${row.promotionName}, ${one.currency}`));
    }

    function averages(desk, rows) {
      const {t} = desk;
      const money = (value, row) => Numbers.money(value, row.currency);
      return arms(desk, rows, {
        id: "averageBasket",
        name: "avgBasket",
        write: money,
        more: [
          desk.whole(t("baskets"), rows, "transactions"),
          Cards.series(t("revenue"), rows, (row) => row.revenue, money, {units: rows.map(({currency}) => currency)}),
          Cards.series(t("discount"), rows, (row) => row.totalDiscount, money, {
            units: rows.map(({currency}) => currency)
          })
        ]
      });
    }

    function sideBySide(desk, rows) {
      const {t} = desk;
      return [
        ...(rows.some((row) => row.currency) ? [averages(desk, rows)] : []),
        arms(desk, rows, {
          id: "conversionRate",
          name: "conversionRate",
          write: (value) => Numbers.percent(value),
          more: [desk.whole(t("conversions"), rows, "conversions"), desk.whole(t("baskets"), rows, "transactions")]
        })
      ];
    }

    function byDay(desk, rows, promotion) {
      const {t} = desk;
      return Cards.chart(t, {
        id: "trialDays",
        title: t("trialDays"),
        kind: "line",
        isWide: true,
        data: {
          title: t("day"),
          labels: rows.map(({day}) => Numbers.day(day)),
          links: rows.map(({day}) => desk.hrefOf("sales", {promotion, from: day, to: day})),
          series: [
            {...desk.whole(t("arm.CONTROL"), rows, "control"), colour: 0},
            {...desk.whole(t("arm.EXPERIMENT"), rows, "treated"), colour: 1}
          ],
          extra: [
            desk.whole(t("conversionsTreated"), rows, "treatedHits"),
            desk.whole(t("conversionsControl"), rows, "controlHits")
          ]
        }
      });
    }

    /** What a pilot was to reach, and what becomes of it. */
    function plan(desk, [row]) {
      const {t} = desk;
      if (!row) {
        return [];
      }
      const text =
        row.autoPromote && row.autoPromoteThreshold !== null
          ? t("autoPromote", Numbers.percent(row.autoPromoteThreshold))
          : t("noAutoPromote");
      return [
        Cards.box({
          id: "plan",
          title: t("pilotPlan"),
          isWide: true,
          content: [
            new Text({
              text: `${t("pilotPeriod", Numbers.date(row.pilotStartAt), Numbers.date(row.pilotEndAt))} ${text}`
            })
          ]
        })
      ];
    }

    function trials(desk) {
      const {t, read} = desk;
      return Cards.ranking(t, {
        id: "trials",
        title: t("trials"),
        note: t("trialsNote"),
        isWide: true,
        axis: (value) => Numbers.percent(value),
        load: async (top) => {
          const query = {set: "ABTestResults", orderby: "revenueUplift desc", top, count: true};
          const [{rows, count}] = await read("reporting", [query]);
          const mark = (row, p, is) => significance(t, row[is], row[p]);
          return {
            count,
            data: {
              title: t("promotion"),
              labels: rows.map((row) => row.promotionName),
              links: rows.map((row) => desk.href({promotion: row.promotionId})),
              series: [
                Cards.series(
                  t("upliftBaskets"),
                  rows,
                  (row) => row.revenueUplift,
                  (value) => Numbers.percent(value, true),
                  {bounds: rows.map((row) => range(row, "revenueUplift"))}
                )
              ],
              extra: [
                interval(t, rows, "revenueUplift", (value) => Numbers.percent(value, true)),
                Cards.words(t("significance"), rows, (row) => mark(row, "revenuePValue", "revenueIsSignificant")),
                Cards.series(
                  t("upliftRates"),
                  rows,
                  (row) => row.uplift,
                  (value) => Numbers.percent(value, true)
                ),
                Cards.words(t("significance"), rows, (row) => mark(row, "pValue", "isSignificant")),
                Cards.words(t("trial"), rows, (row) => t(`trial.${row.trial}`))
              ]
            }
          };
        }
      });
    }

    async function firstTrial() {
      const row = await Service.first("reporting", {
        set: "ABTestResults",
        orderby: "revenueUplift desc",
        select: "promotionId"
      });
      return row && row.promotionId;
    }

    /** Of the chosen one, else of the one with the greatest uplift, both arms side by side. */
    async function ofOne(desk) {
      const {state, read, t} = desk;
      const promotion = state.promotion || (await firstTrial());
      if (!promotion) {
        return [];
      }
      const filter = `promotionId eq ${promotion}`;
      const sums = {
        treated: "shown",
        treatedHits: "converted",
        control: "controlTransactions",
        controlHits: "controlConverted"
      };
      const [[row], details, both, days, pilot] = (
        await read("reporting", [
          {set: "ABTestResults", filter, top: 1},
          {set: "ABTestResultsByCurrency", filter, orderby: "currency"},
          {set: "PromotionAbComparison", filter, orderby: "arm"},
          {set: "DailyABTestAggregates", apply: Service.sums(filter, ["day"], sums), orderby: "day"},
          {set: "PilotComparisonReports", filter: `${filter} and arm ne 'CONTROL'`, top: 1}
        ])
      ).map(({rows}) => rows);
      const results = row && !row.currency ? details : [row].filter(Boolean);
      const {tops, boxes} = await TrialPlan.create(desk, promotion, results);
      if (!row) {
        const text = t(tops.length ? "noTrialYet" : "noTrial");
        const box = Cards.box({id: "verdict", title: t("verdict"), isWide: true, content: [new Text({text})]});
        return [...tops, box, ...boxes];
      }
      return [
        ...tops,
        ...verdicts(desk, row, details),
        ...sideBySide(desk, both),
        ...boxes,
        byDay(desk, days, promotion),
        ...plan(desk, pilot)
      ];
    }

    /** Both arms of a pilot or an experiment, and what may be concluded; and all of them by their uplift. */
    return async function abTests(desk) {
      const {t} = desk;
      const parts = await Promise.all([
        desk.part({id: "verdict", title: t("verdict")}, () => ofOne(desk)),
        desk.part({id: "trials", title: t("trials")}, async () => [await trials(desk)])
      ]);
      return parts.flat();
    };
  }
);
