sap.ui.define(
  [
    "sap/m/VBox",
    "promenade/promotions/Attaching",
    "promenade/promotions/FreshBudget",
    "promenade/promotions/FreshCoupon"
  ],
  function (VBox, Attaching, FreshBudget, FreshCoupon) {
    "use strict";

    /** Coupon types and budgets of a promotion, linked or made with it: they are stored when it is saved. */
    return class Links {
      constructor({onChange}) {
        this._coupons = new Attaching({
          key: "coupon",
          set: "CouponTypes",
          link: "CouponTypePromotions",
          part: "couponType",
          fresh: new FreshCoupon(onChange),
          onChange
        });
        this._budgets = new Attaching({
          key: "budget",
          set: "Budgets",
          link: "BudgetPromotions",
          part: "budget",
          fresh: new FreshBudget(onChange),
          onChange
        });
        this._both = [this._coupons, this._budgets];
        this.control = new VBox({items: this._both.map((one) => one.control)});
      }

      /** Shows what a promotion is linked with; what was chosen and not saved stays. */
      async show(shown) {
        await Promise.all(this._both.map((one) => one.show(shown)));
      }

      /** Begins a new coupon. */
      addCoupon() {
        this._coupons.begin();
      }

      /** What it is linked with in words: `{coupon, budget}`. */
      words() {
        return {coupon: this._coupons.words(), budget: this._budgets.words()};
      }

      isChanged() {
        return this._both.some((one) => one.isChanged());
      }

      forget() {
        this._both.forEach((one) => one.forget());
      }

      /** Whether it can be saved; the first field that is wrong has the cursor. */
      isValid() {
        return this._both.every((one) => one.isValid());
      }

      /** What a change set must hold so that it is stored, once the promotion is. */
      requests(promotionId, name) {
        return this._both.flatMap((one) => one.requests(promotionId, name));
      }

      /** Whether coupons are there that were not before, when there were none. */
      isNewlyBound() {
        return this._coupons.isFirst();
      }
    };
  }
);
