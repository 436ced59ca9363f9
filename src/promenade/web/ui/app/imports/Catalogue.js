sap.ui.define(
  ["promenade/generic/Meta", "promenade/generic/Words", "promenade/net/Http"],
  function (Meta, Words, Http) {
    "use strict";

    const METADATA = "/api/v1/$metadata";
    let loaded = null;

    /** The one schema of the public service, read once. */
    function schema() {
      loaded =
        loaded ||
        Http.get(METADATA, {headers: {Accept: "application/json"}}).then(
          (found) => Object.entries(found).find(([name]) => !name.startsWith("$"))?.[1]
        );
      loaded.catch(() => {
        loaded = null; // to be tried again
      });
      return loaded;
    }

    function fieldOf(name, one) {
      const hasDefault = one.$DefaultValue !== undefined || Boolean(one["@Core.ComputedDefaultValue"]);
      return {
        name,
        label: one["@Common.Label"] || name,
        words: Words.of(one["@Common.Label"] || name),
        description: one["@Core.Description"] || "",
        type: (one.$Type || "Edm.String").replace("Edm.", ""),
        maxLength: one.$MaxLength || null,
        scale: one.$Scale === undefined ? null : one.$Scale,
        isNullable: Boolean(one.$Nullable),
        isRequired: !one.$Nullable && !hasDefault
      };
    }

    /** Whether a member of an entity type is something that a row may say in a cell. */
    function isCell(one) {
      return (
        one &&
        typeof one === "object" &&
        !Array.isArray(one) &&
        one.$Kind !== "NavigationProperty" &&
        !one["@Core.Computed"] &&
        !one.$Collection
      );
    }

    /** Keys that only administration shows, such as the code of a coupon, which is a secret everywhere else. */
    function keysOfAdministration(meta, known) {
      return meta.semanticKey
        .filter((name) => !known.includes(name))
        .map((name) => {
          const {label, description, type, maxLength} = meta.field(name);
          return {
            ...fieldOf(name, {$Type: type, $MaxLength: maxLength, "@Core.Description": description}),
            label,
            words: label
          };
        });
    }

    const Catalogue = {
      /** Names of the entity sets that take rows in bulk, as the metadata of the public service says. */
      async sets() {
        const found = (await schema()).bulkImport.map((one) => one.$Parameter[0].$Type.split(".").pop());
        return [...new Set(found)];
      },

      /**
       * Fields that a row of a set may have, keys first; `key`, the name of the one that no two rows share, if any; and
       * `parts`: what only JSON can hold, inside of a row.
       */
      async fields(model, set) {
        const type = (await schema())[set];
        const names = Object.keys(type).filter((name) => isCell(type[name]));
        const fields = names.map((name) => fieldOf(name, type[name]));
        const [meta, german] = await Promise.all([Meta.of(model, set), Words.german()]);
        const keys = keysOfAdministration(meta, names);
        const [own, others] = [fields.filter((one) => one.name !== "ID"), fields.filter((one) => one.name === "ID")];
        const parts = Object.keys(type).filter((name) => type[name].$Kind === "NavigationProperty");
        const [key = null, more] = meta.semanticKey;
        const found = [...keys, ...own, ...others].map((one) => ({...one, german: german[one.label] || ""}));
        return {fields: found, key: more ? null : key, parts};
      }
    };
    return Catalogue;
  }
);
