sap.ui.define([], function () {
  "use strict";

  const DONE = "Success";
  const OPEN = "Information";
  const BAD = "Error";
  const ICONS = {[DONE]: "sap-icon://sys-enter-2", [OPEN]: "sap-icon://pending", [BAD]: "sap-icon://error"};

  const LINKS = {NOT_CONFIGURED: OPEN, WAITING: OPEN, CONNECTED: DONE, FAILING: BAD, QUIET: BAD};

  const step = (status, text) => ({status, icon: ICONS[status], text});

  function link({state, url, storeCode, lastError}, t) {
    return step(LINKS[state] || OPEN, t(`link.${state}`, storeCode || "", url || "", lastError || ""));
  }

  function download({state, pages}, {lastSyncAt}, promotions, t, format) {
    const values = [format.number(promotions), format.number(pages), lastSyncAt ? format.dateTime(lastSyncAt) : ""];
    return step(state === "WAITING" || state === "RUNNING" ? OPEN : DONE, t(`download.${state}`, ...values));
  }

  function till({keys, lastSeenAt, hasPriced}, t, format) {
    if (lastSeenAt) {
      return step(DONE, t("till.seen", format.dateTime(lastSeenAt)));
    }
    return hasPriced ? step(DONE, t("till.priced")) : step(OPEN, t(keys ? "till.waits" : "till.none"));
  }

  function line({promotions, waits, uploads}, t, format) {
    const works = waits.includes("POS_GROUP") ? t("worksNot") : t("works", format.number(promotions));
    const missing = waits.map((one) => t(`waits.${one}`, format.number(uploads.waiting + uploads.rejected)));
    return `${works} ${missing.length ? t("waits", missing.join(", ")) : t("waitsNothing")}`;
  }

  /** What the page shows of how far a store is, in words. */
  return {
    /**
     * @param {any} state of `/local-admin/getState`
     * @param {(key: string, ...values: any[]) => string} t
     * @param {{number: (value: number) => string, dateTime: (value: string) => string}} format
     */
    read(state, t, format) {
      const isBad = state.link.state === "FAILING" || state.uploads.rejected > 0;
      return {
        line: line(state, t, format),
        lineType: isBad ? BAD : state.waits.length ? OPEN : DONE,
        hasLink: state.link.state !== "NOT_CONFIGURED",
        hasPosGroup: !state.waits.includes("POS_GROUP"),
        command: t("linkCommand", state.database),
        link: link(state.link, t),
        download: download(state.download, state.link, state.promotions, t, format),
        till: till(state.tills, t, format)
      };
    },

    /**
     * @param {{name: string, lastUsedAt: string | null, formerUntil: string | null}} key of `/local-admin/listTillKeys`
     * @param {(key: string, ...values: any[]) => string} t
     * @param {{dateTime: (value: string) => string}} format
     */
    readKey({name, lastUsedAt, formerUntil}, t, format) {
      return {
        name,
        used: lastUsedAt ? t("key.used", format.dateTime(lastUsedAt)) : t("key.unused"),
        former: formerUntil ? t("key.former", format.dateTime(formerUntil)) : ""
      };
    }
  };
});
