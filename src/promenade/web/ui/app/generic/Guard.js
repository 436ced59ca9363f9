sap.ui.define(["sap/ui/core/routing/HashChanger"], function (HashChanger) {
  "use strict";

  /**
   * Asks before a page is left with changes that would be lost.
   *
   * While a page is guarded the router rests: an address that the person goes to is either taken up when the page may
   * be left, or taken back.
   */
  let guarded = null;

  function onUnload(event) {
    if (guarded && guarded.isChanged()) {
      event.preventDefault();
    }
  }

  async function onHash(event) {
    const {newHash} = event.getParameters();
    const {router, hash, isChanged, mayLeave} = guarded;
    if (newHash === hash || guarded.isAsking) {
      return;
    }
    guarded.isAsking = true;
    const may = !isChanged() || (await mayLeave());
    if (guarded) {
      guarded.isAsking = false;
    }
    if (!may) {
      HashChanger.getInstance().replaceHash(hash, "Unknown");
      return;
    }
    // Where to is looked up again: the person may have gone on while being asked.
    Guard.release();
    router.parse(HashChanger.getInstance().getHash());
  }

  const Guard = {
    /** Guards the page that is shown now: `isChanged()` tells whether to ask, `mayLeave()` asks and resolves. */
    hold(router, {isChanged, mayLeave}) {
      Guard.release();
      guarded = {router, isChanged, mayLeave, hash: HashChanger.getInstance().getHash(), isAsking: false};
      router.stop();
      HashChanger.getInstance().attachEvent("hashChanged", onHash);
      window.addEventListener("beforeunload", onUnload);
    },

    /** Guards nothing any more. */
    release() {
      if (!guarded) {
        return;
      }
      HashChanger.getInstance().detachEvent("hashChanged", onHash);
      window.removeEventListener("beforeunload", onUnload);
      guarded.router.initialize(true);
      guarded = null;
    }
  };

  return Guard;
});
