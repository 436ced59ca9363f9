sap.ui.define(
  ["promenade/net/Http", "promenade/net/News", "promenade/session/Session"],
  function (Http, News, Session) {
    "use strict";

    const BYTES_MAX = 64 * 1024 * 1024;
    const ROWS_MAX = 10_000;

    /** Jobs that this tab has begun and nobody has asked for yet. */
    const sent = new Set();

    /** A key of its own for each import; also where the page does not come by https. */
    function newKey() {
      return [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
    }

    function decoded(text) {
      try {
        return JSON.parse(text);
      } catch {
        return {};
      }
    }

    return {
      BYTES_MAX,
      ROWS_MAX,
      newKey,

      /** Whether this tab has begun a job, once: when its end is first looked at. */
      isNew: (job) => sent.delete(job),

      /** The body of an import; `rows` is JSON already. */
      body(rows, isEachOnItsOwn) {
        return new Blob([`{"header":{"continueOnError":${Boolean(isEachOnItsOwn)}},"rows":`, rows, "}"]);
      },

      /**
       * Sends an import and tells how far it is, 0 to 100. Resolves with `{jobId}`; rejects with an HttpError.
       *
       * The same key again is the same import, so that one whose connection broke can be sent again.
       */
      async send(set, body, {key, onProgress, signal}) {
        const headers = {
          ...(await Session.headers()),
          "Content-Type": "application/json",
          Accept: "application/json",
          "Idempotency-Key": key
        };
        return new Promise((resolve, reject) => {
          const request = new XMLHttpRequest(); // fetch does not tell how much is sent
          request.open("POST", `/api/v1/${set}:bulk-import`);
          Object.entries(headers).forEach(([name, value]) => request.setRequestHeader(name, value));
          request.upload.onprogress = ({loaded, total}) => onProgress(Math.round((100 * loaded) / Math.max(total, 1)));
          request.onload = () => {
            const answer = decoded(request.responseText);
            const isGood = request.status >= 200 && request.status < 300;
            if (isGood) {
              sent.add(answer.jobId);
              News.wrote("POST", "/admin/ImportJobs");
              resolve(answer);
            } else {
              reject(new Http.HttpError(request.status, answer));
            }
          };
          request.onerror = () => reject(new Http.HttpError(0, {error: {code: "CONNECTION_BROKEN"}}));
          request.onabort = () => reject(new DOMException("", "AbortError"));
          signal.addEventListener("abort", () => request.abort(), {once: true});
          request.send(body);
        });
      }
    };
  }
);
