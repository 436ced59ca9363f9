sap.ui.define(["sap/ui/core/Control"], function (Control) {
  "use strict";

  /** A link to a page, with what is to be found there. */
  return Control.extend("promenade.reports.Door", {
    metadata: {
      properties: {
        icon: {type: "sap.ui.core.URI", defaultValue: ""},
        title: {type: "string", defaultValue: ""},
        text: {type: "string", defaultValue: ""},
        href: {type: "sap.ui.core.URI", defaultValue: ""}
      }
    },

    renderer: {
      apiVersion: 2,

      render(rm, door) {
        rm.openStart("a", door).class("promDoor").attr("href", door.getHref()).openEnd();
        rm.icon(door.getIcon(), ["promDoorIcon"], {"aria-hidden": "true", title: null});
        rm.openStart("h2").class("promDoorTitle").openEnd().text(door.getTitle()).close("h2");
        rm.openStart("span").class("promDoorText").openEnd().text(door.getText()).close("span");
        rm.close("a");
      }
    }
  });
});
