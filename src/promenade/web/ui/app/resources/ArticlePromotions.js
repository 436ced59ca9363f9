sap.ui.define(
  [
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/Link",
    "sap/m/Table",
    "sap/m/Text",
    "sap/ui/core/Component",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Addresses",
    "promenade/generic/Words",
    "promenade/reports/Service",
    "promenade/resources/Texts"
  ],
  function (Column, ColumnListItem, Link, Table, Text, Component, JSONModel, Addresses, Words, Service, Texts) {
    "use strict";

    const SHOWN = 50;
    const OF = "promotion($select=ID,code,name,status;$expand=statusText($select=name))";

    /** Conditions and actions that name the article itself, or its group. */
    function queries({articleNumber, articleGroupId}) {
      const number = Service.text(articleNumber);
      const group = articleGroupId ? Service.text(articleGroupId) : null;
      const listed = `articleListItems/any(one:one/articleNumber eq ${number})`;
      const told = {top: SHOWN, select: "ID,promotion_ID", expand: OF};
      return [
        {
          set: "Conditions",
          ...told,
          filter: [`articleNumber eq ${number}`, listed, group && `articleGroupId eq ${group}`]
            .filter(Boolean)
            .join(" or ")
        },
        {
          set: "DiscountActions",
          ...told,
          filter: [`targetArticleNumber eq ${number}`, listed, group && `targetArticleGroupId eq ${group}`]
            .filter(Boolean)
            .join(" or ")
        }
      ];
    }

    /** Each promotion once, with how it has to do with the article. */
    function byPromotion([conditions, actions], t) {
      const found = new Map();
      const note = (rows, why) =>
        rows
          .filter((row) => row.promotion)
          .forEach(({promotion}) => {
            const known = found.get(promotion.ID) || {...promotion, whys: new Set()};
            known.whys.add(why);
            found.set(promotion.ID, known);
          });
      note(conditions.rows, t("resources.asCondition"));
      note(actions.rows, t("resources.asTarget"));
      return [...found.values()]
        .map((one) => ({
          name: one.name || one.code,
          code: one.code,
          href: Addresses.href("Promotions", one.ID),
          status: Words.of(one.statusText ? one.statusText.name : one.status),
          why: [...one.whys].join(", ")
        }))
        .sort((one, other) => one.name.localeCompare(other.name));
    }

    return {
      /** A table of the promotions that name an article or its group. */
      async load(values) {
        const t = await Texts.of(Component.getComponentById("promenade"));
        const rows = values.articleNumber ? byPromotion(await Service.read("admin", queries(values)), t) : [];
        const column = (key) => new Column({header: new Text({text: t(key)})});
        const table = new Table({
          noDataText: t("resources.noPromotionsOfArticle"),
          columns: ["resources.promotion", "resources.promotionCode", "resources.status", "resources.why"].map(column),
          items: {
            path: "/",
            templateShareable: false,
            template: new ColumnListItem({
              cells: [
                new Link({text: "{name}", href: "{href}"}),
                new Text({text: "{code}"}),
                new Text({text: "{status}"}),
                new Text({text: "{why}"})
              ]
            })
          }
        });
        return [
          table.setModel(new JSONModel(rows)),
          new Text({text: t("resources.promotionsOfArticleNote")}).addStyleClass("sapUiSmallMarginTop")
        ];
      }
    };
  }
);
