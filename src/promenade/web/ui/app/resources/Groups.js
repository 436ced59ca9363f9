sap.ui.define(
  [
    "promenade/generic/Extensions",
    "promenade/resources/ArticlePromotions",
    "promenade/resources/Following",
    "promenade/resources/GroupTree"
  ],
  function (Extensions, ArticlePromotions, Following, GroupTree) {
    "use strict";

    /** Adds the tree of groups, and which promotions an article is in. */
    function asTree(set) {
      Extensions.add(set, {
        listActions: [
          {
            id: "tree",
            textKey: "resources.asTree",
            icon: "sap-icon://tree",
            press: ({model}) => GroupTree.open(model, set)
          }
        ]
      });
    }

    return {
      extend() {
        ["ArticleGroups", "PosGroups"].forEach(asTree);
        Extensions.add("Articles", {
          sections: [
            {
              id: "promotions",
              titleKey: "resources.promotionsOfArticle",
              create: ({view}) =>
                new Following().follow(view, ["articleNumber", "articleGroupId"], ArticlePromotions.load)
            }
          ]
        });
      }
    };
  }
);
