sap.ui.define(
  ["sap/m/Text", "promenade/generic/Extensions", "promenade/generic/Format"],
  function (Text, Extensions, Format) {
    "use strict";

    /** How something stands, in a sentence at the head of its page: what its figures come to. */
    const DAY_MS = 86_400_000;
    const TEXTS = "resources.sentence";

    const fill = (text, values) => values.reduce((filled, value, at) => filled.replace(`{${at}}`, value), text || "");

    /** Whole days from now on, at least one: what ends within a day leaves one. */
    const daysTo = (moment) => Format.number(Math.max(1, Math.ceil((Date.parse(moment) - Date.now()) / DAY_MS)));
    const isAhead = (moment) => Boolean(moment) && Date.parse(moment) > Date.now();

    function ofWindow({startAt, endAt}, say) {
      if (endAt && !isAhead(endAt)) {
        return say("over", Format.end(endAt));
      }
      if (isAhead(startAt)) {
        return say("ahead", Format.begin(startAt), daysTo(startAt));
      }
      return endAt ? say("under", Format.end(endAt), daysTo(endAt)) : say("always");
    }

    function ofCoupons(given, say) {
      const {codeType, validityDays, maxRedemptions, maxRedemptionsPerCustomer} = given;
      return [
        codeType === "GENERIC" ? say("shared") : say("own"),
        codeType !== "GENERIC" && validityDays !== null ? say("days", Format.number(validityDays)) : "",
        maxRedemptionsPerCustomer === null ? "" : say("perCustomer", Format.number(maxRedemptionsPerCustomer)),
        maxRedemptions === null ? "" : say("inAll", Format.number(maxRedemptions))
      ]
        .filter(Boolean)
        .join(" ");
    }

    function ofArticle({isActive, basePrice, currency, unit}, say) {
      if (!isActive) {
        return say("notForSale");
      }
      return basePrice === null ? say("noPrice") : say("price", Format.money(basePrice, currency), unit);
    }

    const ofPlace = ({isActive, currency, timeZone}, say) =>
      isActive ? say("prices", currency, timeZone) : say("noPrices");

    /** Of each set: the properties that a sentence is made of, the texts for it, and how it is made. */
    const MADE = {
      Campaigns: {paths: ["startAt", "endAt"], texts: ["over", "ahead", "under", "always"], make: ofWindow},
      CouponTypes: {
        paths: ["codeType", "validityDays", "maxRedemptions", "maxRedemptionsPerCustomer"],
        texts: ["shared", "own", "days", "perCustomer", "inAll"],
        make: ofCoupons
      },
      Articles: {
        paths: ["isActive", "basePrice", "currency", "unit"],
        texts: ["notForSale", "noPrice", "price"],
        make: ofArticle
      },
      PosGroups: {paths: ["isActive", "currency", "timeZone"], texts: ["noPrices", "prices"], make: ofPlace}
    };

    function sentence(set) {
      const {paths, texts, make} = MADE[set];
      return new Text({
        text: {
          parts: [
            ...paths.map((path) => ({path, targetType: "any"})),
            ...texts.map((name) => ({path: `i18n>${TEXTS}.${set}.${name}`}))
          ],
          formatter(...values) {
            if (values[0] === undefined) {
              return ""; // not read yet
            }
            const given = Object.fromEntries(paths.map((path, at) => [path, values[at] ?? null]));
            return make(given, (name, ...filled) => fill(values[paths.length + texts.indexOf(name)], filled));
          }
        }
      });
    }

    return {
      /** Has the pages of campaigns, coupon types, articles and POS groups say how these stand. */
      extend() {
        Object.keys(MADE).forEach((set) => {
          Extensions.add(set, {header: [{id: "sentence", create: () => sentence(set)}]});
        });
      }
    };
  }
);
