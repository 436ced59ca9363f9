sap.ui.define(["promenade/net/News", "promenade/session/Session"], function (News, Session) {
  "use strict";

  /**
   * An answer that says no: `status`, and of the error in its body `code`, `message`, `target` and `details`; of an
   * answer in a change set also the `request` that was refused, and its `index` there.
   */
  class HttpError extends Error {
    /**
     * @param {number} status
     * @param {any} body
     */
    constructor(status, body) {
      const error = (body && (body.error || body)) || {};
      super(error.message || error.detail || `The service answered ${status}.`);
      this.status = status;
      this.code = error.code || null;
      this.target = error.target || null;
      this.details = error.details || [];
      this.index = -1;
      /** @type {{method: string, url: string, rule?: string} | null} */
      this.request = null;
    }
  }

  /** @param {Response} answer */
  async function bodyOf(answer) {
    const text = await answer.text();
    const isJson = (answer.headers.get("content-type") || "").includes("json");
    return isJson && text ? JSON.parse(text) : text;
  }

  const CSRF = "X-CSRF-Token";
  const CSRF_REFUSED = "CSRF_TOKEN_REQUIRED";
  /** @type {string | null} */
  let csrfToken = null;

  /**
   * What proves that this page made a write: only a session asks for it, a bearer token is proof enough.
   *
   * @param {Record<string, string>} own
   * @returns {Promise<Record<string, string>>}
   */
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

  /**
   * One request and its decoded answer. Rejects with an HttpError unless it is 2xx.
   *
   * `isFile`: what is answered is a file, a blob.
   *
   * @typedef {{body?: any, headers?: Record<string, string>, signal?: AbortSignal, isFile?: boolean}} Options
   * @param {string} method
   * @param {string} url
   * @param {Options} [options]
   * @returns {Promise<any>}
   */
  async function ask(method, url, {body, headers = {}, signal, isFile = false} = {}) {
    const own = await Session.headers();
    /** @type {Record<string, string>} */
    const sent = {...own, ...(method === "GET" ? {} : await proof(own)), ...headers};
    if (body !== undefined && !sent["Content-Type"]) {
      sent["Content-Type"] = "application/json";
    }
    const isText = body === undefined || typeof body === "string" || body instanceof Blob;
    const answer = await fetch(url, {method, headers: sent, body: isText ? body : JSON.stringify(body), signal});
    const decoded = await (isFile && answer.ok ? answer.blob() : bodyOf(answer));
    if (!answer.ok) {
      throw new HttpError(answer.status, decoded);
    }
    News.wrote(method, url);
    return decoded;
  }

  return {
    HttpError,

    /**
     * The decoded JSON, or the text, of an answer. Rejects with an HttpError unless it is 2xx.
     *
     * @param {string} method
     * @param {string} url
     * @param {Options} [options]
     * @returns {Promise<any>}
     */
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

    /**
     * @param {string} url
     * @param {Options} [options]
     */
    get(url, options) {
      return this.request("GET", url, options);
    },

    /**
     * @param {string} url
     * @param {any} [body]
     * @param {Options} [options]
     */
    post(url, body, options) {
      return this.request("POST", url, {...options, body});
    }
  };
});
