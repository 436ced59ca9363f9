sap.ui.define(["promenade/reports/Numbers"], function (Numbers) {
  "use strict";

  /** Amounts have at most three decimals: as whole numbers they are equal, or zero, exactly. */
  const thousandths = (value) => Math.round(Number(value ?? 0) * 1000);

  /** Figures of a period beside those of an earlier one, which is `desk.comparison`; nothing without one. */
  const Comparison = {
    /** By how many percent a figure has changed: nothing to divide by is new, or no change. */
    change(t, now, then) {
      const [one, other] = [thousandths(now), thousandths(then)];
      if (other === 0) {
        return one === 0 ? Numbers.percent(0) : t("isNew");
      }
      return Numbers.percent((((one - other) / Math.abs(other)) * 100).toFixed(1), true);
    },

    /** The line below a figure. */
    note({t, comparison}, now, then, write) {
      const {from, to} = comparison;
      const change = Comparison.change(t, now, then);
      return t("comparedWith", write(then ?? 0), Numbers.date(from), Numbers.date(to), change);
    },

    /** What a series is called in the earlier period. */
    label: ({t, comparison}, label) => t("inPeriod", label, Numbers.date(comparison.from), Numbers.date(comparison.to)),

    /**
     * Columns for a table: what each row was in the earlier period, and by how much that has changed.
     *
     * `series` is that of the chosen period, `thens` the earlier values of its rows, `write` writes one.
     */
    columns(desk, series, thens, write) {
      if (!desk.comparison) {
        return [];
      }
      const changes = series.values.map((now, index) => Comparison.change(desk.t, now, thens[index]));
      return [
        {
          label: Comparison.label(desk, series.label),
          values: thens.map((one) => one ?? 0),
          texts: thens.map((one) => write(one ?? 0)),
          units: series.units
        },
        {label: `${series.label}: ${desk.t("change")}`, values: [], texts: changes}
      ];
    }
  };

  return Comparison;
});
