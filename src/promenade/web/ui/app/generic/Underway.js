sap.ui.define([], function () {
  "use strict";

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
  };
});
