sap.ui.define(
  ["promenade/net/Http", "promenade/rules/References", "promenade/rules/Rows"],
  function (Http, References, Rows) {
    "use strict";

    /** What the editor reads: the rules of a promotion, and the names of what they speak of. */
    const HEADERS = {headers: {Accept: "application/json;IEEE754Compatible=true"}};
    const NAMES_MAX = 60;
    const NAMED = {
      Articles: {key: "articleNumber", fields: ["articleNumber", "targetArticleNumber", "freeItemArticleNumber"]},
      ArticleGroups: {key: "groupId", fields: ["articleGroupId", "targetArticleGroupId"]},
      CouponTypes: {key: "ID", fields: ["targetCouponType_ID"]},
      CustomerGroups: {key: "code", fields: [], values: "customerGroup"},
      LoyaltyTiers: {key: "code", fields: [], values: "loyaltyTier"}
    };

    async function get(path) {
      return Http.get(`/admin/${path}`, HEADERS);
    }

    /** All pages of a list: rules are few, their lists of articles may be long. */
    async function whole(first, key) {
      const items = [...first[key]];
      let next = first[`${key}@odata.nextLink`] || (key === "value" && first["@odata.nextLink"]);
      while (next) {
        const page = await Http.get(new URL(next, `${window.location.origin}/admin/`).href, HEADERS);
        items.push(...page.value);
        next = page["@odata.nextLink"];
      }
      return items;
    }

    async function complete(entity) {
      for (const key of Object.keys(entity)) {
        if (Array.isArray(entity[key])) {
          entity[key] = await whole(entity, key);
          await Promise.all(entity[key].map(complete));
        }
      }
      return entity;
    }

    async function rowsOf(kind, promotionId) {
      const order = kind === "LoyaltyActions" ? "createdAt,ID" : "sequence,ID";
      const query = `$filter=promotion_ID eq ${promotionId}&$orderby=${order}&$expand=${Rows.KINDS[kind].expand}`;
      const entities = await whole(await get(`${kind}?${encodeURI(query)}`), "value");
      return (await Promise.all(entities.map(complete))).map((entity) => Rows.read(kind, entity));
    }

    function keysIn(value, fields, found) {
      if (Array.isArray(value)) {
        value.forEach((one) => keysIn(one, fields, found));
      } else if (value && typeof value === "object") {
        Object.entries(value).forEach(([name, one]) => {
          if (fields.includes(name) && one) {
            found.add(one);
          } else {
            keysIn(one, fields, found);
          }
        });
      }
      return found;
    }

    /** The values of conditions that name rows of one kind. */
    function valuesNaming(kind, rows) {
      const naming = rows.filter((values) => kind && References.ofValues(values) === kind);
      return naming.flatMap((values) => values.values.map((one) => one.value));
    }

    return {
      /** `{<kind>: [row]}` of a promotion. */
      async rules(promotionId) {
        const kinds = Object.keys(Rows.KINDS);
        const lists = await Promise.all(kinds.map((kind) => rowsOf(kind, promotionId)));
        return Object.fromEntries(kinds.map((kind, at) => [kind, lists[at]]));
      },

      /** What rows name, by entity set; the first of long lists. */
      keysOf(rows) {
        const values = rows.map((row) => row.values);
        return Object.fromEntries(
          Object.entries(NAMED).map(([set, {fields, values: kind}]) => [
            set,
            [...keysIn(values, fields, new Set(valuesNaming(kind, values)))].slice(0, NAMES_MAX)
          ])
        );
      },

      /** Names by key. */
      async names(set, keys) {
        if (!keys.length) {
          return {};
        }
        const {key} = NAMED[set];
        const listed = keys.map((one) => (key === "ID" ? one : `'${one.replaceAll("'", "''")}'`)).join(",");
        const query = `$filter=${key} in (${listed})&$select=${key},name`;
        const {value} = await get(`${set}?${encodeURI(query).replaceAll("&", "&").replaceAll("#", "%23")}`);
        return Object.fromEntries(value.map((row) => [row[key], row.name]));
      }
    };
  }
);
