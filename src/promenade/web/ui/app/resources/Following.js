sap.ui.define(
  ["sap/m/VBox", "sap/m/VBoxRenderer", "promenade/generic/Messages"],
  function (VBox, VBoxRenderer, Messages) {
    "use strict";

    const all = new WeakMap();

    /** A box that fetches what it shows by itself, anew whenever its page shows another entity or values. */
    const Following = VBox.extend("promenade.resources.Following", {
      metadata: {properties: {seen: {type: "any", defaultValue: null}}},

      renderer: VBoxRenderer,

      /**
       * `load(values, signal)` is called with `paths` of the entity and its ID; what it resolves with, controls, is
       * shown. `signal` is aborted when the page shows something else or is left.
       */
      follow(view, paths, load) {
        const names = ["ID", "modifiedAt", ...paths];
        this._load = load;
        this.setBusyIndicatorDelay(400);
        all.set(view, [...(all.get(view) || []), this]);
        view.addEventDelegate({onBeforeHide: () => this._leave()}, this);
        this.bindProperty("seen", {
          parts: names.map((path) => ({path, targetType: "any"})),
          formatter: (...values) => (values[0] ? Object.fromEntries(names.map((name, at) => [name, values[at]])) : null)
        });
        return this;
      },

      setSeen(values) {
        const key = JSON.stringify(values);
        if (key !== this._key) {
          this._key = key;
          this._values = values;
          this.again();
        }
        return this;
      },

      _leave() {
        this._stop?.abort();
        this._isOld = true;
      },

      /** Somebody has come to the entity again, of which the values are as they were. */
      _enter(id) {
        if (this._isOld && this._values?.ID === id) {
          this.again();
        }
      },

      /** Fetches once more. */
      again() {
        this._isOld = false;
        this._stop?.abort();
        clearTimeout(this._timer);
        if (this._values) {
          // Values of one answer come one by one.
          this._timer = setTimeout(() => this._fetch(), 0);
        }
      },

      async _fetch() {
        const stop = new AbortController();
        this._stop = stop;
        this.setBusy(true);
        try {
          const controls = await this._load(this._values, stop.signal);
          if (!stop.signal.aborted && !this.isDestroyed() && controls) {
            this.destroyItems();
            controls.forEach((one) => this.addItem(one));
          }
        } catch (error) {
          if (!stop.signal.aborted) {
            Messages.show(error);
          }
        } finally {
          this.setBusy(false);
        }
      },

      exit() {
        clearTimeout(this._timer);
        this._stop?.abort();
      }
    });

    const on = (view) => (all.get(view) || []).filter((one) => !one.isDestroyed());

    /** Has all boxes of a page fetch once more, after something was done there. */
    Following.refresh = (view) => on(view).forEach((one) => one.again());

    /** Has boxes fetch once more that show what they did when the page was left; `id`: of the entity, once read. */
    Following.enter = (view, id) => on(view).forEach((one) => one._enter(id));
    return Following;
  }
);
