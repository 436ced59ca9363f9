sap.ui.define(["sap/m/Select", "sap/ui/core/Item", "promenade/promotions/Texts"], function (Select, Item, Texts) {
  "use strict";

  const CHOICES = {
    mode: ["ADDITIVE", "MULTIPLICATIVE"],
    rounding: ["ROUND_HALF_UP", "ROUND_DOWN", "ROUND_UP", "NONE"],
    precision: ["", "0", "1", "2", "3"]
  };
  const DEFAULTS = {mode: "ADDITIVE", rounding: "ROUND_HALF_UP", precision: null};

  function selectOf(name, onChange) {
    return new Select({
      width: "100%",
      change: onChange,
      items: CHOICES[name].map((key) => new Item({key, text: Texts.get(`${name}.${key || "currency"}`)}))
    });
  }

  /** How a promotion is calculated and rounded; without a configuration the defaults hold, and are shown. */
  return class Calculation {
    constructor({onChange}) {
      const changed = () => onChange(this.values());
      this._selects = Object.fromEntries(Object.keys(CHOICES).map((name) => [name, selectOf(name, changed)]));
    }

    /** Labels and controls, for a form. */
    get rows() {
      return Object.entries(this._selects).map(([name, select]) => [Texts.get(`field.${name}`), select]);
    }

    /** Shows a configuration, null: none. */
    setConfig(config) {
      const shown = config || DEFAULTS;
      Object.entries(this._selects).forEach(([name, select]) => {
        const value = shown[name];
        select.setSelectedKey(value === null || value === undefined ? "" : String(value));
      });
    }

    setEditable(isEditable) {
      Object.values(this._selects).forEach((select) => select.setEditable(isEditable));
    }

    values() {
      const [mode, rounding, precision] = Object.values(this._selects).map((select) => select.getSelectedKey());
      return {mode, rounding, precision: precision === "" ? null : Number(precision)};
    }
  };
});
