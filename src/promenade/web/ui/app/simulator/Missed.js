sap.ui.define([], function () {
  "use strict";

  /** The promotions that were missed, as the person narrows them down: by words, and by a reason. */
  const wordsOf = (text) => text.toLocaleLowerCase().split(/\s+/).filter(Boolean);

  function hasAll({name, reason, detail}, words) {
    const told = [name, reason, detail].join(" ").toLocaleLowerCase();
    return words.every((word) => told.includes(word));
  }

  return {
    /** Reasons with how many there are of each, the most frequent first; of `known` ones that are gone, none. */
    reasons(missed, known) {
      const counts = new Map(known.map(({code, reason}) => [code, {code, reason, count: 0}]));
      missed.forEach(({code, reason}) => {
        const count = (counts.get(code)?.count || 0) + 1;
        counts.set(code, {code, reason, count});
      });
      return [...counts.values()].sort((left, right) => right.count - left.count);
    },

    /** Those that have all the words in their name, reason or explanation, and the reason's code if one is chosen. */
    among(missed, {text, code}) {
      const words = wordsOf(text);
      return missed.filter((one) => (!code || one.code === code) && hasAll(one, words));
    }
  };
});
