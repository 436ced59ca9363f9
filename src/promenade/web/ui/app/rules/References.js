sap.ui.define(["promenade/rules/Texts"], function (Texts) {
  "use strict";

  /** The fields of rules that name rows of master data, and what is wrong with a text that names none. */
  const ARTICLE = {set: "Articles", key: "articleNumber", shown: ["name", "articleNumber"]};
  const GROUP = {set: "ArticleGroups", key: "groupId", shown: ["name", "groupId"]};
  const CODE = {key: "code", shown: ["name", "code"], canBeAdded: true};
  const FIELDS = {
    articleNumber: ARTICLE,
    targetArticleNumber: ARTICLE,
    freeItemArticleNumber: ARTICLE,
    ean: {...ARTICLE, key: "ean", shown: ["name", "ean"]},
    articleGroupId: GROUP,
    targetArticleGroupId: GROUP,
    targetCouponType_ID: {set: "CouponTypes", key: "ID", shown: ["code", "name"]},
    customerGroup: {...CODE, set: "CustomerGroups"},
    loyaltyTier: {...CODE, set: "LoyaltyTiers"}
  };
  const LISTS = ["articleListItems", "bundleComponents", "exclusions"];
  const EXACT = "EQUALS";

  /** What the values of a condition name, as a field would; null: they are just texts, or parts of them. */
  function ofValues({conditionType, operator, fieldName}) {
    if ((operator || EXACT) !== EXACT) {
      return null;
    }
    if (conditionType === "LOYALTY_ACCOUNT") {
      return fieldName === "tier" ? "loyaltyTier" : null;
    }
    return conditionType === "CUSTOMER_GROUP" ? "customerGroup" : null;
  }

  /** Of these the value of another field says which one counts; the rest is not to be seen. */
  const CHOSEN = {
    exclusionType: {
      ARTICLE: "articleNumber",
      ARTICLE_GROUP: "articleGroupId",
      ARTICLE_LIST: "articleListItems",
      MANUFACTURER: "manufacturer"
    },
    targetScope: {
      ARTICLE: "targetArticleNumber",
      ARTICLE_GROUP: "targetArticleGroupId",
      ARTICLE_LIST: "articleListItems"
    }
  };

  /** Whether a field can be seen as its entity stands. */
  function isSeen(values, name) {
    const [choice] = Object.keys(CHOSEN).filter((one) => one in values);
    const names = choice ? CHOSEN[choice] : {};
    return !Object.values(names).includes(name) || names[values[choice]] === name;
  }

  /** Texts that were looked up in vain, by what they were meant to name. */
  return class References {
    constructor() {
      this._faults = new Map();
      this.isUsed = false; // whether any text was looked up in vain
    }

    static of(name) {
      return FIELDS[name] || null;
    }

    static ofValues(values) {
      return ofValues(values);
    }

    _at(name, typed) {
      const {set, key} = FIELDS[name];
      return `${set}/${key}/${typed}`;
    }

    /** Keeps why a text names nothing; without a fault, that it has to be looked up again. */
    keep(name, typed, fault = null) {
      this._faults.delete(this._at(name, typed));
      if (fault) {
        this._faults.set(this._at(name, typed), fault);
        this.isUsed = true;
      }
    }

    _faultOf(name, value) {
      const fault = FIELDS[name] && value && this._faults.get(this._at(name, value));
      const isMissing = fault === "none" && FIELDS[name].canBeAdded;
      return fault ? Texts.of(isMissing ? "fault.notListed" : `fault.${fault}`) : null;
    }

    /** Adds to what is wrong with an entity, by field, what its texts and those of its lists do not name. */
    mark(values, found) {
      for (const [name, value] of Object.entries(values).filter(([one]) => isSeen(values, one))) {
        const fault = this._faultAt(values, name, value);
        if (fault) {
          found[name] = fault;
        }
      }
      return found;
    }

    _faultAt(values, name, value) {
      if (name === "values") {
        const named = ofValues(values);
        return (named && (value || []).map((one) => this._faultOf(named, one.value)).find(Boolean)) || null;
      }
      return LISTS.includes(name) ? this._markItems(value || []) : this._faultOf(name, value);
    }

    _markItems(items) {
      return items.reduce((first, item) => {
        const own = this.mark(item, {});
        item.faults = {...item.faults, ...own};
        return first || Object.values(own)[0] || null;
      }, null);
    }

    /** Empties fields that are not to be seen any more and hold what names nothing. */
    clean(values) {
      for (const [name, value] of Object.entries(values)) {
        if (LISTS.includes(name)) {
          (value || []).forEach((item) => this.clean(item));
        } else if (this._faultOf(name, value) && !isSeen(values, name)) {
          values[name] = null;
        }
      }
    }

    /** Takes away what is said at the items of an entity's lists. */
    static unmark(values) {
      LISTS.flatMap((name) => values[name] || []).forEach((item) => {
        item.faults = {};
        References.unmark(item);
      });
    }
  };
});
