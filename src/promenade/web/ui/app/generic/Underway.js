sap.ui.define([], function () {
  "use strict";

  /** After so many timeouts a model has sent what a field has only just taken; it takes two where nothing is drawn. */
  const TIMEOUTS = 3;

  /** Counts what was sent and is not answered yet. */
  return class Underway {
    constructor() {
      this._count = 0;
      this._waiting = [];
    }

    sent() {
      this._count++;
    }

    answered() {
      this._count--;
      if (!this._count) {
        this._waiting.splice(0).forEach((go) => go());
      }
    }

    isIdle() {
      return this._count === 0;
    }

    /** Resolves when everything has been answered, and a model has put aside what it sends again. */
    async idle() {
      if (this._count) {
        await new Promise((resolve) => {
          this._waiting.push(resolve);
        });
      }
    }

    /** Resolves like `idle`, once what a field has only just taken is counted as well. */
    async settled() {
      for (let passed = 0; passed < TIMEOUTS; passed++) {
        await new Promise((resolve) => {
          setTimeout(resolve);
        });
      }
      await this.idle();
    }
  };
});
