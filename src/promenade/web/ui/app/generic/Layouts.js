sap.ui.define(["sap/ui/core/Lib"], function (Lib) {
  "use strict";

  return {
    /** What `ObjectLayout.create` makes; its libraries are fetched with the first page that needs them. */
    async create(given) {
      await Lib.load({name: "sap.f"});
      await Lib.load({name: "sap.uxap"});
      const ObjectLayout = await new Promise((resolve, reject) => {
        sap.ui.require(["promenade/generic/ObjectLayout"], resolve, reject);
      });
      return ObjectLayout.create(given);
    },

    /** Goes to the beginning of a page, an `ObjectPageLayout`; undefined: there is none yet. */
    toTop(page) {
      page?.setSelectedSection(null); // which it would go to when it is drawn again
      page?.getDomRef("opwrapper")?.scrollTo(0, 0);
    }
  };
});
