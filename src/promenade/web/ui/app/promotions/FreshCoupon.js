sap.ui.define(
  [
    "sap/m/HBox",
    "sap/m/Input",
    "sap/m/Select",
    "sap/ui/core/Item",
    "promenade/net/Ids",
    "promenade/promotions/Creating",
    "promenade/promotions/Texts"
  ],
  function (HBox, Input, Select, Item, Ids, Creating, Texts) {
    "use strict";

    const KINDS = ["GENERIC", "INDIVIDUAL"];
    const QUANTITY = "1000";

    function require(input, isGood, key) {
      input.setValueState(isGood ? "None" : "Error");
      input.setValueStateText(Texts.get(key));
      if (!isGood) {
        input.focus();
      }
      return isGood;
    }

    /** A coupon that is made with its promotion: one code for all, or codes of their own. */
    return class FreshCoupon {
      constructor(onChange) {
        this._kind = new Select({
          width: "17rem",
          items: KINDS.map((key) => new Item({key, text: Texts.get(`links.coupon.${key}`)})),
          change: () => {
            this._show();
            onChange();
          }
        });
        this._code = new Input({maxLength: 64, required: true, change: onChange});
        this._quantity = new Input({required: true, change: onChange});
        const labelled = (key, input) => Creating.labelled(Texts.get(`links.coupon.${key}`), input);
        this._codeBox = labelled("code", this._code);
        this._quantityBox = labelled("quantity", this._quantity);
        this.control = new HBox({items: [labelled("kind", this._kind), this._codeBox, this._quantityBox]});
        this.control.addStyleClass("promenadeFresh");
      }

      /** Another one: it has a code of its own. */
      begin() {
        this._kind.setSelectedKey(KINDS[0]);
        this._code.setValue(Ids.readable("")).setValueState("None");
        this._quantity.setValue(QUANTITY).setValueState("None");
        this._show();
      }

      _isForAll() {
        return this._kind.getSelectedKey() === "GENERIC";
      }

      _show() {
        this._codeBox.setVisible(this._isForAll());
        this._quantityBox.setVisible(!this._isForAll());
      }

      setVisible(isVisible) {
        this.control.setVisible(isVisible);
      }

      focus() {
        setTimeout(() => this._kind.focus()); // once it is there
      }

      words() {
        return this._isForAll()
          ? Texts.get("links.coupon.saidCode", [this._code.getValue().trim()])
          : Texts.get("links.coupon.saidCodes", [this._quantity.getValue().trim()]);
      }

      isValid() {
        return this._isForAll()
          ? require(this._code, this._code.getValue().trim() !== "", "links.coupon.codeMissing")
          : require(this._quantity, /^[1-9]\d{0,6}$/.test(
              this._quantity.getValue().trim()
            ), "links.coupon.quantityMissing");
      }

      requests(id, name) {
        const given = this._isForAll() ? {genericCode: this._code.getValue().trim()} : {};
        const type = {
          ID: id,
          code: Ids.readable(name),
          name,
          status: "ACTIVE",
          codeType: this._kind.getSelectedKey(),
          ...given,
          IsActiveEntity: true
        };
        const batch = {couponType_ID: id, name, quantity: Number(this._quantity.getValue().trim())};
        return [
          {method: "POST", url: "CouponTypes", body: type},
          ...(this._isForAll() ? [] : [{method: "POST", url: "CouponCodeBatches", body: batch}])
        ];
      }
    };
  }
);
