sap.ui.define(["promenade/net/Http"], function (Http) {
  "use strict";

  /** `Set?$apply=..&$top=..` of `{set, apply, filter, orderby, select, expand, search, top, skip, count}`. */
  function urlOf({set, ...options}) {
    const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== null && value !== "");
    return `${set}?${given.map(([name, value]) => `$${name}=${encodeURIComponent(value)}`).join("&")}`;
  }

  /** All rows of an answer: the service sends a thousand at a time. */
  async function rowsOf(service, body) {
    const rows = body.value;
    let next = body["@odata.nextLink"];
    while (next) {
      const {pathname, search} = new URL(next, new URL(`/${service}/`, window.location.href));
      const page = await Http.get(pathname + search);
      rows.push(...page.value);
      next = page["@odata.nextLink"];
    }
    return rows;
  }

  /** Reads many small answers with one request. */
  return {
    /**
     * The answers to queries of "admin" or "reporting", in their order: `{rows, count}` each.
     *
     * Rejects with the HttpError of the first query that failed.
     *
     * @param {string} service
     * @param {any[]} queries
     * @returns {Promise<any>}
     */
    async read(service, queries) {
      const requests = queries.map((one, index) => ({id: String(index), method: "GET", url: urlOf(one)}));
      const {responses} = await Http.post(`/${service}/$batch`, {requests});
      const byId = new Map(responses.map((one) => [one.id, one]));
      const bodies = requests.map(({id}) => {
        const {status, body} = byId.get(id);
        if (status >= 400) {
          throw new Http.HttpError(status, body);
        }
        return body;
      });
      return Promise.all(
        bodies.map(async (body) => {
          const rows = await rowsOf(service, body);
          return {rows, count: body["@odata.count"] ?? rows.length};
        })
      );
    },

    /** The first row of the answer to one query, undefined without one. */
    async first(service, query) {
      const [{rows}] = await this.read(service, [{...query, top: 1}]);
      return rows[0];
    },

    /** A text as a literal of OData. */
    text(value) {
      return `'${value.replaceAll("'", "''")}'`;
    },

    /** Conditions that all must hold; those that are not given are left out. */
    all(...conditions) {
      return conditions.filter(Boolean).join(" and ");
    },

    /** Of sales: those that a promotion applied to, or any; that it was held back from a control arm does not count. */
    applied(promotion) {
      return `promotions/any(p:p/pilotArm ne 'CONTROL'${promotion ? ` and p/promotion_ID eq ${promotion}` : ""})`;
    },

    /** `$apply` that adds up what a filter leaves, by keys. */
    sums(filter, keys, sums) {
      const added = Object.entries(sums)
        .map(([name, path]) => (path === "$count" ? `$count as ${name}` : `${path} with sum as ${name}`))
        .join(",");
      const grouped = keys.length ? `groupby((${keys.join(",")}),aggregate(${added}))` : `aggregate(${added})`;
      return filter ? `filter(${filter})/${grouped}` : grouped;
    }
  };
});
