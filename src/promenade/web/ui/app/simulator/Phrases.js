sap.ui.define([], function () {
  "use strict";

  /**
   * What a promotion asks for, which the service says as an English noun phrase (`params.needs`), in the person's
   * language. A phrase that no pattern knows stays as it is.
   */
  const PHRASES = [
    [/^articles? group (.+)$/, "group"],
    [/^article (.+)$/, "article"],
    [/^manufacturer (.+)$/, "manufacturer"],
    [/^channel (.+)$/, "channel"],
    [/^an item with (\S+) (.+)$/, "itemWith"],
    [/^customer group (.+)$/, "customerGroup"],
    [/^customer (.+)$/, "customer"],
    [/^(.+) loyalty points$/, "points"],
    [/^loyalty tier (.+)$/, "tier"],
    [/^payment by (.+)$/, "payment"],
    [/^card type (.+)$/, "cardType"],
    [/^a card (.+)$/, "card"],
    [/^a purchase of (.+)$/, "purchase"],
    [/^(.+?) pieces of (.+)$/, "piecesOf"],
    [/^(.+) pieces$/, "pieces"],
    [/^a manual discount with reason (.+)$/, "manualReason"],
    [/^a manual discount$/, "manual"],
    [/^a purchase between (\d\d:\d\d) and (\d\d:\d\d)(?: on (.+))?$/, "hours"],
    [/^a purchase on (.+)$/, "days"],
    [/^a purchase from (\S+) until (\S+)$/, "period"],
    [/^a purchase from (\S+)$/, "from"],
    [/^a purchase until (\S+)$/, "until"]
  ];
  const OPERATORS = [
    [/^containing (.+)$/, "containing"],
    [/^starting with (.+)$/, "startingWith"],
    [/^above (.+)$/, "above"],
    [/^below (.+)$/, "below"],
    [/^at least (.+)$/, "atLeast"],
    [/^at most (.+)$/, "atMost"],
    [/^exactly (.+)$/, "exactly"],
    [/^between (\S+) and (\S+)$/, "between"]
  ];
  const DAYS = /\b(MON|TUE|WED|THU|FRI|SAT|SUN)\b/g;

  /**
   * `of(phrase)`, with a function that gives the text of a key.
   *
   * @param {(key: string, values?: string[]) => string} text
   */
  return function Phrases(text) {
    const inOwnWords = (part) =>
      part
        .replace(/ or /g, ` ${text("simulator.phrase.or")} `)
        .replace(/ and /g, ` ${text("simulator.phrase.and")} `)
        .replace(DAYS, (day) => text(`simulator.day.${day}`));

    function translate(phrase, patterns, rest) {
      for (const [pattern, key] of patterns) {
        const found = pattern.exec(phrase);
        if (found) {
          const parts = found.slice(1).map((part) => rest(part || ""));
          // Hours on certain days are another sentence than hours on any day.
          const isLonger = key === "hours" && found[3];
          return text(`simulator.phrase.${isLonger ? "hoursOn" : key}`, parts);
        }
      }
      return patterns === OPERATORS ? inOwnWords(phrase) : phrase;
    }

    return {of: (phrase) => translate(phrase, PHRASES, (part) => translate(part, OPERATORS, inOwnWords))};
  };
});
