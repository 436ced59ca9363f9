sap.ui.define(
  ["promenade/promotions/Lifecycle", "promenade/promotions/Lock", "promenade/session/Session"],
  function (Lifecycle, Lock, Session) {
    "use strict";

    /** What a page of a promotion knows before it has read one. */
    const NOTHING = {
      isEditable: false,
      isDraft: false,
      can: {},
      mayEdit: false,
      mayCopy: false,
      mayDelete: false,
      lock: null,
      unsent: ""
    };

    return {
      NOTHING,

      /** What may be done with a promotion, or a draft of one, that was read as `row`. */
      of(meta, row) {
        const isDraft = !row.IsActiveEntity;
        const read = (path) => path.split("/").reduce((value, name) => value?.[name], row);
        const isLocked = Boolean(row.campaign && row.campaign.locked);
        return {
          isDraft,
          isEditable: isDraft,
          can: isDraft ? {} : Lifecycle.available(meta, read),
          mayEdit: !isDraft && !isLocked && Session.may("update", "Promotions"),
          mayCopy: !isDraft && Session.may("create", "Promotions"),
          mayDelete: !isDraft && !isLocked && !row.HasDraftEntity && Session.may("delete", "Promotions"),
          lock: isDraft ? null : Lock.of(row.HasDraftEntity && row.DraftAdministrativeData),
          unsent: ""
        };
      }
    };
  }
);
