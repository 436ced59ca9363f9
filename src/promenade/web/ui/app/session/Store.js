sap.ui.define([], function () {
  "use strict";

  const KEY = "promenade.session";

  function read() {
    try {
      return JSON.parse(window.sessionStorage.getItem(KEY) || "null") || {};
    } catch {
      return {};
    }
  }

  /**
   * The token of this tab: it outlives a reload and ends with the tab.
   *
   * A script that ran here could use the token wherever it were kept; no script of another host can, as the page's
   * policy lets none run.
   */
  return {
    /** The access token, null without one that still holds. */
    token() {
      const {accessToken, expiresAt} = read();
      return expiresAt > Date.now() ? accessToken : null;
    },

    /** When the token that was kept last runs out, in milliseconds since 1970; 0 without one. */
    endsAt() {
      return read().expiresAt || 0;
    },

    /** What the issuer said of who signed in, for signing out there; may be undefined. */
    idToken() {
      return read().idToken;
    },

    /** Keeps a token for so many seconds. */
    keep(accessToken, seconds, idToken) {
      const expiresAt = Date.now() + seconds * 1000;
      window.sessionStorage.setItem(KEY, JSON.stringify({accessToken, expiresAt, idToken}));
    },

    clear() {
      window.sessionStorage.removeItem(KEY);
    }
  };
});
