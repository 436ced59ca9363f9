sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/Input",
    "sap/m/Label",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/core/Component",
    "promenade/generic/Extensions",
    "promenade/generic/Format",
    "promenade/resources/BatchDownload",
    "promenade/resources/CouponPool",
    "promenade/resources/Doing",
    "promenade/resources/NeedsCoupon",
    "promenade/resources/Secret",
    "promenade/resources/Texts"
  ],
  function (
    Button,
    Dialog,
    Input,
    Label,
    Text,
    VBox,
    Component,
    Extensions,
    Format,
    BatchDownload,
    CouponPool,
    Doing,
    NeedsCoupon,
    Secret,
    Texts
  ) {
    "use strict";

    const SET = "CouponTypes";

    /** Shows a code that was issued, once. */
    function showCode({code, customerId, validUntil}, t) {
      const label = new Label({text: t("resources.code")});
      const input = new Input({value: "", editable: false, ariaLabelledBy: [label]}).setValue(code);
      const notes = [
        customerId ? t("resources.issuedTo", customerId) : t("resources.issuedToBearer"),
        validUntil ? t("resources.goodUntil", Format.end(validUntil)) : t("resources.goodAsType")
      ];
      const dialog = new Dialog({
        title: t("resources.issued"),
        contentWidth: "26rem",
        content: [new VBox({items: [label, input, ...notes.map((text) => new Text().setText(text))]})],
        beginButton: new Button({text: t("resources.copy"), type: "Emphasized", press: () => Secret.copy(input)}),
        endButton: new Button({text: t("resources.close"), press: () => dialog.close()}),
        afterClose: () => dialog.destroy()
      }).addStyleClass("sapUiContentPadding");
      dialog.open();
    }

    async function generate({model, context}) {
      const t = await Texts.of(Component.getComponentById("promenade"));
      await Doing.ask({model, context, set: SET, name: "generateCodes", text: t("resources.generateHint")});
    }

    async function issue({model, context}) {
      const t = await Texts.of(Component.getComponentById("promenade"));
      const issued = await Doing.ask({model, context, set: SET, name: "issueCoupon", text: t("resources.issueHint")});
      if (issued) {
        showCode(issued, t);
      }
    }

    return {
      /**
       * Adds the pool with its batches, and the making and issuing of codes, to the pages of coupon types, and the
       * download of their codes to those of batches; a promotion that runs is linked after a question.
       */
      extend() {
        Extensions.add("CouponTypePromotions", {
          beforeCreate: [({promotion_ID: id}) => (id ? NeedsCoupon.mayLink(id) : true)]
        });
        Extensions.add("CouponCodeBatches", {
          underWay: BatchDownload.UNDER_WAY,
          sections: [
            {
              id: "download",
              titleKey: "resources.download",
              create: ({view, model}) => BatchDownload.create(view, model)
            }
          ]
        });
        Extensions.add(SET, {
          sections: [
            {
              id: "pool",
              titleKey: "resources.pool",
              replaces: ["couponCodeBatches"],
              create: ({view}) => CouponPool.create(view)
            }
          ],
          actions: [
            {
              id: "generate",
              textKey: "resources.generate",
              icon: "sap-icon://add-coursebook",
              replaces: ["generateCodes"],
              paths: ["IsActiveEntity", "codeType"],
              press: generate,
              isEnabled: (context) => Doing.isOpen(SET, context) && context.getProperty("codeType") !== "GENERIC"
            },
            {
              id: "issue",
              textKey: "resources.issue",
              icon: "sap-icon://paid-leave",
              replaces: ["issueCoupon"],
              paths: ["IsActiveEntity", "status"],
              press: issue,
              isEnabled: (context) => Doing.isOpen(SET, context) && context.getProperty("status") === "ACTIVE"
            }
          ]
        });
      }
    };
  }
);
