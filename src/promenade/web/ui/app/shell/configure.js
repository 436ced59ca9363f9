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

  document.documentElement.lang = language;
  const prefersStillness = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  window["sap-ui-config"] = {
    language,
    animationMode: prefersStillness ? "none" : "full",
    theme: colours === "dark" ? "sap_horizon_dark" : "sap_horizon"
  };
})();
