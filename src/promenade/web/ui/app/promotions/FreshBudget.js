sap.ui.define(
  [
    "sap/m/HBox",
    "sap/m/Input",
    "sap/m/VBox",
    "promenade/generic/Format",
    "promenade/generic/Lookups",
    "promenade/net/Ids",
    "promenade/promotions/AskedBudget",
    "promenade/promotions/Creating",
    "promenade/promotions/Texts",
    "promenade/promotions/usualCurrency",
    "promenade/rules/Types"
  ],
  function (HBox, Input, VBox, Format, Lookups, Ids, AskedBudget, Creating, Texts, usualCurrency, Types) {
    "use strict";

    const AMOUNT = /^\d{1,12}(\.\d{1,2})?$/;
    const CURRENCY = /^[A-Z]{3}$/;
    const decimal = new Types.Decimal();

    /** A budget that is made with its promotion, by those who may; others ask them for one. */
    return class FreshBudget {
      constructor(onChange) {
        this._onChange = onChange;
        this._amount = new Input({required: true, change: onChange});
        this._currency = new Input({required: true, maxLength: 3, width: "6rem", change: onChange});
        const labelled = (key, input) => Creating.labelled(Texts.get(`links.budget.${key}`), input);
        this._fields = new HBox({items: [labelled("amount", this._amount), labelled("currency", this._currency)]});
        this._fields.addStyleClass("promenadeFresh");
        this._asked = new AskedBudget();
        this.control = new VBox({items: [this._fields, this._asked.control]});
      }

      /** Another one, in the currency of the promotion; what is typed before another one is known stays. */
      async begin(currency) {
        this._amount.setValue("").setValueState("None");
        this._currency.setValue(currency || "").setValueState("None");
        if (!currency) {
          await Lookups.during(this._takeUsualCurrency()); // who saves at once waits for it
        }
      }

      async _takeUsualCurrency() {
        const found = await usualCurrency().catch(() => ""); // without one it is typed
        if (!this._currency.getValue()) {
          this._currency.setValue(found);
          this._onChange();
        }
      }

      setVisible(isVisible) {
        this._fields.setVisible(isVisible);
      }

      /** Shows what was asked for, for a promotion or a draft of one. */
      show(shown) {
        return this._asked.show(shown);
      }

      focus() {
        setTimeout(() => this._amount.focus()); // once it is there
      }

      _total() {
        return decimal.parseValue(this._amount.getValue().trim()) || "";
      }

      words() {
        const [total, currency] = [this._total(), this._currency.getValue().trim().toUpperCase()];
        const isKnown = AMOUNT.test(total) && CURRENCY.test(currency);
        return Texts.get("links.budget.said", [isKnown ? Format.money(total, currency) : "\u2026"]);
      }

      isValid() {
        const wrong = [
          [this._amount, AMOUNT.test(this._total()) && Number(this._total()) > 0, "links.budget.amountMissing"],
          [
            this._currency,
            CURRENCY.test(this._currency.getValue().trim().toUpperCase()),
            "links.budget.currencyMissing"
          ]
        ].filter(([input, isGood, key]) => {
          input.setValueState(isGood ? "None" : "Error");
          input.setValueStateText(Texts.get(key));
          return !isGood;
        });
        wrong[0]?.[0].focus();
        return !wrong.length;
      }

      requests(id, name) {
        const body = {
          ID: id,
          code: Ids.readable(name),
          name,
          totalAmount: this._total(),
          currency: this._currency.getValue().trim().toUpperCase(),
          status: "ACTIVE",
          IsActiveEntity: true
        };
        return [{method: "POST", url: "Budgets", body}];
      }
    };
  }
);
