sap.ui.define(["promenade/net/Http"], function (Http) {
  "use strict";

  /** Few rows of administration by what a person types; decimals come as texts. */
  const ARTICLE = "articleNumber,name,ean,basePrice,currency,unit";
  const STORE = "code,name,currency,timeZone";
  const AT_ONCE = 100;
  const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
  const headers = {Accept: "application/json;IEEE754Compatible=true"};

  const quoted = (text) => `'${String(text).replace(/'/g, "''")}'`;

  function query(options) {
    return Object.entries(options)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => `$${key}=${encodeURIComponent(value)}`)
      .join("&");
  }

  async function read(set, options, signal) {
    return (await Http.get(`/admin/${set}?${query(options)}`, {headers, signal})).value;
  }

  const isIn = (field, values) => `${field} in (${values.map(quoted).join(",")})`;

  const Lookup = {
    read,
    isIn,
    quoted,
    isId: (text) => GUID.test(text || ""),

    /** Rows whose field has one of these values, by few requests however many there are. */
    async among(set, field, values, options) {
      const wanted = [...new Set(values)].filter((value) => value);
      const parts = [];
      for (let from = 0; from < wanted.length; from += AT_ONCE) {
        const filter = isIn(field, wanted.slice(from, from + AT_ONCE));
        parts.push(read(set, {...options, filter: options.filter ? `${filter} and ${options.filter}` : filter}));
      }
      return (await Promise.all(parts)).flat();
    },

    /** Up to 20 articles whose number begins like the text, else whose name or number holds it. */
    async articles(typed, signal) {
      const text = typed.trim();
      const shown = {select: ARTICLE, top: 20};
      if (/^\S*\d\S*$/.test(text)) {
        // Numbers are found by an index, however many articles there are.
        const filter = `startswith(articleNumber,${quoted(text)}) or ean eq ${quoted(text)}`;
        const found = await read("Articles", {...shown, filter, orderby: "articleNumber"}, signal);
        if (found.length) {
          return found;
        }
      }
      return read("Articles", {...shown, search: text || undefined, orderby: "name"}, signal);
    },

    /** Whether a set has a row with this value of a field. */
    async isThere(set, field, value) {
      return (await read(set, {filter: `${field} eq ${quoted(value)}`, select: field, top: 1})).length > 0;
    },

    /** The article with exactly this number, or this EAN; null when there is none. */
    async articleBy(field, value) {
      return (await read("Articles", {filter: `${field} eq ${quoted(value)}`, select: ARTICLE, top: 1}))[0] || null;
    },

    /** The first article that is for sale and meets a filter; null when there is none. */
    async articleWhere(filter) {
      const options = {filter: ["isActive eq true", filter].filter(Boolean).join(" and "), select: ARTICLE, top: 1};
      return (await read("Articles", {...options, orderby: "articleNumber"}))[0] || null;
    },

    /** Articles by their numbers. */
    articlesOf(numbers) {
      return Lookup.among("Articles", "articleNumber", numbers, {select: ARTICLE});
    },

    /** Up to 20 shops whose name or code holds the text. */
    stores(text, signal) {
      return read("PosGroups", {search: text.trim() || undefined, select: STORE, orderby: "code", top: 20}, signal);
    },

    /** The shop with this code; null when there is none. */
    async store(code) {
      return (await read("PosGroups", {filter: `code eq ${quoted(code)}`, select: STORE, top: 1}))[0] || null;
    },

    /** The shop to begin with: one that sells in the currency of the articles, a group of shops only at need. */
    async firstStore() {
      const [article] = await read("Articles", {select: "currency", top: 1});
      const isSame = article && article.currency ? ` and currency eq ${quoted(article.currency)}` : "";
      const options = {select: STORE, orderby: "code", top: 1};
      const [shop] = await read("PosGroups", {...options, filter: `parent_ID ne null and isActive eq true${isSame}`});
      return shop || (await read("PosGroups", {...options, filter: "isActive eq true"}))[0] || null;
    },

    /** The filter of POS groups with one of these codes and of those below them; nothing when there are none. */
    below(codes) {
      const paths = ["code", "parent/code", "parent/parent/code"];
      return codes.length ? `(${paths.map((path) => isIn(path, codes)).join(" or ")})` : "";
    },

    /** A shop that meets a filter: the known one if it does; a group of shops only at need. */
    async shopWhere(filter, known) {
      const options = {filter: `isActive eq true and ${filter}`, select: STORE, expand: "children($top=1)", top: 100};
      const found = await read("PosGroups", {...options, orderby: "code"});
      const shops = found.filter(({children}) => !children.length);
      return shops.find(({code}) => known && code === known.code) || shops[0] || found[0] || known;
    },

    /** Name, status and validity of a promotion; null when there is none. */
    async promotion(id) {
      if (!Lookup.isId(id)) {
        return null; // an address that somebody typed
      }
      const select = "ID,code,name,status,validFrom,validTo";
      const filter = `ID eq ${id} and IsActiveEntity eq true`;
      return (await read("Promotions", {filter, select, top: 1}))[0] || null;
    }
  };

  return Lookup;
});
