sap.ui.define(["promenade/net/Http", "promenade/net/News"], function (Http, News) {
  "use strict";

  const TYPE = "application/json;IEEE754Compatible=true";
  const FAILED_DEPENDENCY = 424; // what a request says that would have gone well but for another one of the set

  /** @typedef {{method: string, url: string, body?: any, headers?: Record<string, string>, rule?: string}} Request */

  /**
   * @param {Request} request
   * @param {number} place
   */
  function partOf(request, place) {
    const part = {
      id: String(place + 1),
      atomicityGroup: "all",
      method: request.method,
      url: request.url,
      headers: {accept: TYPE, ...(request.body === undefined ? {} : {"content-type": TYPE}), ...request.headers}
    };
    return request.body === undefined ? part : {...part, body: request.body};
  }

  /**
   * @param {{id: string, status: number, body: any}[]} answers
   * @param {Request[]} requests
   */
  function refusalOf(answers, requests) {
    const refused = answers.filter((answer) => answer.status >= 400);
    if (!refused.length && answers.length === requests.length) {
      return null;
    }
    const first = refused.find((answer) => answer.status !== FAILED_DEPENDENCY) || refused[0];
    if (!first) {
      return new Http.HttpError(500, null);
    }
    const error = new Http.HttpError(first.status, first.body);
    error.index = Number(first.id) - 1;
    error.request = requests[error.index];
    return error;
  }

  return {
    /**
     * Sends requests as one change set: all of them are carried out, in their order, or none.
     *
     * A request is `{method, url, body, headers}`, its address relative to `root` ("/admin/"); whatever else it holds
     * is not sent. Resolves with the decoded bodies of the answers; rejects with the HttpError of the request that was
     * refused, which has its `index` and the `request` itself.
     *
     * @param {string} root
     * @param {Request[]} requests
     * @returns {Promise<any[]>}
     */
    async changeSet(root, requests) {
      if (!requests.length) {
        return [];
      }
      const {responses} = await Http.post(`${root}$batch`, {requests: requests.map(partOf)});
      const answers = [...responses].sort((one, other) => Number(one.id) - Number(other.id));
      const refusal = refusalOf(answers, requests);
      if (refusal) {
        throw refusal;
      }
      requests.forEach(({method, url}) => News.wrote(method, `/${url}`));
      return answers.map((answer) => answer.body);
    }
  };
});
