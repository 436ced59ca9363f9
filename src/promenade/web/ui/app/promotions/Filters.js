sap.ui.define([], function () {
  "use strict";

  const OWN_OR_ACTIVE = "(IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null)";
  const OTHERS = "IsActiveEntity eq true and SiblingEntity/IsActiveEntity eq null";
  const EDITING = {
    "": OWN_OR_ACTIVE,
    mine: "IsActiveEntity eq false",
    locked: `${OTHERS} and DraftAdministrativeData/InProcessByUser ne ''`,
    left: `${OTHERS} and DraftAdministrativeData/InProcessByUser eq ''`,
    unchanged: "IsActiveEntity eq true and HasDraftEntity eq false"
  };
  const VALIDITY = {
    now: (at) => `(validFrom eq null or validFrom le ${at}) and (validTo eq null or validTo gt ${at})`,
    ahead: (at) => `validFrom gt ${at}`,
    over: (at) => `validTo le ${at}`,
    open: () => "validTo eq null"
  };
  const STATUSES = [
    "ACTIVE",
    "PILOT",
    "DRAFT",
    "PENDING_APPROVAL",
    "APPROVED",
    "REJECTED",
    "INACTIVE",
    "EXPIRED",
    "ARCHIVED"
  ];
  const SEARCHED = ["name", "code", "description"];

  function quoted(text) {
    return `'${text.replaceAll("'", "''")}'`;
  }

  function anyOf(property, codes) {
    return codes.length && `(${codes.map((code) => `${property} eq ${quoted(code)}`).join(" or ")})`;
  }

  function found(search) {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const holds = (word) => SEARCHED.map((one) => `contains(tolower(${one}),${quoted(word)})`).join(" or ");
    return words.map((word) => `(${holds(word)})`).join(" and ");
  }

  /** What a list of promotions holds, as `$filter`. */
  return {
    /** The names of what can be chosen, in the order in which people look for them. */
    statuses: STATUSES,
    editing: Object.keys(EDITING),
    validity: Object.keys(VALIDITY),
    quoted,

    /**
     * The filter for `{search, status, types, exclusivity, campaign, validity, editing}` at a moment; of `status`
     * "all" is any.
     */
    of({search = "", status = "all", types = [], exclusivity = [], campaign = "", validity = "", editing = ""}, now) {
      // Whole minutes: the same list asked for twice is the same question.
      const at = new Date(Math.floor(now / 60_000) * 60_000).toISOString();
      return [
        EDITING[editing] || OWN_OR_ACTIVE,
        found(search),
        status !== "all" && `status eq ${quoted(status)}`,
        anyOf("type", types),
        anyOf("exclusivityLevel", exclusivity),
        campaign && `campaign_ID eq ${campaign}`,
        VALIDITY[validity] && VALIDITY[validity](at)
      ]
        .filter(Boolean)
        .join(" and ");
    }
  };
});
