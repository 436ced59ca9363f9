sap.ui.define(
  [
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/Link",
    "sap/m/ObjectStatus",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/VBox",
    "promenade/generic/Format",
    "promenade/promotions/AskedBudget",
    "promenade/promotions/Texts"
  ],
  function (Column, ColumnListItem, Link, ObjectStatus, Table, Text, Title, VBox, Format, AskedBudget, Texts) {
    "use strict";

    function table(key, columns, rows) {
      const title = new Title({level: "H3", titleStyle: "H6", text: Texts.get(`linked.${key}`)});
      return new Table({
        noDataText: Texts.get(`linked.${key}.none`),
        ariaLabelledBy: title,
        columns: columns.map((one) => new Column({header: new Text({text: Texts.get(`linked.${one}`)})})),
        items: rows.map((cells) => new ColumnListItem({cells}))
      }).data("title", title);
    }

    function couponRow({couponType}) {
      return [
        new Link({text: Texts.plain(couponType.name), href: `#/object/CouponTypes/${couponType.ID}`}),
        new Text({text: Texts.plain(couponType.code)}),
        new Text({text: Texts.code("couponStatus", couponType.status)})
      ];
    }

    function budgetRow({budget}) {
      return [
        new Link({text: Texts.plain(budget.name), href: `#/object/Budgets/${budget.ID}`}),
        new Text({text: Format.money(budget.totalAmount, budget.currency)}),
        new Text({text: Format.money(budget.remainingAmount, budget.currency)}),
        new ObjectStatus({
          text: Texts.code("budgetStatus", budget.status),
          state: Texts.state(budget.statusCriticality)
        })
      ];
    }

    /** The coupon types that trigger the promotion, the budgets that it is charged to, and one that is asked for. */
    return class Linked {
      constructor() {
        this._tables = new VBox();
        this._asked = new AskedBudget();
        this.control = new VBox({items: [this._tables, this._asked.control]});
      }

      /** Shows what was asked for. */
      show(shown) {
        return this._asked.show(shown);
      }

      /** Shows them; rows with what they refer to expanded. */
      setRows({couponTypePromotions, budgetPromotions}) {
        this._tables.destroyItems();
        const coupons = table("coupons", ["name", "code", "status"], couponTypePromotions.map(couponRow));
        const budgets = table("budgets", ["name", "total", "remaining", "status"], budgetPromotions.map(budgetRow));
        [coupons, budgets].forEach((one) => {
          this._tables.addItem(one.data("title"));
          this._tables.addItem(one.addStyleClass("sapUiMediumMarginBottom"));
        });
      }
    };
  }
);
