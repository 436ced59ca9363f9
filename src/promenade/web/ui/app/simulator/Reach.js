sap.ui.define(["promenade/generic/Format"], function (Format) {
  "use strict";

  /** What a customer could still get: gaps, nudges and recommendations as one card for each promotion. */
  const CARDS_MAX = 12;
  const EMPTY = {headline: "", detail: "", saving: "", reached: 0, percent: "", hasReached: false, isNudge: false};
  const money = (amount) => Format.money(amount.value, amount.currency);
  const isSomething = (amount) => /[1-9]/.test(String(amount.value));

  return class Reach {
    constructor(text, phrases) {
      this._text = text;
      this._phrases = phrases;
    }

    /** The cards, those that are told to customers first. */
    cards({thresholdGaps, nudges, recommendations}) {
      const cards = new Map();
      const card = (id, name) => {
        if (!cards.has(id)) {
          cards.set(id, {...EMPTY, promotionId: id, name});
        }
        return cards.get(id);
      };
      nudges.forEach((one) => {
        card(one.promotionId, one.promotionName).isNudge = true;
      });
      thresholdGaps.forEach((one) => this._addGap(card(one.promotionId, one.promotionName), one));
      recommendations.forEach((one) => this._addAdvice(card(one.promotionId, one.promotionName), one));
      return [...cards.values()].slice(0, CARDS_MAX);
    }

    _addGap(card, {type, currentValue, threshold, gap, potentialSaving}) {
      const isPieces = type === "ITEM_QUANTITY";
      const written = (value) => (isPieces ? Format.number(value) : Format.money(value, potentialSaving.currency));
      const saves = isSomething(potentialSaving);
      const key = `simulator.gap.${isPieces ? "pieces" : "amount"}${saves ? "Saving" : ""}`;
      const headline = this._text(key, [written(gap), money(potentialSaving)]);
      const detail = this._text("simulator.gapDetail", [written(currentValue), written(threshold)]);
      card.headline = card.headline ? `${card.headline} ${headline}` : headline;
      card.detail = card.detail ? `${card.detail} ${detail}` : detail;
    }

    _addAdvice(card, {kind, code, params, matchPercent}) {
      const sentences = this.sentences(params);
      if (!card.headline) {
        card.headline = sentences.join(" ") || this._text(`simulator.reason.${code}`);
      }
      if (kind === "NEAR_MISS") {
        card.reached = Number(matchPercent);
        card.percent = Format.percent(matchPercent);
        card.hasReached = true;
      }
    }

    /** What was asked and what was there, one sentence for each condition that failed. */
    sentences(params) {
      const all = Object.fromEntries((params || []).map(({key, value}) => [key, value]));
      const told = [];
      for (let place = 1; all[`reason${place === 1 ? "" : place}`]; place += 1) {
        const of = (name) => all[name + (place === 1 ? "" : place)];
        told.push(this._sentence(of));
      }
      return told;
    }

    _sentence(of) {
      const needs = this._phrases.of(of("needs") || of("excludes") || "");
      if (of("excludes")) {
        return this._text("simulator.notWith", [needs]);
      }
      if (!of("gap")) {
        return this._text("simulator.needs", [needs]);
      }
      const written = [of("gap"), of("current"), of("threshold")].map((value) => this._amount(value));
      return this._text(needs ? "simulator.short" : "simulator.shortTier", [...written, needs]);
    }

    /** `12.50 EUR` or `3`. */
    _amount(value) {
      const [number, currency] = String(value).split(" ");
      return currency ? Format.money(number, currency) : Format.number(number);
    }
  };
});
