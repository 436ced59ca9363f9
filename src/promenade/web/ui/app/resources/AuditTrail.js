sap.ui.define(
  [
    "sap/m/Link",
    "promenade/generic/Addresses",
    "promenade/generic/Extensions",
    "promenade/generic/History",
    "promenade/generic/Texts",
    "promenade/generic/Trail"
  ],
  function (Link, Addresses, Extensions, History, Texts, Trail) {
    "use strict";

    const SET = "AuditLogs";

    const raw = (path) => ({path, targetType: "any"});

    /** What an entry is about, as a link to its page unless it was deleted. */
    const link = () =>
      new Link({
        wrapping: true,
        text: {
          parts: [raw("ownerType"), raw("ownerName")],
          formatter: (set, name) => (set ? Texts.of("trail.about", Trail.kind(set), name) : "")
        },
        enabled: {
          parts: ["ownerType", "entityType", "action"].map(raw),
          formatter: (owner, set, action) => Trail.hasPage(owner) && !(action === "DELETE" && owner === set)
        },
        href: {
          parts: [raw("ownerType"), raw("ownerId")],
          formatter: (set, id) => (set && id ? Addresses.href(set, id) : "")
        }
      });

    return {
      /** Makes the list of the audit trail one that people read: what, in words and with links. */
      extend() {
        const {ready} = Trail;
        Extensions.choices(SET, "ownerType", async (model) => {
          await ready(model);
          return Trail.sets().map((meta) => ({key: meta.set, text: meta.plural}));
        });
        Extensions.add(SET, {
          columns: [
            {
              id: "of",
              labelKey: "generic.history.of",
              width: "20rem",
              ready,
              create: link,
              exported: ["ownerType", "ownerName"]
            },
            {
              id: "what",
              labelKey: "generic.history.what",
              ready,
              create: () => History.line(),
              exported: ["action", "entityType", "entityName", "note", "changes"]
            }
          ],
          header: [{id: "what", create: () => History.words()}]
        });
      }
    };
  }
);
