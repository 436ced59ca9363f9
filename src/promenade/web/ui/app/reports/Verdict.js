sap.ui.define(["promenade/reports/Numbers"], function (Numbers) {
  "use strict";

  const FEW = 30;
  // The normal distribution's quantile for 95 %, which t approaches with baskets as many as FEW and more.
  const QUANTILE = 1.96;

  /** Three decimals, or four where three would put it on the wrong side of the level. */
  function written(pValue, level) {
    if (pValue < 0.001) {
      return `< ${Numbers.decimal(0.001, 3)}`;
    }
    return `= ${Numbers.decimal(pValue, Math.abs(pValue - level) < 0.0005 ? 4 : 3)}`;
  }

  /** How often chance alone brings it about, said so that nobody takes it for the chance that there is no effect. */
  function chance(t, pValue, level) {
    const often = Math.round(pValue * 100);
    return often < 1
      ? t("fewerThanOne", written(pValue, level))
      : t("aboutOf100", written(pValue, level), String(often));
  }

  function judged(t, pValue, level) {
    return `${chance(t, pValue, level)} ${t(pValue < level ? "isSignificant" : "isNotSignificant")}`;
  }

  function difference(t, key, uplift) {
    const size = Numbers.percent(Math.abs(uplift));
    return uplift === 0 ? t(`${key}Same`) : t(uplift > 0 ? `${key}Higher` : `${key}Lower`, size);
  }

  function of(t, key, {uplift, pValue, level, treated, control}) {
    if (treated < 2 || control < 2) {
      return t("tooFew", String(treated), String(control));
    }
    if (pValue === null) {
      return t("cannotBeTested");
    }
    const said = uplift === null ? [] : [difference(t, key, uplift)];
    const caution = Math.min(treated, control) < FEW ? [t("fewBaskets", String(FEW))] : [];
    return [...said, judged(t, pValue, level), ...caution].join(" ");
  }

  function figuresOf(row) {
    const isOfPast = row.adjustedPValue !== null && row.adjustedUplift !== null;
    return isOfPast
      ? {
          isOfPast,
          isSignificant: row.adjustedIsSignificant,
          uplift: row.adjustedUplift,
          low: row.adjustedUpliftLow,
          high: row.adjustedUpliftHigh
        }
      : {
          isOfPast,
          isSignificant: row.revenueIsSignificant && row.revenueUplift !== null,
          uplift: row.revenueUplift,
          low: row.revenueUpliftLow,
          high: row.revenueUpliftHigh
        };
  }

  /** What it still takes to tell the planned difference. */
  function needed(t, plan) {
    if (plan.baskets === null) {
      return "";
    }
    const size = Numbers.percent(plan.difference);
    return plan.moreBaskets
      ? t("headlineNeeds", size, Numbers.about(plan.moreBaskets), Numbers.about(plan.moreDays))
      : t("headlineEnough", size);
  }

  /** What tests of significance mean, in words. `pValue` null: the service could not test; `level` of significance. */
  return {
    /** Welch's t-test of two averages: `{uplift, pValue, level, treated, control}`, percent and baskets. */
    ofBaskets: (t, given) => of(t, "basket", given),

    /** The difference in differences of two averages. */
    ofGain: (t, given) => of(t, "gain", given),

    /** The chi-squared test of two rates. */
    ofRates: (t, given) => of(t, "rate", given),

    /**
     * All in one line: `{text, isReal}`. `row` null: the trial has no sale yet; `plan` of the service; `isOfMany`: of
     * several currencies, each with a verdict.
     *
     * It is that of the arms' own past, where they have one, as when a pilot goes live by itself.
     */
    headline(t, row, plan, isOfMany = false) {
      if (!row) {
        return {text: [t("headlineBefore"), needed(t, plan)].join(" "), isReal: false};
      }
      const found = figuresOf(row);
      const lead = isOfMany ? `${row.currency}: ` : "";
      if (found.isSignificant) {
        const {uplift, low, high} = found;
        const bounds = uplift < 0 ? [-high, -low] : [low, high];
        const caution = Math.min(row.experimentTransactions, row.controlTransactions) < FEW;
        const words = t(
          `headline${uplift < 0 ? "Less" : "More"}`,
          ...[Math.abs(uplift), ...bounds].map((one) => Numbers.percent(one)),
          t(found.isOfPast ? "headlineReal" : "headlineShops")
        );
        return {text: lead + [words, ...(caution ? [t("fewBaskets", String(FEW))] : [])].join(" "), isReal: true};
      }
      const range = [found.low, found.high].map((one) => Numbers.percent(one, true));
      const yet = found.low === null ? t("headlineNothing") : t("headlineNotYet", ...range);
      const isPlanned = plan.currency === row.currency || !isOfMany;
      return {text: lead + [yet, ...(isPlanned ? [needed(t, plan)] : [])].join(" ").trim(), isReal: false};
    },

    /** The 95 % confidence interval of the difference of two rates, in percentage points, from counts. */
    intervalOfRates({treated, treatedHits, control, controlHits}) {
      if (Math.min(treated, control) < FEW) {
        return null;
      }
      const [one, other] = [treatedHits / treated, controlHits / control];
      const reach = QUANTILE * Math.sqrt((one * (1 - one)) / treated + (other * (1 - other)) / control);
      return [100 * (one - other - reach), 100 * (one - other + reach)];
    }
  };
});
