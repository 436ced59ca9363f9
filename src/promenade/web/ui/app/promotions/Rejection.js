sap.ui.define(["promenade/net/Http", "promenade/promotions/Texts"], function (Http, Texts) {
  "use strict";

  /** Why, by whom and when a promotion was last rejected, if somebody gave a reason. */
  async function sentence(id) {
    const filter = `promotion_ID eq ${id} and status eq 'REJECTED'`;
    const query = `$filter=${filter}&$orderby=decidedAt desc&$top=1&$select=decidedAt,decidedBy,reason`;
    const {value} = await Http.get(`/admin/PromotionApprovals?${query}`);
    const [last] = value;
    return last ? Texts.get("rejected", [last.decidedBy, Texts.moment(last.decidedAt), last.reason]) : "";
  }

  /** The reason of a rejection, on top of the page while the promotion is rejected. */
  return class Rejection {
    constructor(strip) {
      this._strip = strip;
    }

    async show(shown) {
      this._shown = shown;
      this._strip.setVisible(false);
      const text = shown.isActive && shown.status === "REJECTED" ? await sentence(shown.id) : "";
      if (shown === this._shown) {
        this._strip.setText(text).setVisible(Boolean(text));
      }
    }
  };
});
