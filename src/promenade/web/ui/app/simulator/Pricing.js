sap.ui.define(["promenade/net/Http", "promenade/session/Session"], function (Http, Session) {
  "use strict";

  const ACCEPT = "application/json;IEEE754Compatible=true"; // money as texts: no binary fraction ever sees it
  let key = null;

  /**
   * What tills show. In a store that is its API key, asked for with the session and kept in memory alone.
   *
   * @returns {Promise<Record<string, string>>}
   */
  async function credential() {
    if (Session.current().edition !== "local-store") {
      return {};
    }
    key ||= (await Http.post("/local-admin/getApiKey", {})).apiKey;
    return {"X-Api-Key": key};
  }

  async function post(path, body, signal) {
    const headers = {...(await credential()), Accept: ACCEPT};
    return Http.post(path, body, {headers, signal});
  }

  return {
    /** The price of a basket (EvaluateResponseV2); keeps nothing. Rejects with an HttpError, or when aborted. */
    async simulate(request, signal) {
      try {
        return await post("/pos/v2/simulate", {request}, signal);
      } catch (error) {
        if (error.status !== 401 || !key) {
          throw error;
        }
        key = null; // replaced meanwhile by somebody else
        return post("/pos/v2/simulate", {request}, signal);
      }
    },

    /** What is known of a coupon's code: `{valid, promotionId, reason}`. */
    coupon(code) {
      return post("/pos/coupons/validate", {code});
    }
  };
});
