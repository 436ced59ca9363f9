sap.ui.define(["promenade/session/Session"], function (Session) {
  "use strict";

  /** An answer that says no: `status`, and of the error in its body `code`, `message`, `target` and `details`. */
  class HttpError extends Error {
    constructor(status, body) {
      const error = (body && (body.error || body)) || {};
      super(error.message || error.detail || `The service answered ${status}.`);
      this.status = status;
      this.code = error.code || null;
      this.target = error.target || null;
      this.details = error.details || [];
    }
  }

  async function bodyOf(answer) {
    const text = await answer.text();
    const isJson = (answer.headers.get("content-type") || "").includes("json");
    return isJson && text ? JSON.parse(text) : text;
  }

  const CSRF = "X-CSRF-Token";
  const CSRF_REFUSED = "CSRF_TOKEN_REQUIRED";
  let csrfToken = null;

  /** What proves that this page made a write: only a session asks for it, a bearer token is proof enough. */
  async function proof(own) {
    if (own.Authorization) {
      return {};
    }
    if (!csrfToken) {
      const answer = await fetch("/admin/", {method: "HEAD", headers: {...own, [CSRF]: "Fetch"}});
      csrfToken = answer.headers.get(CSRF) || "none";
    }
    return {[CSRF]: csrfToken};
  }

  /** One request and its decoded answer. Rejects with an HttpError unless it is 2xx. */
  async function ask(method, url, {body, headers = {}, signal} = {}) {
    const own = await Session.headers();
    const sent = {...own, ...(method === "GET" ? {} : await proof(own)), ...headers};
    if (body !== undefined && !sent["Content-Type"]) {
      sent["Content-Type"] = "application/json";
    }
    const isText = body === undefined || typeof body === "string" || body instanceof Blob;
    const answer = await fetch(url, {method, headers: sent, body: isText ? body : JSON.stringify(body), signal});
    const decoded = await bodyOf(answer);
    if (!answer.ok) {
      throw new HttpError(answer.status, decoded);
    }
    return decoded;
  }

  return {
    HttpError,

    /** The decoded JSON, or the text, of an answer. Rejects with an HttpError unless it is 2xx. */
    async request(method, url, options) {
      try {
        return await ask(method, url, options);
      } catch (error) {
        // The session was begun anew in another tab, and the proof with it: what was refused has not happened.
        if (error.code !== CSRF_REFUSED || !csrfToken) {
          throw error;
        }
        csrfToken = null;
        return ask(method, url, options);
      }
    },

    get(url, options) {
      return this.request("GET", url, options);
    },

    post(url, body, options) {
      return this.request("POST", url, {...options, body});
    }
  };
});
