sap.ui.define(
  [
    "sap/m/Breadcrumbs",
    "sap/m/FlexBox",
    "sap/m/Label",
    "sap/m/Link",
    "sap/m/ObjectStatus",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/VBox",
    "sap/uxap/ObjectPageDynamicHeaderTitle",
    "promenade/generic/Displays",
    "promenade/generic/Format",
    "promenade/generic/Texts"
  ],
  function (
    Breadcrumbs,
    FlexBox,
    Label,
    Link,
    ObjectStatus,
    Text,
    Title,
    VBox,
    DynamicHeaderTitle,
    Displays,
    Format,
    Texts
  ) {
    "use strict";

    /** The head of the page of one entity: what it is called, how it stands, who edits it. */
    const FACTS_MAX = 5;

    const unread = (path) => ({path, targetType: "any"});

    function titleBinding(meta) {
      const fallback = Texts.of("newTitle", meta.label);
      return {
        parts: [unread(meta.titlePath || meta.semanticKey[0] || "ID"), unread(meta.isDraft ? "HasActiveEntity" : "ID")],
        formatter(title, read) {
          const isUnderway = read === undefined && !this.getBindingContext()?.isTransient();
          return isUnderway ? "" : title || (meta.titlePath ? fallback : meta.label);
        }
      };
    }

    /** Whether this is a draft, and whether somebody else is at it; `{text, state}` or null. */
    function editingOf(isActive, hasDraft, isMine, by, last, since) {
      if (isActive === false) {
        return {text: Texts.of("isDraft"), state: "Information", icon: "sap-icon://edit"};
      }
      if (!hasDraft) {
        return null;
      }
      if (isMine) {
        return {text: Texts.of("ownDraft"), state: "Information", icon: "sap-icon://edit"};
      }
      const left = () => Texts.of("leftUnsaved", last || "", Format.dateTime(since));
      return by
        ? {text: Texts.of("editedBy", by), state: "Warning", icon: "sap-icon://locked"}
        : {text: left(), state: "Warning", icon: "sap-icon://user-edit"};
    }

    function editingStatus() {
      const data = (name) => unread(`DraftAdministrativeData/${name}`);
      const parts = [
        unread("IsActiveEntity"),
        unread("HasDraftEntity"),
        data("DraftIsCreatedByMe"),
        data("InProcessByUser"),
        data("LastChangedByUser"),
        data("LastChangeDateTime")
      ];
      const bound = (name, none) => ({parts, formatter: (...values) => (editingOf(...values) || {})[name] ?? none});
      return new ObjectStatus({
        text: bound("text", ""),
        state: bound("state", "None"),
        icon: bound("icon", ""),
        visible: {parts, formatter: (...values) => Boolean(editingOf(...values))}
      }).addStyleClass("sapUiTinyMarginTop");
    }

    /** What a page is told apart by at a glance: states, and what the list shows after the name. */
    function factsOf(meta) {
      const known = new Set([meta.titlePath, meta.descriptionPath]);
      const coloured = meta.columns.filter((field) => field.criticalityPath);
      const others = meta.columns.filter(
        (field) => !field.criticalityPath && !known.has(field.path) && !field.isMultiLine && !field.isHidden
      );
      return [...coloured, ...others].slice(0, FACTS_MAX);
    }

    function fact(field) {
      const label = new Label({text: field.label});
      const control = Displays.display(field, {isInList: true});
      control.setEmptyIndicatorMode?.("On");
      control.addAriaLabelledBy?.(label);
      return new VBox({renderType: "Bare", items: [label, control]}).addStyleClass("sapUiSmallMarginEnd");
    }

    return {
      /** The title of a set's page. */
      title(meta, {listHref, breadcrumb, actions}) {
        const description = meta.descriptionPath
          ? [
              new Text({
                text: Displays.boundText(meta.field(meta.descriptionPath))
              })
            ]
          : [];
        return new DynamicHeaderTitle({
          breadcrumbs: new Breadcrumbs({links: [new Link({text: breadcrumb, href: listHref})]}),
          heading: new Title({text: titleBinding(meta), level: "H1", wrapping: true}),
          expandedContent: description,
          snappedContent: meta.descriptionPath ? [description[0].clone()] : [],
          content: meta.isDraft || meta.isNode ? [editingStatus()] : [],
          actions
        });
      },

      /** What is told apart by at a glance; `added`: controls of extensions. */
      content(meta, added) {
        const facts = factsOf(meta).map(fact);
        return facts.length || added.length
          ? [new FlexBox({wrap: "Wrap", columnGap: "1.5rem", rowGap: "0.5rem", items: [...facts, ...added]})]
          : [];
      }
    };
  }
);
