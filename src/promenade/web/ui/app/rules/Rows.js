sap.ui.define(["promenade/net/Ids"], function (Ids) {
  "use strict";

  /**
   * Rules between the service and the editor: what is read becomes a row to edit, what was edited becomes requests.
   *
   * A row is `{key, kind, type, id, etag, values, stored, summary, faults}`: `values` are being edited, `stored` is
   * how they were read (null: a new one). Decimals are texts throughout, so nothing is ever rounded here.
   */
  const KINDS = {
    Conditions: {
      type: "conditionType",
      expand: "article($select=articleNumber,name),articleGroup($select=groupId,name),valueListItems,articleListItems",
      lists: ["valueListItems", "articleListItems"]
    },
    DiscountActions: {
      type: "actionType",
      expand:
        "targetArticle($select=articleNumber,name),targetArticleGroup($select=groupId,name)," +
        "targetCouponType($select=code,name),scaledTiers,quantityTiers,articleListItems," +
        "bundleComponents($expand=article($select=articleNumber,name),articleGroup($select=groupId,name))," +
        "exclusions($expand=articleGroup($select=groupId,name),articleListItems)",
      lists: ["scaledTiers", "quantityTiers", "bundleComponents", "articleListItems", "exclusions"]
    },
    LoyaltyActions: {type: "actionType", expand: "articleListItems", lists: ["articleListItems"]}
  };

  // A field that names something, the field that refers to the same by its ID, and where that one leads to.
  const REFERENCES = [
    ["articleNumber", "article_ID", "article", "articleNumber"],
    ["articleGroupId", "articleGroup_ID", "articleGroup", "groupId"],
    ["targetArticleNumber", "targetArticle_ID", "targetArticle", "articleNumber"],
    ["targetArticleGroupId", "targetArticleGroup_ID", "targetArticleGroup", "groupId"]
  ];
  const SYSTEM = new Set([
    "createdAt",
    "createdBy",
    "modifiedAt",
    "modifiedBy",
    "tenantId",
    "promotion_ID",
    "condition_ID",
    "action_ID",
    "exclusion_ID",
    "loyaltyAction_ID",
    "parameterSummary",
    "targetCouponType"
  ]);
  const SEQUENCED = new Set(["scaledTiers", "quantityTiers", "bundleComponents"]);
  const QUANTITIES =
    /^(minQuantity|quantity|applicationQuantity|freeItemQuantity|maxFreeUnits|points|maxPoints|multiplier)$/;

  let keys = 0;

  /** A key that no other row of this page has. */
  function newKey() {
    keys += 1;
    return `rule${keys}`;
  }

  function copyOf(value) {
    return JSON.parse(JSON.stringify(value));
  }

  function isSame(one, other) {
    return JSON.stringify(one) === JSON.stringify(other);
  }

  /** 2.000 pieces are 2: nobody writes the zeros. */
  function readable(name, value) {
    return QUANTITIES.test(name) && typeof value === "string" ? value.replace(/\.?0+$/, "") || "0" : value;
  }

  function listed(name, items) {
    const clean = items.map(valuesOf);
    return SEQUENCED.has(name) ? clean.sort((one, other) => one.sequence - other.sequence) : clean;
  }

  /** What can be edited of an entity as it was read. */
  function valuesOf(entity) {
    const values = {};
    for (const [name, value] of Object.entries(entity)) {
      if (Array.isArray(value)) {
        values[name] = listed(name, value);
      } else if (!name.includes("@") && !SYSTEM.has(name) && (value === null || typeof value !== "object")) {
        values[name] = readable(name, value);
      }
    }
    for (const [number, reference, target, key] of REFERENCES) {
      if (entity[reference] && !entity[number] && entity[target]) {
        values[number] = entity[target][key];
      }
    }
    return values;
  }

  function isAboutPoints({fieldName, valueCategory, operator, value, valueListItems}) {
    const field = (fieldName || "").toLowerCase();
    if (field === "points" || field === "tier" || valueCategory === "LOYALTY_TIER") {
      return field === "points";
    }
    return (
      ["GTE", "LTE", "GREATER_THAN", "LESS_THAN", "BETWEEN"].includes(operator) ||
      (!operator && !valueListItems.length && /^-?\d+(\.\d+)?$/.test(value || ""))
    );
  }

  /** One value or several are edited as one list; BETWEEN and numbers have a value of their own. */
  function withValues(values) {
    const first = values.value === null || values.value === "" ? [] : [{value: values.value}];
    values.values = [...first, ...values.valueListItems];
    if (values.conditionType === "LOYALTY_ACCOUNT") {
      values.fieldName = isAboutPoints(values) ? "points" : "tier";
    }
    delete values.value;
    delete values.valueListItems;
    return values;
  }

  /** A row as it was read. */
  function read(kind, entity) {
    const {ID: id, ...rest} = valuesOf(entity);
    const values = kind === "Conditions" ? withValues(rest) : rest;
    const summary = entity.parameterSummary || "";
    return {
      key: newKey(),
      kind,
      id,
      etag: entity["@odata.etag"],
      values,
      stored: copyOf(values),
      summary,
      faults: {}
    };
  }

  /** A row that nobody has saved yet. */
  function blank(kind, values) {
    const lists = KINDS[kind].lists.filter((list) => list !== "valueListItems");
    const empty = Object.fromEntries(lists.map((list) => [list, []]));
    const more = kind === "Conditions" ? {values: [], logicalConnector: "AND"} : {};
    return {
      key: newKey(),
      kind,
      id: Ids.guid(),
      etag: null,
      values: {...empty, ...more, ...values},
      stored: null,
      summary: "",
      faults: {}
    };
  }

  function withoutIdentity(value) {
    if (Array.isArray(value)) {
      return value.map(withoutIdentity);
    }
    if (value === null || typeof value !== "object") {
      return value;
    }
    const rest = {...value};
    delete rest.ID;
    delete rest.faults;
    for (const [number, reference] of REFERENCES) {
      if (rest[number]) {
        delete rest[reference];
      }
    }
    return Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, withoutIdentity(one)]));
  }

  /** A new row that says the same. */
  function duplicate(row) {
    return {...blank(row.kind, withoutIdentity(row.values))};
  }

  function type(row) {
    return row.values[KINDS[row.kind].type];
  }

  /** Places of the items of a list, kept where they are in order already. */
  function inOrder(items) {
    const ordered = items.every((item, place) => {
      const before = place ? items[place - 1].sequence : -1;
      return Number.isInteger(item.sequence) && item.sequence > before;
    });
    return ordered ? items : items.map((item, place) => ({...item, sequence: (place + 1) * 10}));
  }

  function itemBody(item, stored) {
    const before = (item.ID && (stored || []).find((one) => one.ID === item.ID)) || null;
    return bodyOf(item, before);
  }

  /** What is sent of an entity; of one that was read, what it refers to by ID gives way to another number. */
  function bodyOf(values, stored) {
    const body = {};
    for (const [name, value] of Object.entries(values)) {
      if (Array.isArray(value)) {
        const items = value.map((item) => itemBody(item, stored && stored[name]));
        body[name] = SEQUENCED.has(name) ? inOrder(items) : items;
      } else if (name !== "faults") {
        body[name] = value === "" ? null : value;
      }
    }
    for (const [number, reference] of REFERENCES) {
      if (reference in values && values[reference] && (!stored || stored[number] !== values[number])) {
        body[reference] = null;
      }
    }
    return body;
  }

  /** One value is `value`, several are the list: either says the same to the engine. */
  function withList(body, values) {
    if (!("values" in body)) {
      return body;
    }
    const {values: all, ...rest} = body;
    const isSingle = all.length <= 1 || values.operator === "BETWEEN";
    const category = values.valueCategory || null;
    const items = isSingle ? [] : all.map((one) => ({valueCategory: category, ...one}));
    return {...rest, value: isSingle && all.length ? all[0].value : null, valueListItems: items};
  }

  /** Names of the fields in which a row differs from how it was read. */
  function changesOf(row) {
    return Object.keys(row.values).filter((name) => !isSame(plain(row.values[name]), plain(row.stored[name])));
  }

  /** A value without the notes that validation left on it, and nothing as null, however it is put. */
  function plain(value) {
    if (Array.isArray(value)) {
      return value.map(plain);
    }
    if (value === undefined || value === "") {
      return null;
    }
    if (value === null || typeof value !== "object") {
      return value;
    }
    const names = Object.keys(value)
      .filter((name) => name !== "faults")
      .sort();
    return Object.fromEntries(names.map((name) => [name, plain(value[name])]));
  }

  function isChanged(row) {
    return !row.stored || changesOf(row).length > 0;
  }

  /** That a discount is for the articles of a list is told by there being some. */
  function withFlag(body, kind) {
    const {articleListItems: items} = body;
    return kind === "DiscountActions" && items ? {...body, targetArticleList: items.length > 0} : body;
  }

  function create(row, promotionId) {
    const body = withFlag(withList(bodyOf(row.values, null), row.values), row.kind);
    return {method: "POST", url: row.kind, body: {ID: row.id, ...body, promotion_ID: promotionId}, rule: row.key};
  }

  function update(row) {
    const changed = changesOf(row);
    if (!changed.length) {
      return null;
    }
    const whole = bodyOf(row.values, row.stored);
    const names = new Set(changed);
    REFERENCES.forEach(([number, reference]) => names.has(number) && reference in whole && names.add(reference));
    if (row.values.conditionType === "LOYALTY_ACCOUNT") {
      names.add("fieldName"); // what it was taken to be about must stay so
    }
    if (names.has("operator") || names.has("values")) {
      names.add("values");
    }
    const body = Object.fromEntries([...names].filter((name) => name in whole).map((name) => [name, whole[name]]));
    const headers = {"if-match": row.etag};
    const sent = withFlag(withList(body, row.values), row.kind);
    return {method: "PATCH", url: `${row.kind}(${row.id})`, headers, body: sent, rule: row.key};
  }

  function remove(row) {
    return {method: "DELETE", url: `${row.kind}(${row.id})`, headers: {"if-match": row.etag}, rule: row.key};
  }

  /**
   * What must be requested so that the service holds these rows: `removed` first, so that no place is taken twice.
   */
  function requests(rows, removed, promotionId) {
    const gone = removed.filter((row) => row.stored).map(remove);
    const kept = rows.map((row) => (row.stored ? update(row) : create(row, promotionId))).filter(Boolean);
    return [...gone, ...kept];
  }

  /** Gives rows their places where they do not stand in the order of their places. */
  function arrange(rows) {
    const isOrdered = rows.every((row, place) => {
      const before = rows[place - 1];
      if (!before) {
        return Number.isInteger(row.values.sequence);
      }
      const [here, there] = [row.values.sequence, before.values.sequence];
      return here > there || (here === there && row.id > before.id);
    });
    if (!isOrdered) {
      rows.forEach((row, place) => {
        row.values.sequence = (place + 1) * 10;
      });
    }
  }

  return {KINDS, REFERENCES, read, blank, duplicate, type, isChanged, plain, requests, arrange};
});
