sap.ui.define(
  [
    "sap/m/Input",
    "sap/ui/model/odata/type/Decimal",
    "promenade/generic/Fields",
    "promenade/generic/Marks",
    "promenade/generic/Meta",
    "promenade/generic/Reference",
    "promenade/generic/Texts",
    "promenade/net/Http",
    "promenade/promotions/Filters",
    "promenade/promotions/Texts"
  ],
  function (Input, Decimal, Fields, Marks, Meta, Reference, Words, Http, Filters, Texts) {
    "use strict";

    /** Which values of a template's rows one wants to say differently, by the set that they belong to. */
    const VALUES = {
      TemplateConditions: ["value", "valueTo", "minQuantity", "minAmount", "timeFrom", "timeTo"],
      TemplateDiscountActions: ["discountValue", "maxDiscountAmount", "maxBundles", "freeItemQuantity"],
      TemplateLoyaltyActions: ["points", "multiplier", "maxPoints"],
      TemplateDiscountActionScaledTiers: ["thresholdAmount", "discountValue"],
      TemplateDiscountActionQuantityTiers: ["minQuantity", "discountValue"],
      TemplateDiscountActionBundleComponents: ["quantity"]
    };
    const BELOW = {
      conditions: "TemplateConditions",
      discountActions: "TemplateDiscountActions",
      loyaltyActions: "TemplateLoyaltyActions",
      scaledTiers: "TemplateDiscountActionScaledTiers",
      quantityTiers: "TemplateDiscountActionQuantityTiers",
      bundleComponents: "TemplateDiscountActionBundleComponents"
    };
    /** Of conditions, a value is an amount or a number with these types alone. */
    const NUMERIC = new Set(["RECEIPT_AMOUNT", "ITEM_QUANTITY"]);
    /** What rows refer to by a key that a person knows, with the link that goes with it. */
    const REFERENCES = {
      articleGroupId: {set: "ArticleGroups", key: "groupId", link: "articleGroup_ID"},
      targetArticleGroupId: {set: "ArticleGroups", key: "groupId", link: "targetArticleGroup_ID"},
      articleNumber: {set: "Articles", key: "articleNumber", link: "article_ID"},
      targetArticleNumber: {set: "Articles", key: "articleNumber", link: "targetArticle_ID"},
      freeItemArticleNumber: {set: "Articles", key: "articleNumber", link: null}
    };
    const FIELDS_MAX = 14;
    const REFERENCES_MAX = 6;

    /** Rows of a template in their order: `{row, path, set}`. */
    function rowsOf(template, at = "") {
      return Object.entries(BELOW).flatMap(([part, set]) => {
        const rows = (template[part] || []).map((row, place) => ({row, path: `${at}/${part}/${place}`, set}));
        rows.sort((one, other) => (one.row.sequence || 0) - (other.row.sequence || 0));
        return rows.flatMap((one) => [one, ...rowsOf(one.row, one.path)]);
      });
    }

    /** A decimal is shown without zeros that say nothing: `3.000` as `3`. */
    function typeOf({type, ui5Type, precision, scale}) {
      return type === "Edm.Decimal" ? new Decimal({minFractionDigits: 0}, {precision, scale}) : ui5Type;
    }

    function isAdjusted({row, set}, name) {
      const isText = set === "TemplateConditions" && (name === "value" || name === "valueTo");
      return row[name] !== null && row[name] !== undefined && (!isText || NUMERIC.has(row.conditionType));
    }

    function labelOf(field, row) {
      const key =
        row.conditionType === "RECEIPT_AMOUNT" && field.path === "value"
          ? "minimum"
          : field.path === "discountValue" && (row.discountType === "PERCENTAGE" ? "percentage" : "amount");
      const label = (key && Texts.get(`adjust.${key}`)) || field.label;
      const isStep = "thresholdAmount" in row || ("minQuantity" in row && !row.conditionType);
      return isStep ? Texts.get("adjust.step", [row.sequence, label]) : label;
    }

    async function nameOf({set, key}, value) {
      const query = `$select=name&$top=1&$filter=${key} eq ${Filters.quoted(value)}`;
      const {
        value: [found]
      } = await Http.get(`/admin/${set}?${encodeURI(query)}`);
      return found ? `${found.name} (${value})` : value;
    }

    /** An input for something that rows refer to: what is named in it is taken wherever the other stood. */
    async function reference({set, key}, value, places) {
      const input = new Input({value: Texts.plain(await nameOf({set, key}, value)), required: true});
      let shown = input.getValue();
      const take = (control, rows) => {
        const [chosen] = rows;
        if (!chosen) {
          Marks.set(input, Words.of("required"));
          return;
        }
        shown = `${chosen.name} (${chosen[key]})`;
        input.setValue(shown);
        places.forEach(({row, name, link}) => {
          row[name] = chosen[key];
          if (link) {
            row[link] = null; // it goes by the new key
          }
        });
      };
      const source = {set, key, shown: [key, "name"]};
      return [
        Texts.get(`adjust.${set}`),
        Reference.attach(input, source, {take, isShown: (_, text) => text === shown})
      ];
    }

    /** What of a template's rules one may want to say differently. */
    return {
      /** Labels and inputs for amounts and numbers, bound to a JSON model `template` that holds the template. */
      async values(model, json) {
        const found = [];
        for (const one of rowsOf(json.getData())) {
          const meta = await Meta.of(model, one.set);
          for (const name of VALUES[one.set].filter((path) => isAdjusted(one, path))) {
            const known = meta.field(name);
            const field = {...known, ui5Type: typeOf(known), isRequired: true};
            const input = Fields.input(field, {model: "template"});
            input.setModel(json, "template").setBindingContext(json.createBindingContext(one.path), "template");
            found.push([labelOf(field, one.row), input]);
          }
        }
        return found.slice(0, FIELDS_MAX);
      },

      /** Labels and inputs for article groups and articles; the same one is asked for once. */
      async references(json) {
        const places = new Map();
        for (const {row} of rowsOf(json.getData())) {
          for (const [name, {set, key, link}] of Object.entries(REFERENCES)) {
            if (row[name]) {
              const at = `${set}/${row[name]}`;
              places.set(at, places.get(at) || {set, key, value: row[name], rows: []});
              places.get(at).rows.push({row, name, link});
            }
          }
        }
        const first = [...places.values()].slice(0, REFERENCES_MAX);
        return Promise.all(first.map((one) => reference(one, one.value, one.rows)));
      }
    };
  }
);
