sap.ui.define(["sap/m/MultiComboBox", "sap/ui/core/ListItem"], function (MultiComboBox, ListItem) {
  "use strict";

  return {
    /**
     * Lets some of fixed keys be ticked, each with a sentence of what it means: what `Extensions.input` takes.
     *
     * @param {string[]} keys
     * @param {string} prefix of the texts of the sentences, which end with the keys
     * @param {Record<string, string>} [names] the texts of keys that are not shown as they are
     */
    of(keys, prefix, names = {}) {
      return (field, {model}) =>
        new MultiComboBox({
          width: "100%",
          showSecondaryValues: true,
          showSelectAll: false,
          items: keys.map(
            (key) => new ListItem({key, text: names[key] || key, additionalText: `{i18n>${prefix}.${key}}`})
          ),
          selectedKeys: {path: field.path, model}
        });
    }
  };
});
