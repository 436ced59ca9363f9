sap.ui.define(["promenade/session/Fault", "promenade/session/Store"], function (Fault, Store) {
  "use strict";

  /**
   * The authorization code flow with PKCE (RFC 6749, 7636 and 9207), as a page does it that has no secret.
   *
   * What proves that an answer belongs to a question of this tab stays in the tab: `state`, and the verifier whose
   * digest alone the issuer was shown.
   */
  const KEY = "promenade.signIn";
  const POPUP = "popup.";
  const TOKEN_SECONDS = 3600; // where an issuer does not say

  function base64url(bytes) {
    return btoa(String.fromCharCode(...bytes))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  }

  function random() {
    return base64url(crypto.getRandomValues(new Uint8Array(32)));
  }

  async function challengeOf(verifier) {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
    return base64url(new Uint8Array(digest));
  }

  function home() {
    return `${window.location.origin}/`;
  }

  async function question(how, prefix) {
    if (!how.clientId) {
      throw new Fault("noClient");
    }
    if (!window.crypto || !window.crypto.subtle) {
      throw new Fault("insecure", [window.location.origin]);
    }
    const pending = {state: prefix + random(), verifier: random()};
    const address = new URL(how.authorizationEndpoint, home());
    const parameters = {
      response_type: "code",
      client_id: how.clientId,
      redirect_uri: home(),
      state: pending.state,
      code_challenge: await challengeOf(pending.verifier),
      code_challenge_method: "S256",
      ...(how.scope ? {scope: how.scope} : {})
    };
    Object.entries(parameters).forEach(([name, value]) => address.searchParams.set(name, value));
    return {pending, address: address.href};
  }

  /** What the token endpoint says; {} where that is nothing of use. */
  async function asked(tokenEndpoint, form) {
    try {
      const response = await fetch(tokenEndpoint, {method: "POST", body: form, credentials: "omit"});
      return (await response.json()) || {};
    } catch {
      return {};
    }
  }

  function tokenOf(given, how) {
    const {access_token: token, token_type: kind, expires_in: seconds, id_token: idToken} = given;
    if (!token) {
      const said = given.error_description || given.error;
      throw said ? new Fault("issuerSaid", [said]) : new Fault("noToken", [new URL(how.tokenEndpoint, home()).origin]);
    }
    // A token of a kind that the page does not know must not be used (RFC 6749, 7.1).
    if (String(kind).toLowerCase() !== "bearer") {
      throw new Fault("tokenKind", [kind || "-"]);
    }
    const sessionSeconds = given.session_expires_in;
    return {token, seconds: Number(seconds) > 0 ? Number(seconds) : TOKEN_SECONDS, idToken, sessionSeconds};
  }

  async function redeem(how, answer, pending) {
    if (!pending || pending.state !== answer.state) {
      throw new Fault("unasked");
    }
    if (how.namesIssuer ? answer.iss !== how.issuer : answer.iss && answer.iss !== how.issuer) {
      throw new Fault("otherIssuer");
    }
    if (answer.error) {
      throw new Fault("issuerSaid", [answer.description || answer.error]);
    }
    const form = new URLSearchParams({
      grant_type: "authorization_code",
      client_id: how.clientId,
      code: answer.code,
      redirect_uri: home(),
      code_verifier: pending.verifier
    });
    return tokenOf(await asked(how.tokenEndpoint, form), how);
  }

  return {
    /** Keeps what the issuer has given, for this tab or as its part of a sign-in that tabs share. */
    keep({token, seconds, idToken, sessionSeconds}) {
      if (sessionSeconds) {
        Store.share(token, seconds, sessionSeconds);
      } else {
        Store.keep(token, seconds, idToken);
      }
    },

    /** Leads this tab to the issuer; it comes back to where it is now. Never resolves. */
    async leave(how) {
      const {pending, address} = await question(how, "");
      const {hash, search} = window.location;
      window.sessionStorage.setItem(KEY, JSON.stringify({...pending, hash, search}));
      window.location.assign(address);
      return new Promise(() => {});
    },

    /** What the issuer has sent this tab back with: `{state, code, iss, error, description}`, or null. */
    answer() {
      const given = new URLSearchParams(window.location.search);
      const state = given.get("state");
      if (!state || !(given.has("code") || given.has("error"))) {
        return null;
      }
      return {
        state,
        code: given.get("code"),
        iss: given.get("iss"),
        error: given.get("error"),
        description: given.get("error_description")
      };
    },

    /** Whether an answer is for the tab that has opened this window. */
    isForOpener(answer) {
      return answer.state.startsWith(POPUP);
    },

    /** Puts the address back that the tab had before it left, and changes the code for a token. */
    async redeem(how, answer) {
      const pending = JSON.parse(window.sessionStorage.getItem(KEY) || "null");
      window.sessionStorage.removeItem(KEY);
      const {search = "", hash = window.location.hash} = pending && pending.state === answer.state ? pending : {};
      // Codes and errors are nothing to bookmark or to send on.
      window.history.replaceState(null, "", `/${search}${hash}`);
      return redeem(how, answer, pending);
    },

    /** A question for a window of its own: `{address, redeem(answer) -> token}`. */
    async aside(how) {
      const {pending, address} = await question(how, POPUP);
      return {address, isFor: ({state}) => state === pending.state, redeem: (answer) => redeem(how, answer, pending)};
    }
  };
});
