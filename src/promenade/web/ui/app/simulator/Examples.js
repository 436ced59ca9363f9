sap.ui.define(["promenade/simulator/Basket", "promenade/simulator/Lookup"], function (Basket, Lookup) {
  "use strict";

  const LINES = 4;
  const SELECT = "conditionType,articleNumber,articleGroupId,minQuantity";

  /** `2.000` -> `2`; nothing -> `1`. */
  const pieces = (minimum) => String(Math.max(1, Math.ceil(Number(minimum || 1))));

  async function lineOf({articleNumber, articleGroupId, minQuantity}) {
    const [field, value] = articleNumber ? ["articleNumber", articleNumber] : ["articleGroupId", articleGroupId];
    const article = value ? await Lookup.articleBy(field, value) : null;
    return article ? [Basket.line(article, pieces(minQuantity))] : [];
  }

  async function linesOf(conditions) {
    const made = await Promise.all(conditions.slice(0, LINES).map(lineOf));
    return made.flat();
  }

  const conditions = (filter) =>
    Lookup.read("Conditions", {filter, select: SELECT, orderby: "promotion_ID,sequence", top: LINES});

  return {
    /** Lines of articles that running promotions ask for. */
    async anything() {
      return linesOf(await conditions("conditionType in ('ARTICLE','ARTICLE_GROUP') and promotion/status eq 'ACTIVE'"));
    },

    /** A basket of an address with its shop and the names of its articles looked up. */
    async named(basket) {
      const numbers = basket.lines.map((line) => line.articleNumber);
      const [store, articles] = await Promise.all([
        basket.store ? Lookup.store(basket.store.code) : Lookup.firstStore(),
        Lookup.articlesOf(numbers)
      ]);
      const known = new Map(articles.map((article) => [article.articleNumber, article]));
      const lines = basket.lines.map((line) => {
        const {name, ean, unit, currency} = known.get(line.articleNumber) || {};
        return {...line, name: name || "", ean: ean || "", unit: unit || "", currency: currency || ""};
      });
      return {...basket, store, lines};
    }
  };
});
