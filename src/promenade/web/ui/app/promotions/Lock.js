sap.ui.define(["promenade/promotions/Texts"], function (Texts) {
  "use strict";

  return {
    /** What is said of a draft that there is of a promotion that is looked at: `{type, text, action}`, or null. */
    of(draft) {
      if (!draft) {
        return null;
      }
      const [since, last] = [Texts.moment(draft.CreationDateTime), Texts.moment(draft.LastChangeDateTime)];
      if (draft.DraftIsCreatedByMe) {
        return {type: "Information", text: Texts.get("lock.mine", [last]), action: Texts.get("lock.goOn")};
      }
      if (draft.InProcessByUser) {
        return {type: "Warning", text: Texts.get("lock.other", [draft.InProcessByUser, since])};
      }
      const text = Texts.get("lock.left", [draft.CreatedByUser, last]);
      return {type: "Information", text, action: Texts.get("lock.takeOver")};
    }
  };
});
