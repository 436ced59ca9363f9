// Libraries of others, which say by themselves what they are called.
sap.ui.loader.config({
  shim: {
    "promenade/framework/chart": {amd: true, exports: "Chart"},
    "promenade/framework/papaparse": {amd: true, exports: "Papa"}
  }
});

sap.ui.define(
  ["sap/ui/core/ComponentContainer", "sap/ui/core/Component", "promenade/session/Session"],
  function (ComponentContainer, Component, Session) {
    "use strict";

    /** Signs the person in, which may lead to another page and back, and shows the back office. */
    async function start() {
      await Session.open();
      const component = await Component.create({name: "promenade", id: "promenade"});
      new ComponentContainer("shell", {component, height: "100%", autoPrefixId: false}).placeAt("content");
    }

    start();
  }
);
