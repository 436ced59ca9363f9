sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/Dialog",
    "sap/m/Label",
    "sap/m/Link",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/VBox",
    "promenade/reports/Numbers",
    "promenade/reports/Plain",
    "promenade/reports/Service"
  ],
  function (Button, Column, ColumnListItem, Dialog, Label, Link, Table, Text, Title, VBox, Numbers, plain, Service) {
    "use strict";

    function table(title, columns, rows) {
      const heading = new Title({text: title, level: "H2", titleStyle: "H5"});
      return [
        heading,
        new Table({
          ariaLabelledBy: [heading],
          fixedLayout: false,
          columns: columns.map(([text, hAlign]) => new Column({header: new Label({text}), hAlign})),
          items: rows.map((cells) => new ColumnListItem({cells}))
        }).addStyleClass("sapUiSmallMarginBottom")
      ];
    }

    const word = (value) => new Text(plain({text: value === null ? Numbers.NOTHING : String(value)}));

    function promotions(desk, log, money, close) {
      const {t} = desk;
      const link = (row) =>
        new Link(
          plain({
            text: row.promotionName,
            href: desk.hrefOf("performance", {promotion: row.promotion_ID}),
            press: close
          })
        );
      const columns = [[t("promotion")], [t("discount"), "End"], [t("points"), "End"], [t("arm")]];
      return table(
        t("applied"),
        columns,
        log.promotions.map((row) => [
          link(row),
          money(row.totalDiscount),
          word(row.points),
          word(row.pilotArm && t(`arm.${row.pilotArm}`))
        ])
      );
    }

    function lines({t}, log, money) {
      const amounts = ["quantity", "unitPrice", "discount", "lineNet"].map((key) => [t(key), "End"]);
      return table(
        t("lines"),
        [[t("article")], ...amounts],
        log.items.map((row) => [
          word(row.articleNumber),
          word(Numbers.short(row.quantity)),
          money(row.unitPrice),
          money(row.lineDiscount),
          money(row.lineNet)
        ])
      );
    }

    /** How one sale was calculated: its lines, and the promotions that applied. */
    return {
      /** Resolves when it is open. */
      async open(desk, id) {
        const {t} = desk;
        const log = await Service.first("reporting", {
          set: "CalculationLogs",
          filter: `ID eq ${id}`,
          expand: "items,promotions($orderby=totalDiscount desc)"
        });
        const money = (value) => new Text({text: Numbers.money(value, log.currency)});
        const amounts = [log.subtotal, log.discount, log.grandTotal].map((one) => Numbers.money(one, log.currency));
        const close = () => dialog.close();
        const summary = new Text({text: t("saleSummary", Numbers.moment(log.confirmedAt), ...amounts)});
        const dialog = new Dialog({
          contentWidth: "60rem",
          resizable: true,
          draggable: true,
          content: [
            new VBox({
              items: [
                summary.addStyleClass("sapUiSmallMarginBottom"),
                ...promotions(desk, log, money, close),
                ...lines(desk, log, money)
              ]
            }).addStyleClass("sapUiSmallMargin")
          ],
          endButton: new Button({text: t("close"), press: close}),
          afterClose: () => dialog.destroy()
        });
        dialog.setTitle(t("saleTitle", log.receiptId || log.transactionId)).open();
      }
    };
  }
);
