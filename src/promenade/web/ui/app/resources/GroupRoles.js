sap.ui.define(
  [
    "sap/m/MessageStrip",
    "sap/m/ObjectAttribute",
    "promenade/generic/Extensions",
    "promenade/resources/Doing",
    "promenade/resources/Holders",
    "promenade/resources/People",
    "promenade/resources/Ticks",
    "promenade/session/Session"
  ],
  function (MessageStrip, ObjectAttribute, Extensions, Doing, Holders, People, Ticks, Session) {
    "use strict";

    const SET = "GroupRoles";
    const PATHS = ["groupName", "description", "scopes"];

    /** What the scopes of groups do, or where people are if this service has no other issuer. */
    function note() {
      const text = Session.current().services.groups ? "groupsCount" : "groupsAreElsewhere";
      return new MessageStrip({text: `{i18n>resources.${text}}`, showIcon: true}).addStyleClass("sapUiSmallMargin");
    }

    const scopes = ({meta}) =>
      new ObjectAttribute({
        title: meta.field("scopes").label,
        text: {path: "scopes", targetType: "any", formatter: (given) => (given || []).join(", ")}
      });

    const create = (page) => Doing.create(page, {action: "resources.newGroup", paths: PATHS, ticked: "scopes"});

    return {
      /** Adds scopes to choose from, and what they do. */
      extend() {
        Extensions.input(SET, "scopes", Ticks.of(People.scopes, "resources.scope"));
        Extensions.add(SET, {
          notes: [note],
          header: [{id: "scopes", create: scopes}],
          listActions: [
            {
              id: "newGroup",
              textKey: "resources.newGroup",
              icon: "sap-icon://add",
              replaces: ["create"],
              isOffered: () => Doing.may("create", SET),
              press: create
            }
          ],
          actions: [Holders.changing(SET, "resources.changeGroup", PATHS)]
        });
      }
    };
  }
);
