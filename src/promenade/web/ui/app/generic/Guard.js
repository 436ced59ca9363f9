sap.ui.define(["promenade/generic/Typed"], function (Typed) {
  "use strict";

  /**
   * Asks before a page, or a dialog over it, is left with changes that would be lost.
   *
   * While something is guarded, an address that the person goes to is either taken up when all of it may be left, or
   * taken back. The router goes on: one that is stopped navigates nowhere, not even when it is asked to.
   */
  const guards = []; // the page's first, if it has one, then those of the dialogs over it
  let isAsking = false;

  function onUnload(event) {
    Typed.take();
    if (guards.some((one) => one.isChanged())) {
      event.preventDefault();
    }
  }

  /** Whether a guard lets go: what it guards has no changes, or may be left without them. */
  async function letsGo({settled, isChanged, mayLeave}) {
    await settled();
    return !isChanged() || mayLeave();
  }

  /** From the uppermost dialog down to the page: the first that says no is the last that is asked. */
  async function mayLeaveAll(asked) {
    for (const one of [...asked].reverse()) {
      if (guards.includes(one) && !(await letsGo(one))) {
        return false;
      }
    }
    return true;
  }

  async function onHash(newHash) {
    const asked = [...guards];
    const {router, hash} = asked[0];
    if (newHash === hash || isAsking) {
      return;
    }
    isAsking = true;
    Typed.take();
    const may = await mayLeaveAll(asked).finally(() => {
      isAsking = false;
    });
    if (guards[0] !== asked[0]) {
      return; // the page has gone on by itself
    }
    if (!may) {
      router.getHashChanger().replaceHash(hash, "Unknown");
      return;
    }
    // Where to is looked up again: the person may have gone on while being asked.
    const left = [...guards];
    Guard.release();
    left.forEach((one) => one.leave());
    router.parse(router.getHashChanger().getHash());
  }

  function add(router, guard) {
    if (!guards.length) {
      router.parse = onHash;
      window.addEventListener("beforeunload", onUnload);
    }
    const hash = router.getHashChanger().getHash();
    guards.push({settled: () => Promise.resolve(), leave() {}, ...guard, router, hash});
    return guards.at(-1);
  }

  function letRouterGo(router) {
    window.removeEventListener("beforeunload", onUnload);
    delete router.parse; // and has that of its class again
  }

  const Guard = {
    /**
     * Guards the page that is shown now: `isChanged()` tells whether to ask, `mayLeave()` asks and resolves;
     * `settled()` resolves when there is nothing under way that would tell otherwise in a moment.
     */
    hold(router, guard) {
      Guard.release();
      add(router, guard);
    },

    /** Guards a dialog over the page in the same way, until what this returns is called; `leave()` closes it. */
    over(router, guard) {
      const added = add(router, guard);
      return () => {
        const place = guards.indexOf(added);
        if (place >= 0) {
          guards.splice(place, 1);
        }
        if (place >= 0 && !guards.length) {
          letRouterGo(router);
        }
      };
    },

    /** Guards nothing any more, neither the page nor dialogs over it: the page goes on by itself. */
    release() {
      if (guards.length) {
        letRouterGo(guards[0].router);
        guards.length = 0;
      }
    }
  };

  return Guard;
});
