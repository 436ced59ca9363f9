/*
 * What must be known before OpenUI5 starts: language and colours, as chosen here before or as the browser prefers.
 */
(function () {
  "use strict";

  function kept(name) {
    try {
      return window.localStorage.getItem(`promenade.${name}`);
    } catch {
      return null; // a browser that keeps nothing for pages
    }
  }

  const language = kept("language") || ((navigator.language || "en").startsWith("de") ? "de" : "en");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const colours = kept("colours") || (prefersDark ? "dark" : "light");

  /** The regions of which OpenUI5 knows how they write; of others it takes what it has for the language alone. */
  const KNOWN = {de: ["AT", "CH", "DE"], en: ["AU", "GB", "HK", "IE", "IN", "NZ", "PG", "SG", "US", "ZA"]};

  /**
   * The nearest of them to another region. English of the language alone is American; where the browser writes the day
   * before the month, as all do that take after the world's English, it is that of Britain, or that of Papua New Guinea
   * where the clock has twelve hours: this one is the world's English but for the money.
   */
  function nearest(region) {
    if (KNOWN[language].includes(region) || language !== "en") {
      return region;
    }
    const {hourCycle} = new Intl.DateTimeFormat(`en-${region}`, {hour: "numeric"}).resolvedOptions();
    const [first] = new Intl.DateTimeFormat(`en-${region}`, {dateStyle: "medium"}).formatToParts();
    const ofTheWorld = hourCycle === "h23" ? "GB" : "PG";
    return first.type === "day" ? ofTheWorld : "US";
  }

  /** `de-CH` for pages in German where the person prefers the German of Switzerland; texts are the same for all. */
  function regional() {
    const preferred = (navigator.languages || [navigator.language || language]).map((tag) => new Intl.Locale(tag));
    const {region} = preferred.find((one) => one.language === language) || {};
    return region ? `${language}-${nearest(region)}` : language;
  }

  document.documentElement.lang = language;
  const prefersStillness = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  window["sap-ui-config"] = {
    language,
    formatLocale: regional(),
    animationMode: prefersStillness ? "none" : "full",
    theme: colours === "dark" ? "sap_horizon_dark" : "sap_horizon"
  };
})();
