sap.ui.define(["sap/ui/model/Filter"], function (Filter) {
  "use strict";

  /** The states of editing that a list of drafts can be narrowed to. */
  const OWN_DRAFT = {path: "IsActiveEntity", operator: "EQ", value1: false};
  const IS_ACTIVE = {path: "IsActiveEntity", operator: "EQ", value1: true};
  const NO_SIBLING = {path: "SiblingEntity/IsActiveEntity", operator: "EQ", value1: null};
  const editedBy = (operator) => ({path: "DraftAdministrativeData/InProcessByUser", operator, value1: ""});

  const FILTERS = {
    all: {filters: [OWN_DRAFT, NO_SIBLING], and: false},
    unchanged: {filters: [IS_ACTIVE, {path: "HasDraftEntity", operator: "EQ", value1: false}], and: true},
    ownDraft: OWN_DRAFT,
    lockedByAnother: {filters: [IS_ACTIVE, NO_SIBLING, editedBy("NE")], and: true},
    unsavedByAnother: {filters: [IS_ACTIVE, NO_SIBLING, editedBy("EQ")], and: true}
  };

  const made = (one) => new Filter(one.filters ? {filters: one.filters.map(made), and: one.and} : one);

  return {
    states: Object.keys(FILTERS),

    /** The UI5 filters of a state; `all`: own drafts in place of what they change, and everything else as it is. */
    filter(state) {
      return FILTERS[state] ? [made(FILTERS[state])] : [];
    }
  };
});
