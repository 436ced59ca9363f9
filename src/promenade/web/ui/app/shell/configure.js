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

  /** `de-CH` for pages in German where the person prefers the German of Switzerland; texts are the same for all. */
  function regional() {
    const preferred = (navigator.languages || [navigator.language || language]).map((tag) => new Intl.Locale(tag));
    const {region} = preferred.find((one) => one.language === language) || {};
    return region ? `${language}-${region}` : language;
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
