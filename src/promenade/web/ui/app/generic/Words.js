sap.ui.define(
  ["sap/base/i18n/Localization", "sap/base/util/LoaderExtensions"],
  function (Localization, LoaderExtensions) {
    "use strict";

    /** English words of $metadata and of code lists in the person's language. */
    let words = {};
    let loading = null;
    let german = null;

    const load = () => LoaderExtensions.loadResource("promenade/i18n/words_de.json", {async: true, dataType: "json"});

    return {
      /** The German words by the English ones, whatever the person's language, for files that come from elsewhere. */
      german() {
        german ||= load().catch(() => {
          german = null; // to be tried again; without them fewer columns are known
          return {};
        });
        return german;
      },

      /** Resolves when `of` knows the words; `Meta.of` awaits it, so that pages made from metadata need not. */
      ready() {
        loading ||= Localization.getLanguage().startsWith("de")
          ? load().then((loaded) => {
              words = loaded;
            })
          : Promise.resolve();
        return loading;
      },

      /** A label of $metadata, or a name from a code list, in the person's language. */
      of(text) {
        return words[text] || text || "";
      }
    };
  }
);
