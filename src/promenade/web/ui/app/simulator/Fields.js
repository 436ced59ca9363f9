sap.ui.define(
  ["promenade/generic/Messages", "promenade/generic/Reference", "promenade/simulator/Lookup"],
  function (Messages, Reference, Lookup) {
    "use strict";

    /** The lists that fields of the customer suggest from; a till may send other codes all the same. */
    const LISTS = {customerGroup: "CustomerGroups", tier: "LoyaltyTiers"};
    const listOf = (input) => LISTS[input.getId().split("--").pop()];

    /** What the simulator's controller does with codes and fields that are entered one by one, and become tokens. */
    return {
      onCouponTyped(event) {
        const field = event.getSource();
        const code = field.getValue().trim();
        const {coupons} = this._model.getProperty("/basket");
        if (code && !coupons.includes(code)) {
          coupons.push(code);
        }
        field.setValue("");
        this._changed();
      },

      onSuggestListed(event) {
        const input = event.getSource();
        const source = {set: listOf(input), key: "code", shown: ["name", "code"]};
        Reference.suggest(input, source, event.getParameter("suggestValue"));
      },

      /** Warns of a code that is on no list. The basket is priced with it all the same, as with that of a till. */
      async onListed(event) {
        const input = event.getSource();
        const code = input.getValue().trim();
        this._changed();
        try {
          const isListed = !code || (await Lookup.isThere(listOf(input), "code", code));
          if (input.getValue().trim() === code) {
            input.setValueState(isListed ? "None" : "Warning");
          }
        } catch (error) {
          Messages.show(error);
        }
      },

      onTokens(event) {
        const removed = event.getParameter("removedTokens").map((token) => token.getKey());
        const basket = this._model.getProperty("/basket");
        basket.coupons = basket.coupons.filter((code) => !removed.includes(code));
        this._changed();
      },

      /** A field of the line that is looked at more closely, or of the whole basket. */
      onFieldTyped(event) {
        const field = event.getSource();
        const typed = field.getValue().trim();
        const [, key, value] = /^([^=]{1,100}?)\s*=\s*(.{1,255})$/.exec(typed) || [];
        field.setValueState(key || !typed ? "None" : "Error");
        if (key) {
          const holder = this._holder(field);
          holder.fields = [...holder.fields.filter((one) => one.key !== key), {key, value}];
          field.setValue("");
          this._changed();
        }
      },

      onFieldTokens(event) {
        const removed = event.getParameter("removedTokens").map((token) => token.getKey());
        const holder = this._holder(event.getSource());
        holder.fields = holder.fields.filter(({key}) => !removed.includes(key));
        this._changed();
      },

      _holder(field) {
        return (field.getBindingContext("sim") || this._model.getContext("/basket")).getObject();
      },

      // ---- one line, looked at more closely

      /** What a line may say beyond article, quantity and price. */
      async onMore(event) {
        const line = event.getSource().getBindingContext("sim");
        this._lineFields ||= this.loadFragment({name: "promenade.simulator.LineFields"});
        const dialog = await this._lineFields;
        this.byId("lineMore").setValue("").setValueState("None");
        dialog.setBindingContext(line, "sim").open();
      },

      onMoreDone() {
        this.byId("lineFields").close();
      }
    };
  }
);
