sap.ui.define([], function () {
  "use strict";

  /** Amounts in thousandths are whole numbers, of which sums are exact. */
  const thousandths = (amount) => Math.round(Number(amount) * 1000);

  /**
   * What was left of a budget at the end of each day, counted back from what is left now.
   *
   * `days` follow one another up to today; `consumed` are the service's sums, `{day, amount}`.
   */
  return function leftAtEnd(remaining, days, consumed) {
    const byDay = new Map(consumed.map(({day, amount}) => [day, amount]));
    let left = thousandths(remaining);
    return days
      .toReversed()
      .map((day) => {
        const atEnd = left;
        left += thousandths(byDay.get(day) || 0);
        return atEnd / 1000;
      })
      .reverse();
  };
});
