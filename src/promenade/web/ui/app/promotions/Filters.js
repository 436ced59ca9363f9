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
  /** Whether its validity, or the window of its campaign, has not begun; whether one of them is over for good. */
  const AHEAD = (at) => `(validFrom gt ${at} or campaign/startAt gt ${at})`;
  const OVER = (at) => `(validTo le ${at} or campaign/endAt le ${at} or campaign/status eq 'CANCELLED')`;
  /** Of what is active, the time says whether it runs now. */
  const IN_TIME = {
    RUNNING: (at) => `status eq 'ACTIVE' and not ${AHEAD(at)} and not ${OVER(at)}`,
    SCHEDULED: (at) => `status eq 'ACTIVE' and ${AHEAD(at)} and not ${OVER(at)}`,
    ENDED: (at) => `(status eq 'EXPIRED' or status eq 'ACTIVE' and ${OVER(at)})`
  };
  const STATES = [
    "RUNNING",
    "SCHEDULED",
    "ENDED",
    "PILOT",
    "DRAFT",
    "INACTIVE",
    "PENDING_APPROVAL",
    "APPROVED",
    "REJECTED",
    "ARCHIVED"
  ];
  const SEARCHED = ["name", "code", "description"];

  function quoted(text) {
    return `'${text.replaceAll("'", "''")}'`;
  }

  function anyOf(property, codes) {
    return codes.length && `(${codes.map((code) => `${property} eq ${quoted(code)}`).join(" or ")})`;
  }

  /** Whole minutes: the same list asked for twice is the same question. */
  const momentOf = (now) => new Date(Math.floor(now / 60_000) * 60_000).toISOString();

  /** The state of a row at a time: `ahead` and `over` as the conditions of these names say. */
  function stateOf(status, ahead, over) {
    if (status === "EXPIRED") {
      return "ENDED";
    }
    return status === "ACTIVE" ? (over && "ENDED") || (ahead && "SCHEDULED") || "RUNNING" : status;
  }

  /** The filter for what has all words of a search, in any order, in one of some texts; "" for no words. */
  function found(search, paths = SEARCHED) {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const holds = (word) => paths.map((one) => `contains(tolower(${one}),${quoted(word)})`).join(" or ");
    return words.map((word) => `(${holds(word)})`).join(" and ");
  }

  /** What a list of promotions holds, as `$filter`. */
  return {
    /** The names of what can be chosen, in the order in which people look for them. */
    statuses: STATUSES,
    states: STATES,
    stateOf,
    editing: Object.keys(EDITING),
    validity: Object.keys(VALIDITY),
    quoted,
    found,

    /** The filter for one of `states` at a moment. */
    state: (state, now) => (IN_TIME[state] ? IN_TIME[state](momentOf(now)) : `status eq ${quoted(state)}`),

    /** `$apply` that counts, of what a filter leaves, the rows by `status`, `ahead` and `over` at a moment as `n`. */
    counts(filter, now) {
      const at = momentOf(now);
      const computed = `compute(${AHEAD(at)} as ahead,${OVER(at)} as over)`;
      return `filter(${filter})/${computed}/groupby((status,ahead,over),aggregate($count as n))`;
    },

    /**
     * The filter for `{search, status, types, exclusivity, campaign, validity, editing}` at a moment; `status` is one
     * of `states`, or "all".
     */
    of({search = "", status = "all", types = [], exclusivity = [], campaign = "", validity = "", editing = ""}, now) {
      const at = momentOf(now);
      return [
        EDITING[editing] || OWN_OR_ACTIVE,
        found(search),
        status !== "all" && this.state(status, now),
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
