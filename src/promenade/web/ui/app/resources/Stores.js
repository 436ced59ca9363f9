sap.ui.define(
  ["sap/m/ObjectStatus", "sap/ui/core/format/DateFormat", "promenade/generic/Extensions", "promenade/generic/Format"],
  function (ObjectStatus, DateFormat, Extensions, Format) {
    "use strict";

    const unread = (path) => ({path, targetType: "any"});

    /** When a store was last heard of, and that this is too long ago, which the service says by its status. */
    function heard() {
      const ago = DateFormat.getDateTimeInstance({relative: true, relativeScale: "auto", relativeStyle: "wide"});
      const parts = [
        unread("lastHeartbeatAt"),
        unread("status"),
        {path: "i18n>resources.neverHeard"},
        {path: "i18n>resources.heardOf"}
      ];
      const isSilent = (status) => status === "OFFLINE";
      return new ObjectStatus({
        text: {
          parts,
          formatter: (at, _, never, known) => (at ? (known || "").replace("{0}", ago.format(new Date(at))) : never)
        },
        tooltip: {...unread("lastHeartbeatAt"), formatter: (at) => (at ? Format.dateTime(at) : "")},
        state: {...unread("status"), formatter: (status) => (isSilent(status) ? "Error" : "Success")},
        icon: {
          ...unread("status"),
          formatter: (status) => (isSilent(status) ? "sap-icon://disconnected" : "sap-icon://connected")
        }
      });
    }

    /** Sales that are still in the store: nobody else has them. */
    function pending() {
      return new ObjectStatus({
        visible: {...unread("pendingTransactions"), formatter: (count) => count > 0},
        text: {
          parts: [unread("pendingTransactions"), {path: "i18n>resources.pending"}],
          formatter: (count, text) => (text || "").replace("{0}", Format.number(count || 0))
        },
        state: "Warning",
        icon: "sap-icon://alert"
      });
    }

    return {
      /** Adds how a store is to the pages of stores. */
      extend() {
        Extensions.add("LocalDeployments", {
          header: [
            {id: "heard", create: heard},
            {id: "pending", create: pending}
          ],
          columns: [{id: "heard", labelKey: "resources.heard", width: "15rem", create: heard}]
        });
      }
    };
  }
);
