sap.ui.define(["sap/ui/core/routing/History", "promenade/net/News"], function (History, News) {
  "use strict";

  /** Whether the person came here by going back, where the page is to be as it was left. */
  const isBack = () => History.getInstance().getDirection() === "Backwards";

  /** What of an address tells which page it is: how it is filtered, and whether a draft of it is shown, does not. */
  const placeOf = (hash) => hash.split("?")[0].replace(/,draft$/, "");

  return {
    /**
     * Has a page read what it shows each time that somebody comes to it, and again when another tab has written
     * something: pages are kept while others are shown, and nothing of them may be as old as the last visit.
     *
     * @param {any} controller of the page
     * @param {string} route
     * @param {object} page
     * @param {(given: any) => unknown} page.enter called with the arguments of the address
     * @param {() => unknown} [page.leave] another page is shown
     * @param {() => unknown} [page.top] goes to the beginning of a page that somebody has not just come back to
     * @param {(news: import("../net/News").Item[]) => unknown} [page.again] reads once more, while the page is shown
     * @returns {() => void} ends it
     */
    follow(controller, route, {enter, leave = () => {}, top = () => {}, again = () => {}}) {
      const router = controller.getOwnerComponent().getRouter();
      /** @type {string | null} */
      let here = null;
      const onAny = (event) => {
        const before = here;
        here = event.getParameter("name") === route ? placeOf(router.getHashChanger().getHash()) : null;
        if (before !== null && here === null) {
          leave();
        }
        if (here !== null && (before === null ? !isBack() : before !== here)) {
          top();
        }
      };
      const onMatched = (event) => enter(event.getParameter("arguments"));
      router.attachRouteMatched(onAny);
      router.getRoute(route).attachPatternMatched(onMatched);
      const stop = News.hear((news) => here !== null && again(news));
      return () => {
        stop();
        router.detachRouteMatched(onAny);
        router.getRoute(route).detachPatternMatched(onMatched);
      };
    }
  };
});
