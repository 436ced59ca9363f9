sap.ui.define(
  ["sap/ui/core/Component", "promenade/generic/Messages", "promenade/net/Http", "promenade/resources/Texts"],
  function (Component, Messages, Http, Texts) {
    "use strict";

    const RUNNING = new Set(["ACTIVE", "PILOT"]);

    return {
      /**
       * Whether a promotion may be linked with a coupon type. Of one that runs without a coupon so far, the person is
       * told that it will need one from now on.
       */
      async mayLink(promotionId) {
        const query = "$select=ID,name,status&$expand=couponTypePromotions($select=ID;$top=1)";
        const at = `/admin/Promotions(ID=${promotionId},IsActiveEntity=true)`;
        const {name, status, couponTypePromotions} = await Http.get(`${at}?${query}`);
        if (!RUNNING.has(status) || couponTypePromotions.length) {
          return true;
        }
        const t = await Texts.of(Component.getComponentById("promenade"));
        return Messages.confirm(t("resources.needsCoupon", name), {
          action: t("resources.needsCoupon.go"),
          title: t("resources.needsCoupon.title"),
          isCritical: true
        });
      }
    };
  }
);
