sap.ui.define([], function () {
  "use strict";

  /** What single entity sets show beyond what follows from $metadata. */
  const NOTHING = {
    columns: [],
    listActions: [],
    notes: [],
    sections: [],
    actions: [],
    header: [],
    beforeCreate: [],
    afterCreate: [],
    underWay: []
  };
  const known = new Map();
  const inputs = new Map();
  const choices = new Map();
  const explained = new Map();
  const worded = new Map();

  return {
    /**
     * Adds to the pages of an entity set.
     *
     * `sections: [{id, titleKey, create({view, model, meta, context})}]`, `actions: [{id, textKey, icon,
     * isEnabled(context), press({view, model, context})}]`, `listActions` likewise without context,
     * A section or an action that takes the place of what follows from $metadata says so: `replaces: [<facet ID, or
     * name of an action>]`. `paths`: what an action's `isEnabled` reads. `afterCreate: [({context, view}) => promise]`.
     * `notes: [() => control]`: what stands above a list.
     * A list action with `replaces: ["create"]` is shown in place of the button that creates. A list action or a
     * section with `isOffered()` is shown to whom that lets it be offered.
     * `beforeCreate: [(values) => promise]`: whether a row of a part may be added, before it is sent.
     * `underWay`: the values of `status` of what background work is still at, which is read again until it has ended.
     * `columns: [{id, labelKey, width, create({model, meta}), ready(model), exported}]`, `ready` being awaited
     * first, `exported` the paths of what stands in a file in its place;
     * `header: [{id, create({view, model, meta})}]`.
     */
    add(set, more) {
      const before = this.of(set);
      known.set(
        set,
        Object.fromEntries(Object.keys(NOTHING).map((kind) => [kind, [...before[kind], ...(more[kind] || [])]]))
      );
    },

    /** Has `create(field, options)` make what takes values of a property, in place of what its type says. */
    input(set, path, create) {
      inputs.set(`${set}/${path}`, create);
    },

    /** What was given to `input` for a field, or undefined. */
    inputOf(field) {
      return inputs.get(`${field.set}/${field.path}`);
    },

    /** Has a list be filtered by a text through a choice: `load(model)` resolves with `[{key, text}]`. */
    choices(set, path, load) {
      choices.set(`${set}/${path}`, load);
    },

    /** What was given to `choices` for a field, or undefined. */
    choicesOf(field) {
      return choices.get(`${field.set}/${field.path}`);
    },

    /**
     * Has a sentence below each field of a set, other than `except`: the texts `<prefix>.<path>`, of choices
     * `<prefix>.<path>.<value>`.
     */
    explain(set, prefix, except) {
      explained.set(set, {prefix, except});
    },

    /** What the texts about a field begin with, or undefined. */
    explanationOf(field) {
      const {prefix, except} = explained.get(field.set) || {};
      return prefix && !except.includes(field.path) ? `${prefix}.${field.path}` : undefined;
    },

    /**
     * Has the values of a choice be said in words: the texts `<prefix>.<value>`. A boolean with words is a choice, too:
     * of `null`, `true` and `false`.
     */
    words(set, path, prefix) {
      worded.set(`${set}/${path}`, prefix);
    },

    /** What the texts of a choice begin with, or undefined. */
    wordsOf(field) {
      return worded.get(`${field.set}/${field.path}`) || this.explanationOf(field);
    },

    /** What the texts of a boolean begin with that may also be unset; of others undefined. */
    ternaryOf(field) {
      return field.type === "Edm.Boolean" ? worded.get(`${field.set}/${field.path}`) : undefined;
    },

    /** Whether a row with these values may be added to a part, after whatever is to be asked. */
    async mayCreate(set, values) {
      for (const one of this.of(set).beforeCreate) {
        if (!(await one(values))) {
          return false;
        }
      }
      return true;
    },

    /** Has the pages of a set carry out `afterCreate({context, view})` once something was created on the spot. */
    async afterCreate(set, context, view) {
      for (const one of this.of(set).afterCreate) {
        await one({context, view});
      }
    },

    /** `{columns, listActions, sections, actions, header, afterCreate, underWay}` of a set, each a list. */
    of(set) {
      return known.get(set) || NOTHING;
    }
  };
});
