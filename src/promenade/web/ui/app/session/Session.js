sap.ui.define(
  [
    "promenade/session/CodeFlow",
    "promenade/session/Fault",
    "promenade/session/Pages",
    "promenade/session/Renewal",
    "promenade/session/Shared",
    "promenade/session/Store"
  ],
  function (CodeFlow, Fault, Pages, Renewal, Shared, Store) {
    "use strict";

    /**
     * Who sits here, and what that person may do.
     *
     * `open` comes first and is awaited once; everything else can be asked at any time after it.
     */
    const SIGNED_OUT = "promenade.signedOut";
    const STORE = "local-store";
    const FIRST_DAY = "#/store"; // where a store that has just been set up begins
    const NEVER = new Promise(() => {});

    let how = null;
    let who = null;
    let isLeft = false; // somebody has signed out
    let isBehind = false; // models still send former headers
    const listeners = [];

    async function answerOf(url) {
      let answer;
      let body;
      try {
        answer = await fetch(url, {headers: Session.sentHeaders()});
        body = await answer.json();
      } catch {
        throw new Fault("unreachable");
      }
      const said = answer.ok ? body : body && body.error;
      // Something before the service has answered in its place: the service's own errors say what they are.
      if (!said || (!answer.ok && !said.message)) {
        throw new Fault("unreachable");
      }
      return {status: answer.status, body: said};
    }

    async function ask() {
      const {status, body} = await answerOf("/ui/me");
      if (status >= 400 && status !== 401) {
        throw new Fault(status === 403 ? "notAllowed" : "refused", [body.message]);
      }
      return status === 401 ? null : body;
    }

    /** Whether another tab has signed in, whose sign-in this one shares from now on. */
    async function isShared() {
      try {
        return await Shared.renew(how);
      } catch {
        throw new Fault("unreachable");
      }
    }

    /** The token of the answer that the issuer has sent the tab back with; whether there was one. */
    async function taken(answer) {
      try {
        CodeFlow.keep(await CodeFlow.redeem(how, answer));
        return true;
      } catch (fault) {
        // An old address, opened once more by somebody who is signed in.
        if (fault.key === "unasked" && (Store.token() || (await isShared()))) {
          return false;
        }
        throw fault;
      }
    }

    async function enterCloud() {
      const answer = CodeFlow.answer();
      if (answer && CodeFlow.isForOpener(answer)) {
        Renewal.handOver(answer);
        throw new Fault("handedOver");
      }
      const isFresh = answer !== null && (await taken(answer));
      if (!Store.token() && !(await isShared())) {
        if (window.sessionStorage.getItem(SIGNED_OUT)) {
          window.sessionStorage.removeItem(SIGNED_OUT);
          throw new Fault("signedOut");
        }
        await CodeFlow.leave(how);
      }
      const found = await ask();
      if (found === null) {
        Store.clear();
        if (isFresh) {
          throw new Fault("notAccepted", [how.issuer]);
        }
        await CodeFlow.leave(how);
      }
      return found;
    }

    async function enterStore() {
      if (!how.hasSession) {
        await Pages.password(how.isSetUp);
        if (!how.isSetUp && !window.location.hash) {
          window.location.hash = FIRST_DAY;
        }
      }
      return ask();
    }

    async function enter() {
      const {status, body} = await answerOf("/ui/sign-in.json");
      if (status >= 400) {
        throw new Fault("refused", [body.message]);
      }
      how = body;
      return how.edition === STORE ? enterStore() : enterCloud();
    }

    /** Says why nobody is signed in and waits until the person wants to try again. */
    async function explain(fault) {
      const texts = await Pages.texts();
      const isDone = fault.key === "signedOut" || fault.key === "handedOver";
      const heading = texts.getText(isDone ? `session.${fault.key}` : "session.failed");
      const button = {handedOver: null, notAllowed: "session.signOut", signedOut: "session.signIn"}[fault.key];
      const label = button === undefined ? "session.tryAgain" : button;
      const words = texts.getText(`session.${fault.key}Text`, fault.values);
      await Pages.message(heading, words, label && texts.getText(label));
      if (fault.key === "notAllowed") {
        await Session.signOut();
      }
    }

    /** Browsers keep a whole page to go back to: whoever does that after a sign-out must not see what was on it. */
    function reloadWhenLeft({persisted}) {
      if (persisted && isLeft) {
        window.location.reload();
      }
    }

    /** Another tab has signed out: nothing of the person stays here either. */
    function onSignedOut() {
      isLeft = true;
      Store.clear();
      window.sessionStorage.setItem(SIGNED_OUT, "yes");
      window.history.replaceState(null, "", "/");
      window.location.reload();
    }

    /** Gives the models the headers to send from now on; whether they could all take them. */
    function pass() {
      const headers = Session.sentHeaders();
      try {
        listeners.forEach((callback) => callback(headers));
        isBehind = false;
      } catch {
        isBehind = true; // a model with changes under way takes no other headers
      }
      return !isBehind;
    }

    function catchUp() {
      if (isBehind) {
        pass();
      }
    }

    /** `waits`: the former token still holds, so that models may go on with it until their changes are sent. */
    async function onRenewed({waits = false} = {}) {
      const now = await ask();
      if (!now || now.user !== who.user || now.tenantId !== who.tenantId) {
        // What is on the page belongs to somebody else.
        window.location.reload();
        await NEVER;
      }
      who = now;
      if (!pass() && !waits) {
        // The page begins anew, with drafts as they were saved.
        window.location.reload();
        await NEVER;
      }
    }

    const Session = {
      /**
       * Signs in, by a token that this tab has, by way of the issuer's page, or with a store's password; resolves when
       * the service knows whom.
       */
      async open() {
        while (!who) {
          try {
            who = await enter();
          } catch (fault) {
            if (!fault.key) {
              throw fault;
            }
            await explain(fault);
          }
        }
        window.sessionStorage.removeItem(SIGNED_OUT);
        Renewal.watch(how, onRenewed, onSignedOut, catchUp);
        window.addEventListener("pageshow", reloadWhenLeft);
        return who;
      },

      /** What `/ui/me` answers: `{user, tenantId, edition, services: {<service>: boolean}, sets: {<set>: [verbs]}}`. */
      current() {
        return who;
      },

      /** Whether the person may "create", "update" or "delete" in an entity set of administration. */
      may(verb, set) {
        return (who.sets[set] || []).includes(verb);
      },

      /**
       * What every request to the service carries, once the token still holds.
       *
       * @returns {Promise<Record<string, string>>}
       */
      async headers() {
        if (how && how.clientId && !Store.token() && !(await Renewal.quietly())) {
          await Renewal.require();
        }
        return Session.sentHeaders();
      },

      /**
       * The same as known at this moment.
       *
       * @returns {Record<string, string>}
       */
      sentHeaders() {
        const token = Store.token();
        return token ? {Authorization: `Bearer ${token}`} : {};
      },

      /** Calls back with the headers to send from now on, whenever the same person has signed in again. */
      onRenewed(callback) {
        listeners.push(callback);
      },

      /** Ends it, here and at the issuer where that can be done, and shows that it has ended. */
      async signOut() {
        const idToken = Store.idToken();
        await Shared.end(how);
        Store.clear();
        isLeft = true;
        Renewal.tellSignedOut();
        if (how.edition === STORE) {
          await fetch("/local-admin/logout", {
            method: "POST",
            headers: {"Content-Type": "application/json"},
            body: "{}"
          });
          window.location.replace("/");
          return NEVER;
        }
        window.sessionStorage.setItem(SIGNED_OUT, "yes");
        const home = `${window.location.origin}/`;
        const address = new URL(how.endSessionEndpoint || home, home);
        if (how.endSessionEndpoint) {
          const hint = idToken ? {id_token_hint: idToken} : {};
          const asked = {client_id: how.clientId, post_logout_redirect_uri: home, ...hint};
          Object.entries(asked).forEach(([name, value]) => address.searchParams.set(name, value));
          window.location.replace(address.href);
        } else {
          window.history.replaceState(null, "", "/");
          window.location.reload();
        }
        return NEVER;
      }
    };

    return Session;
  }
);
