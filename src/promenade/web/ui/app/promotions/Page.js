sap.ui.define(["sap/ui/core/Fragment", "sap/ui/core/Lib"], function (Fragment, Lib) {
  "use strict";

  return {
    /**
     * Loads the libraries that a page is made of, and then the page, into the controller's view.
     *
     * They are not part of what the first page waits for.
     */
    async fill(controller, libraries, name) {
      const view = controller.getView();
      for (const one of libraries) {
        await Lib.load({name: one}); // in this order: a later one may stand on those before
      }
      const content = await Fragment.load({id: view.getId(), name, controller});
      controller.byId("content").addItem(content);
      return content;
    }
  };
});
