sap.ui.define([], function () {
  "use strict";

  const KEY = "promenade.session";
  /** @type {{accessToken: string, expiresAt: number, endsAt: number} | null} */
  let shared = null; // of the sign-in of all tabs: kept in no storage, as each tab gets its own anew

  function read() {
    if (shared) {
      return shared;
    }
    try {
      return JSON.parse(window.sessionStorage.getItem(KEY) || "null") || {};
    } catch {
      return {};
    }
  }

  /**
   * The token of this tab. One of another issuer outlives a reload and ends with the tab; one of the sign-in that tabs
   * share is in memory alone.
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

    /** When somebody has to sign in again, in milliseconds since 1970; 0 if nobody is signed in. */
    endsAt() {
      return shared ? shared.endsAt : read().expiresAt || 0;
    },

    /** When a token of the shared sign-in runs out; Infinity without one. */
    renewsAt() {
      return shared ? shared.expiresAt : Infinity;
    },

    /** Keeps a token of the sign-in that tabs share, for so many seconds. */
    share(accessToken, seconds, sessionSeconds) {
      window.sessionStorage.removeItem(KEY);
      const now = Date.now();
      shared = {accessToken, expiresAt: now + seconds * 1000, endsAt: now + sessionSeconds * 1000};
    },

    /** What the issuer said of who signed in, for signing out there; may be undefined. */
    idToken() {
      return read().idToken;
    },

    /** Keeps a token for so many seconds. */
    keep(accessToken, seconds, idToken) {
      shared = null;
      const expiresAt = Date.now() + seconds * 1000;
      window.sessionStorage.setItem(KEY, JSON.stringify({accessToken, expiresAt, idToken}));
    },

    clear() {
      shared = null;
      window.sessionStorage.removeItem(KEY);
    }
  };
});
