sap.ui.define(
  [
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/FlexBox",
    "sap/m/Label",
    "sap/m/Link",
    "sap/m/MessageStrip",
    "sap/m/ObjectNumber",
    "sap/m/ProgressIndicator",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/VBox",
    "promenade/generic/Format",
    "promenade/promotions/Texts"
  ],
  function (
    Column,
    ColumnListItem,
    FlexBox,
    Label,
    Link,
    MessageStrip,
    ObjectNumber,
    ProgressIndicator,
    Table,
    Text,
    Title,
    VBox,
    Format,
    Texts
  ) {
    "use strict";

    const text = (value) => new Text({text: Texts.plain(value), wrapping: true});
    const money = (value, currency) => new ObjectNumber({number: Format.money(value, currency), emphasized: false});

    function figure(key, value) {
      const number = new ObjectNumber({number: Format.number(value)});
      return new VBox({items: [new Label({text: Texts.get(`forecast.${key}`)}), number]});
    }

    /** A share as a bar; what the bar is of is said beside it in figures. */
    function bar(value, largest, label) {
      const share = Number(largest) > 0 ? Math.min(100, (100 * Number(value)) / Number(largest)) : 0;
      return new ProgressIndicator({
        percentValue: share,
        showValue: false,
        state: "Information",
        width: "8rem",
        tooltip: label,
        displayAnimation: false
      });
    }

    function table(key, columns, rows) {
      const title = new Title({level: "H3", titleStyle: "H6", text: Texts.get(`forecast.${key}`)});
      const shown = new Table({
        ariaLabelledBy: title,
        columns: columns.map(
          ([name, isNumber]) =>
            new Column({
              header: new Text({text: Texts.get(`forecast.${name}`)}),
              hAlign: isNumber ? "End" : "Begin",
              minScreenWidth: "Tablet",
              demandPopin: true
            })
        ),
        items: rows.map((cells) => new ColumnListItem({cells}))
      });
      return [title, shown.addStyleClass("sapUiMediumMarginBottom")];
    }

    function amounts(rows) {
      const columns = [
        ["currency"],
        ["affected", true],
        ["discount", true],
        ["discountWithout", true],
        ["discountWith", true],
        ["discountChange", true],
        ["netWithout", true],
        ["netWith", true]
      ];
      return table(
        "amounts",
        columns,
        rows.map((one) => [
          text(one.currency),
          text(Format.number(one.basketsAffected)),
          money(one.discount, one.currency),
          money(one.discountWithout, one.currency),
          money(one.discountWith, one.currency),
          money(one.discountChange, one.currency),
          money(one.netSalesWithout, one.currency),
          money(one.netSalesWith, one.currency)
        ])
      );
    }

    function displaced(rows) {
      const sorted = [...rows].sort((one, other) => Number(other.discountLost) - Number(one.discountLost)).slice(0, 20);
      const largest = sorted.length ? sorted[0].discountLost : 0;
      const columns = [["promotion"], ["salesLost", true], ["discountLost", true], ["share"]];
      return table(
        "displaced",
        columns,
        sorted.map((one) => [
          new Link({text: Texts.plain(one.promotionName), href: Texts.href(one.promotion_ID), wrapping: true}),
          text(Format.number(one.applicationsLost)),
          money(one.discountLost, one.currency),
          bar(one.discountLost, largest, Texts.get("forecast.discountLost"))
        ])
      );
    }

    function budgets(rows) {
      const columns = [["budget"], ["before", true], ["consumption", true], ["after", true], ["used"], ["exhaustedOn"]];
      return table(
        "budgets",
        columns,
        rows.map((one) => [
          new Link({text: Texts.plain(one.budgetName), href: `#/object/Budgets/${one.budget_ID}`, wrapping: true}),
          money(one.remainingBefore, one.currency),
          money(one.consumption, one.currency),
          money(one.remainingAfter, one.currency),
          bar(one.consumption, one.remainingBefore, Texts.get("forecast.used")),
          text(
            one.exhaustedOn
              ? Texts.get("forecast.exhausted", [Format.date(one.exhaustedOn), one.basketsLimited])
              : Texts.get("forecast.lasts")
          )
        ])
      );
    }

    return {
      /** What a forecast came to, as a control. */
      of(forecast) {
        const figures = ["basketsTotal", "basketsAffected", "applications", "customersAffected"];
        const items = [
          new Title({
            level: "H3",
            titleStyle: "H5",
            text: Texts.get("forecast.of", [Format.date(forecast.dateFrom), Format.date(forecast.dateTo)])
          }),
          forecast.message && new MessageStrip({text: Texts.plain(forecast.message), showIcon: true}),
          new FlexBox({
            wrap: "Wrap",
            items: figures.map((key) => figure(key, forecast[key]))
          }).addStyleClass("promenadeGap sapUiSmallMarginTopBottom")
        ];
        if (forecast.amounts.length) {
          items.push(...amounts(forecast.amounts));
        }
        if (forecast.displacements.length) {
          items.push(...displaced(forecast.displacements));
        }
        if (forecast.budgets.length) {
          items.push(...budgets(forecast.budgets));
        }
        return new VBox({items: items.filter(Boolean)});
      }
    };
  }
);
