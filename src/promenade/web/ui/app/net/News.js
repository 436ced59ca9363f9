sap.ui.define([], function () {
  "use strict";

  /**
   * What the tabs of a browser tell each other: that something was written, never what. Whoever hears it reads again,
   * with rights of its own.
   *
   * @typedef {{set: string, id: string | null}} Item an entity set, and the entity of it where it is known
   */
  const NAME = "promenade.news";
  const WRITTEN = /^\/(?:admin\/)?([A-Z]\w*)(?:\((?:ID=)?([0-9a-f-]{36})([^)]*)\))?(.*)$/;
  /** What is asked for like an action and changes nothing. */
  const READS = /^\/(\w+\.)?check$/;

  const channel = new window.BroadcastChannel(NAME);
  /** @type {Set<(news: Item[]) => unknown>} */
  const listeners = new Set();
  /** @type {Item[]} */
  let unheard = [];
  let timer = 0;

  /** A tab that nobody looks at waits until somebody does, and then reads once. */
  function pass() {
    if (document.hidden || !unheard.length) {
      return;
    }
    const news = unheard;
    unheard = [];
    listeners.forEach((listener) => listener(news));
  }

  channel.addEventListener("message", ({data}) => {
    unheard.push(...data);
    clearTimeout(timer);
    timer = setTimeout(pass, 0);
  });
  document.addEventListener("visibilitychange", pass);

  /**
   * What a request has changed for others, null for nothing: what is in a draft is its author's until it is activated.
   *
   * @param {string} method
   * @param {string} path
   * @returns {Item | null}
   */
  function itemOf(method, path) {
    const [, set, id = null, key = "", rest = ""] = WRITTEN.exec(path) || [];
    const isOfDraft = key.includes("IsActiveEntity=false");
    const endsDraft = rest.endsWith("draftActivate") || (method === "DELETE" && !rest);
    return !set || method === "GET" || READS.test(rest) || (isOfDraft && !endsDraft) ? null : {set, id};
  }

  return {
    itemOf,

    /**
     * Tells other tabs of a request that was carried out; its path is one of administration's.
     *
     * @param {string} method
     * @param {string} path
     */
    wrote(method, path) {
      const item = itemOf(method, path);
      if (item) {
        channel.postMessage([item]);
      }
    },

    /**
     * Calls back with what other tabs have written, while this one is looked at; what this returns ends that.
     *
     * @param {(news: Item[]) => unknown} listener
     * @returns {() => void}
     */
    hear(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    }
  };
});
