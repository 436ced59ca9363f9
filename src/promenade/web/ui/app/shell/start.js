// Libraries of others, which say by themselves what they are called.
sap.ui.loader.config({
  shim: {
    "promenade/framework/chart": {amd: true, exports: "Chart"},
    "promenade/framework/js-yaml": {amd: true, exports: "jsyaml"},
    "promenade/framework/papaparse": {amd: true, exports: "Papa"}
  }
});

sap.ui.define(
  ["sap/ui/core/ComponentContainer", "sap/ui/core/Component", "promenade/generic/Zone", "promenade/session/Session"],
  function (ComponentContainer, Component, Zone, Session) {
    "use strict";

    /** An address that was cut within a sign can be read by nobody: OpenUI5, which decodes twice, would not start. */
    function dropUnreadableAddress() {
      try {
        decodeURIComponent(decodeURIComponent(window.location.hash));
      } catch {
        window.history.replaceState(null, "", "/");
      }
    }

    /** Signs the person in, which may lead to another page and back, and shows the back office. */
    async function start() {
      await Session.open();
      await Zone.open();
      dropUnreadableAddress();
      const component = await Component.create({name: "promenade", id: "promenade"});
      new ComponentContainer("shell", {component, height: "100%", autoPrefixId: false}).placeAt("content");
    }

    start();
  }
);
