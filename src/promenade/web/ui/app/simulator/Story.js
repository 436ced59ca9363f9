sap.ui.define(
  ["promenade/generic/Format", "promenade/simulator/Phrases", "promenade/simulator/Reach"],
  function (Format, Phrases, Reach) {
    "use strict";

    /**
     * A priced basket as the page tells it: an EvaluateResponseV2 and the basket in, texts out.
     *
     * Every amount is the service's own; here they are only written the way the person's language does.
     */
    const money = (amount) => (amount ? Format.money(amount.value, amount.currency) : "");
    const off = (amount) => (amount ? `−${money(amount)}` : "");
    const isZero = (value) => !/[1-9]/.test(String(value));
    const isNegative = (value) => String(value).startsWith("-");

    const isFree = ({discountType, discountValue}) => discountType === "PERCENTAGE" && Number(discountValue) === 100;

    return class Story {
      /** `text(key, args)` gives a text in the person's language. */
      constructor(text) {
        this._text = text;
        this._phrases = Phrases(text);
        this._reach = new Reach(text, this._phrases);
      }

      /** All of it; `focus` is the promotion that the page was opened for: `{id, name, status}` or null. */
      of(answer, basket, focus) {
        const missed = (answer.missedPromotions || []).map((one) => this._missed(one));
        missed.sort((left, right) => left.rank - right.rank || right.reached - left.reached);
        const notable = missed.filter((one) => one.rank < 5).length;
        return {
          store: basket.store.name || basket.store.code,
          moment: answer.meta.evaluatedAt,
          lines: answer.lineItems.map((line, place) => this._line(line, basket.lines[place])),
          granted: answer.grantedItems.map((one) => this._granted(one)),
          totals: this._totals(answer.totals),
          coupons: this._coupons(answer),
          budgets: answer.budgetLimitedPromotions.map((one) => this._budget(one)),
          cards: this._reach.cards(answer),
          missed,
          notable,
          bestDeal: this._bestDeal(answer.meta.bestDeal),
          focus: focus && this._focus(answer, missed, focus)
        };
      }

      _line(line, {name}) {
        const isReturn = isNegative(line.lineTotal.value);
        const quantity = Format.number(line.quantity.value);
        const unit = line.quantity.unit === "PCE" ? "" : ` ${this._unit(line.quantity.unit)}`;
        return {
          reference: line.lineReference,
          title: name || line.articleNumber,
          detail: [`${quantity}${unit} × ${money(line.unitPrice)}`, this._never(line)].filter(Boolean).join(" · "),
          total: money(line.lineTotal),
          discount: off(line.lineDiscount),
          net: money(isReturn ? line.lineTotal : line.lineNet),
          isReduced: !isZero(line.lineDiscount.value),
          isReturn,
          isFree: line.isFreeItem,
          discounts: line.discounts.map((one) => this._discount(one, line))
        };
      }

      _never({neverDiscounted: reason}) {
        return reason ? this._text("simulator.neverDiscounted", [this._text(`simulator.never.${reason}`)]) : "";
      }

      _unit(unit) {
        const key = `simulator.unit.${unit}`;
        const found = this._text(key);
        return found === key ? unit : found;
      }

      _discount(one, line) {
        return {
          promotionId: one.promotionId,
          name: one.promotionName,
          amount: off(one.totalDiscount),
          kind: this._kind(one, line),
          isFree: isFree(one),
          coupon: one.triggeredByCoupon ? one.couponCode || "" : "",
          isCoupon: one.triggeredByCoupon
        };
      }

      _kind(one, {unitPrice}) {
        if (isFree(one)) {
          return this._text("simulator.kind.free");
        }
        const {discountType, discountValue} = one;
        const {currency} = unitPrice;
        const isPercent = discountType === "PERCENTAGE";
        const value = isPercent ? Format.percent(discountValue) : Format.money(discountValue, currency);
        return this._text(`simulator.kind.${discountType}`, [value]);
      }

      _granted(one) {
        return {
          title: one.articleNumber,
          number: one.articleNumber,
          quantity: Format.number(one.quantity),
          value: money(one.giveAwayValue),
          source: this._text(`simulator.priceSource.${one.priceSource}`),
          promotionId: one.promotionId,
          name: one.promotionName
        };
      }

      _totals({subtotal, discount, grandTotal, saleSubtotal, returnSubtotal, savingsSummary}) {
        return {
          subtotal: money(subtotal),
          discount: off(discount),
          grandTotal: money(grandTotal),
          sale: money(saleSubtotal),
          returned: money(returnSubtotal),
          hasReturns: Boolean(returnSubtotal),
          isReduced: !isZero(discount.value),
          percent: Format.percent(savingsSummary.savingsPercent),
          savings: money(savingsSummary.totalSavings),
          points: Format.number(savingsSummary.loyaltyPointsEarned),
          hasPoints: !isZero(savingsSummary.loyaltyPointsEarned),
          breakdown: savingsSummary.promotionBreakdown.map((one) => ({
            promotionId: one.promotionId,
            name: one.promotionName,
            amount: off(one.totalDiscount),
            lines:
              one.affectedItems.length === 1
                ? this._text("simulator.onOneLine")
                : this._text("simulator.onLines", [one.affectedItems.length])
          }))
        };
      }

      _coupons({appliedCoupons, invalidCoupons}) {
        const used = appliedCoupons.map(({code, couponTypeName}) => ({
          code,
          text: this._text("simulator.couponApplied", [couponTypeName]),
          state: "Success"
        }));
        const refused = invalidCoupons.map(({code, reason}) => ({
          code,
          text: this._known(`simulator.coupon.${reason}`, reason),
          state: "Warning"
        }));
        return [...used, ...refused];
      }

      _budget({promotionId, promotionName, reason}) {
        return {promotionId, name: promotionName, reason: this._known(`simulator.reason.${reason}`, reason)};
      }

      /** The text of a key, else the code as it is: a newer service may say more than this page knows. */
      _known(key, code) {
        const found = this._text(key);
        return found === key ? code : found;
      }

      _bestDeal(found) {
        return found ? this._text(found.optimal ? "simulator.bestDeal" : "simulator.bestDealFound") : "";
      }

      _missed(one) {
        const winner = one.blockedBy;
        const percent = one.matchPercent === undefined ? null : Number(one.matchPercent);
        return {
          promotionId: one.promotionId,
          name: one.promotionName,
          code: one.code,
          reason: this._known(`simulator.reason.${one.code}`, one.code),
          detail: this._reach.sentences(one.params).join(" "),
          reached: percent || 0,
          hasReached: Boolean(percent),
          percent: Format.percent(percent || 0),
          saving: one.potentialSaving ? this._text("simulator.wouldSave", [money(one.potentialSaving)]) : "",
          winner: winner ? winner.promotionName || winner.promotionId : "",
          winnerId: winner ? winner.promotionId : "",
          difference: winner ? this._difference(winner.difference) : "",
          remedy: this._remedy(one),
          rank: this._rank(one)
        };
      }

      _difference(difference) {
        if (!difference) {
          return "";
        }
        if (isZero(difference.value)) {
          return this._text("simulator.winnerSame");
        }
        const amount = money({...difference, value: String(difference.value).replace("-", "")});
        return this._text(isNegative(difference.value) ? "simulator.winnerLess" : "simulator.winnerMore", [amount]);
      }

      _remedy({code, blockedBy}) {
        if (blockedBy) {
          const rivals = (blockedBy.rivals || []).map((one) => one.promotionName || one.promotionId);
          return rivals.length ? this._text("simulator.remedy.winner", [rivals.join(", ")]) : "";
        }
        return this._known(`simulator.remedy.${code}`, "");
      }

      /** What somebody wants to read about first. */
      _rank({code, blockedBy, matchPercent, potentialSaving}) {
        if (blockedBy || code.startsWith("BLOCKED")) {
          return 0;
        }
        if (/^BUDGET|USAGE_LIMIT|NOTHING_LEFT/.test(code)) {
          return 1;
        }
        if (code === "COUPON_REQUIRED") {
          return potentialSaving && !isZero(potentialSaving.value) ? 2 : 5;
        }
        return Number(matchPercent) >= 50 || (potentialSaving && !isZero(potentialSaving.value)) ? 3 : 6;
      }

      _whyMissed({reason, detail, winner, difference, remedy}) {
        const told = [this._text("simulator.focusMissed", [reason]), detail];
        const rival = winner && difference ? `${winner} ${difference}.` : "";
        return [...told, rival, remedy].filter((one) => one).join(" ");
      }

      _focus(answer, missed, {id, name, status}) {
        const discounts = answer.totals.savingsSummary.promotionBreakdown.find((one) => one.promotionId === id);
        const gift = answer.grantedItems.find((one) => one.promotionId === id);
        const found = missed.find((one) => one.promotionId === id);
        const shown = {id, name: name || id, state: "Success", missed: null};
        if (discounts) {
          return {...shown, text: this._text("simulator.focusApplied", [money(discounts.totalDiscount)])};
        }
        if (gift) {
          return {...shown, text: this._text("simulator.focusGift", [gift.articleNumber])};
        }
        if (answer.appliedCoupons.some((one) => one.promotionIds.includes(id))) {
          return {...shown, text: this._text("simulator.focusRewards")};
        }
        if (found) {
          return {...shown, state: "Warning", missed: found, text: this._whyMissed(found)};
        }
        const isRunning = status === "ACTIVE" || status === "PILOT";
        const key = isRunning ? "simulator.focusRewards" : "simulator.focusAbsent";
        return {...shown, state: isRunning ? "Success" : "Information", text: this._text(key)};
      }
    };
  }
);
