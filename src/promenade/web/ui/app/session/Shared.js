sap.ui.define(["promenade/session/Store"], function (Store) {
  "use strict";

  /**
   * The sign-in that all tabs of the browser share: a cookie that no script can read, for which the issuer gives each
   * tab tokens that last some minutes.
   *
   * Tabs ask one after the other, as each answer brings the cookie that the next question needs.
   */
  const TURN = "promenade.signIn";

  async function ask(address) {
    const answer = await fetch(address, {method: "POST", credentials: "same-origin"});
    return answer.status === 200 ? answer.json() : null; // 204: nobody is signed in
  }

  return {
    /**
     * Gets the next token, and resolves to whether somebody is signed in; rejects where nobody answers.
     *
     * @param {{sessionEndpoint?: string}} how
     * @returns {Promise<boolean>}
     */
    async renew({sessionEndpoint}) {
      if (!sessionEndpoint || !navigator.locks) {
        return false;
      }
      const given = await navigator.locks.request(TURN, () => ask(sessionEndpoint));
      if (!given) {
        return false;
      }
      Store.share(given.access_token, given.expires_in, given.session_expires_in);
      return true;
    },

    /**
     * Ends it for all tabs.
     *
     * @param {{sessionEndpoint?: string, signOutEndpoint?: string}} how
     */
    async end({signOutEndpoint}) {
      if (signOutEndpoint) {
        await fetch(signOutEndpoint, {method: "POST", credentials: "same-origin"}).catch(() => {});
      }
    }
  };
});
