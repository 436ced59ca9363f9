sap.ui.define([], function () {
  "use strict";

  /** Where things are shown: addresses of object pages, for links that also open in a tab of their own. */
  const OWN_PAGES = {Promotions: "promotion"};
  const KEY = /^(new|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(,draft)?)$/i;

  return {
    /** The key in an address: `<ID>` of what is active, `<ID>,draft` of a draft. */
    keyOf(id, isActive = true) {
      return isActive === false ? `${id},draft` : String(id);
    },

    /** Whether this can be the key in an address: of a row, of its draft, or of what is not there yet. */
    isKey(text) {
      return KEY.test(text);
    },

    /** `{id, isActive}` of a key in an address. */
    parse(key) {
      const [id, draft] = key.split(",");
      return {id, isActive: draft !== "draft"};
    },

    /** `{name, parameters}` of the route of an entity's page. */
    route(set, id, isActive) {
      const key = this.keyOf(id, isActive);
      return OWN_PAGES[set] ? {name: OWN_PAGES[set], parameters: {key}} : {name: "object", parameters: {set, key}};
    },

    /** What a link to an entity's page leads to. */
    href(set, id, isActive) {
      const key = encodeURIComponent(this.keyOf(id, isActive));
      return OWN_PAGES[set] ? `#/${OWN_PAGES[set]}/${key}` : `#/object/${set}/${key}`;
    },

    /** What leads from a row of a part to its page, null where there is no more of it than the row shows. */
    opener(router, target) {
      const hasCollections = target.parts.some((one) => one.isCollection);
      const isOnlyRow = target.isNode && !hasCollections;
      const isLink =
        !target.isNode && !target.isDraft && target.canUpdate && !hasCollections && target.columns.length <= 4;
      return isOnlyRow || isLink
        ? null
        : (context) => {
            const [id, isActive] = ["ID", "IsActiveEntity"].map((path) => context.getProperty(path));
            const {name, parameters} = this.route(target.set, id, isActive);
            router.navTo(name, parameters);
          };
    }
  };
});
