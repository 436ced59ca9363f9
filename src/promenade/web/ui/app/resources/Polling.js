sap.ui.define([], function () {
  "use strict";

  const FIRST_MS = 700;
  const LONGEST_MS = 5000;
  const watched = new WeakSet();

  /**
   * Resolves after a while, sooner when it is called off.
   *
   * @param {number} milliseconds
   * @param {AbortSignal} signal
   * @returns {Promise<void>}
   */
  function pause(milliseconds, signal) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      signal.addEventListener(
        "abort",
        () => {
          clearTimeout(timer);
          resolve();
        },
        {once: true}
      );
    });
  }

  const Polling = {
    /**
     * Reads again and again until `isDone(value)`, less and less often, and not while nobody looks at the page.
     *
     * `onValue` hears of every value. Resolves with the last one, and with null when `signal` calls it off.
     *
     * @template Value
     * @param {() => Promise<Value>} read
     * @param {(value: Value) => boolean} isDone
     * @param {{onValue?: (value: Value) => unknown, signal?: AbortSignal}} [options]
     * @returns {Promise<Value | null>}
     */
    async until(read, isDone, {onValue = () => {}, signal = new AbortController().signal} = {}) {
      let wait = FIRST_MS;
      while (!signal.aborted) {
        if (!document.hidden) {
          const value = await read();
          if (signal.aborted) {
            break;
          }
          onValue(value);
          if (isDone(value)) {
            return value;
          }
        }
        await pause(wait, signal);
        wait = Math.min(wait * 1.4, LONGEST_MS);
      }
      return null;
    },

    /**
     * Reads the rows of a list again and again while one of those that are shown is under way. Called after each
     * answer, it does so once.
     *
     * @param {any} binding
     * @param {(row: any) => boolean} isUnderWay
     * @param {AbortSignal} signal
     * @param {() => unknown} [onValue] called after each reading
     * @returns {Promise<void>}
     */
    async rows(binding, isUnderWay, signal, onValue) {
      const isAny = () => binding.getCurrentContexts().some((row) => row && isUnderWay(row));
      if (watched.has(binding) || !isAny()) {
        return;
      }
      watched.add(binding);
      try {
        await Polling.until(
          () => binding.requestRefresh().then(isAny),
          (isGoingOn) => !isGoingOn,
          {signal, onValue}
        );
      } catch {
        // What could not be read is told by the list; it is followed from its next answer on.
      } finally {
        watched.delete(binding);
      }
    }
  };
  return Polling;
});
