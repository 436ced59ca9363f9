sap.ui.define(["promenade/net/Batch", "promenade/net/Http", "promenade/net/Ids"], function (Batch, Http, Ids) {
  "use strict";

  const COMPUTED = "@Org.OData.Core.V1.Computed";
  const EXACT = {headers: {Accept: "application/json;IEEE754Compatible=true"}};
  /** By the name of a template's part, the set that a promotion has in its place. */
  const LIVE = {conditions: "Conditions", discountActions: "DiscountActions", loyaltyActions: "LoyaltyActions"};
  const EXPAND = [
    "conditions($expand=valueListItems,articleListItems)",
    "discountActions($expand=scaledTiers,quantityTiers,bundleComponents,articleListItems," +
      "exclusions($expand=articleListItems))",
    "loyaltyActions"
  ].join(",");
  /** What makes a row itself: it is not taken over. */
  const OWN = new Set(["ID", "code", "IsActiveEntity", "HasActiveEntity", "HasDraftEntity"]);

  /** Follows the pages of the lists in a row, and of those in their rows. */
  async function complete(row) {
    for (const [name, value] of Object.entries(row)) {
      if (Array.isArray(value)) {
        let next = row[`${name}@odata.nextLink`];
        while (next) {
          const page = await Http.get(new URL(next, `${window.location.origin}/admin/`).href, EXACT);
          value.push(...page.value);
          next = page["@odata.nextLink"];
        }
        for (const one of value) {
          await complete(one);
        }
      }
    }
    return row;
  }

  /** A row as a new one of the entity at `path` of the metadata: all that both declare and that is set. */
  function copied(metaModel, row, path, ownerId) {
    const taken = {};
    for (const [name, value] of Object.entries(row)) {
      const declared = name.includes("@") || OWN.has(name) ? null : metaModel.getObject(`${path}/${name}`);
      if (!declared || value === null || value === ownerId || metaModel.getObject(`${path}/${name}${COMPUTED}`)) {
        continue;
      }
      if (!Array.isArray(value)) {
        taken[name] = value;
      } else if (value.length) {
        taken[name] = value.map((one) => copied(metaModel, one, `${path}/${name}`, row.ID));
      }
    }
    return taken;
  }

  /** Promotions made from templates, as the service itself makes them (`createPromotionFromTemplate`). */
  return {
    /** A template with all that it holds; decimals as texts. */
    async read(templateId) {
      const at = `/admin/PromotionTemplates(ID=${templateId},IsActiveEntity=true)?$expand=${EXPAND}`;
      return complete(await Http.get(at, EXACT));
    },

    /** What a change set must hold for a promotion of the template; `given` is what it says differently. */
    requests(metaModel, template, given, promotionId) {
      const own = copied(metaModel, {...template, ...given}, "/Promotions", null);
      const parts = Object.keys(LIVE);
      parts.forEach((part) => delete own[part]);
      const code = given.code ? {code: given.code} : {};
      const promotion = {...own, ...code, ID: promotionId, IsActiveEntity: true};
      const post = (url, body) => ({method: "POST", url, body});
      const rows = parts.flatMap((part) =>
        template[part].map((row) => {
          const live = copied(metaModel, row, `/${LIVE[part]}`, template.ID);
          return post(LIVE[part], {...live, promotion_ID: promotionId});
        })
      );
      const group = template.priorityGroup_ID && {
        priorityGroup_ID: template.priorityGroup_ID,
        promotion_ID: promotionId
      };
      return [post("Promotions", promotion), ...rows, ...(group ? [post("PriorityGroupPromotions", group)] : [])];
    },

    /** Makes the promotion, all of it or nothing; resolves with its ID. */
    async make(model, template, given) {
      const metaModel = model.getMetaModel();
      await metaModel.requestObject("/");
      const promotionId = Ids.guid();
      await Batch.changeSet("/admin/", this.requests(metaModel, template, given, promotionId));
      return promotionId;
    }
  };
});
