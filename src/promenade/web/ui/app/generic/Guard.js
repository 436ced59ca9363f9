sap.ui.define(["promenade/generic/Typed"], function (Typed) {
  "use strict";

  /**
   * Asks before a page is left with changes that would be lost.
   *
   * While a page is guarded, an address that the person goes to is either taken up when the page may be left, or taken
   * back. The router goes on: one that is stopped navigates nowhere, not even when it is asked to.
   */
  let guarded = null;

  function onUnload(event) {
    Typed.take();
    if (guarded && guarded.isChanged()) {
      event.preventDefault();
    }
  }

  async function onHash(newHash) {
    const {router, hash, settled, isChanged, mayLeave} = guarded;
    if (newHash === hash || guarded.isAsking) {
      return;
    }
    const asked = guarded;
    asked.isAsking = true;
    Typed.take();
    await settled();
    const may = !isChanged() || (await mayLeave());
    asked.isAsking = false;
    if (guarded !== asked) {
      return; // the page has gone on by itself
    }
    if (!may) {
      router.getHashChanger().replaceHash(hash, "Unknown");
      return;
    }
    // Where to is looked up again: the person may have gone on while being asked.
    Guard.release();
    router.parse(router.getHashChanger().getHash());
  }

  const Guard = {
    /**
     * Guards the page that is shown now: `isChanged()` tells whether to ask, `mayLeave()` asks and resolves;
     * `settled()` resolves when there is nothing under way that would tell otherwise in a moment.
     */
    hold(router, {isChanged, mayLeave, settled = () => Promise.resolve()}) {
      Guard.release();
      const hash = router.getHashChanger().getHash();
      guarded = {router, isChanged, mayLeave, settled, hash, isAsking: false};
      router.parse = onHash;
      window.addEventListener("beforeunload", onUnload);
    },

    /** Guards nothing any more. */
    release() {
      if (!guarded) {
        return;
      }
      window.removeEventListener("beforeunload", onUnload);
      delete guarded.router.parse; // and has that of its class again
      guarded = null;
    }
  };

  return Guard;
});
