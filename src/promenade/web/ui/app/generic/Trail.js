sap.ui.define(
  [
    "sap/base/security/encodeXML",
    "promenade/generic/Addresses",
    "promenade/generic/Displays",
    "promenade/generic/Meta",
    "promenade/generic/Texts",
    "promenade/generic/Words"
  ],
  function (encodeXML, Addresses, Displays, Meta, Texts, Words) {
    "use strict";

    /** Entries of the audit trail in words: what was done to what, and old and new value of each field. */
    const metas = new Map();
    let loading = null;

    async function load(model) {
      const container = await model.getMetaModel().requestObject("/");
      const sets = Object.keys(container).filter((name) => container[name].$kind === "EntitySet");
      const all = await Promise.all(sets.map((set) => Meta.of(model, set)));
      all.forEach((meta) => metas.set(meta.set, meta));
    }

    const fieldOf = (set, property) => (metas.get(set)?.has(property) ? metas.get(set).field(property) : null);

    /** A code as its list names it: `PENDING_APPROVAL` is *Pending approval*. */
    function code(value) {
      const words = value.toLowerCase().replaceAll("_", " ");
      return Words.of(words.charAt(0).toUpperCase() + words.slice(1));
    }

    const PLAIN = new Set(["Edm.Boolean", "Edm.DateTimeOffset", "Edm.Date", "Edm.TimeOfDay"]);

    /** A value of a field as the person's language writes it. */
    function text(field, value) {
      if (value === undefined) {
        return "";
      }
      if (field?.valueList?.isFixed && !field.isCollection) {
        return field.valueList.set === "Currencies" ? value : code(value);
      }
      if (field && (PLAIN.has(field.type) || /Int|Decimal/.test(field.type))) {
        const read = field.type === "Edm.Boolean" ? value === "true" : value;
        return Displays.formatterOf({...field, textPath: null, currencyPath: null})(read);
      }
      return value;
    }

    /** A value for the page: a link where it names something that has one. */
    function shown(field, value, target, id) {
      const said = encodeXML(text(field, value));
      return target && id && metas.get(target)?.has("ID")
        ? `<a href="${encodeXML(Addresses.href(target, id))}">${said}</a>`
        : said;
    }

    function sentence(label, before, after) {
      if (before && after) {
        return Texts.of("trail.changed", label, before, after);
      }
      return after ? Texts.of("trail.set", label, after) : Texts.of("trail.emptied", label, before);
    }

    /** One change in a line; `make(field, value, target, id)` says a value. */
    function line(set, change, make, safe) {
      if (change.more) {
        return Texts.of("trail.more", change.more);
      }
      const meta = metas.get(change.part || set);
      const kind = meta ? meta.label : change.part;
      if (change.part && !change.property) {
        const named = change.name ? safe(change.name) : Texts.of("trail.all");
        return Texts.of(change.act === "DELETE" ? "trail.removed" : "trail.added", kind, named);
      }
      const field = fieldOf(change.part || set, change.property);
      const label = field ? field.label : safe(change.property);
      const before = make(field, change.from, change.target, change.fromId);
      const said = sentence(label, before, make(field, change.to, change.target, change.toId));
      return change.part ? Texts.of("trail.ofPart", kind, safe(change.name), said) : said;
    }

    function parsed(changes) {
      try {
        return JSON.parse(changes || "[]");
      } catch {
        return [];
      }
    }

    /** What a set has, in words; keys of a store's tills are told of, and have no set. */
    const kind = (set) => metas.get(set)?.label || (set && Texts.find(`kind.${set}`)) || set || "";

    /** What an entry is about where it is not what its page shows: a rule of a promotion, by name. */
    const about = ({entityType, entityId, entityName, ownerId}) =>
      entityId === ownerId ? "" : Texts.of("trail.about", kind(entityType), entityName);

    const notes = ({changes, note}) => (note && !parsed(changes).length ? [note] : []);

    return {
      /** Resolves when words are known for every set. */
      ready(model) {
        loading ||= Promise.all([load(model), Texts.ready(), Words.ready()]);
        return loading;
      },

      /** What was done to a row of a set, in words: *Approved*. */
      verb: (action, set) => Texts.find(`verb.${set}.${action}`) || Texts.find(`verb.${action}`) || code(action || ""),

      /** What the entries of a kind are about, in words: *Promotion*. */
      kind,

      /** Whether the rows of a set have a page. */
      hasPage: (set) => Boolean(metas.get(set)?.has("ID")),

      /** The sets that people change. */
      sets: () => [...metas.values()].filter((one) => one.canInsert || one.canUpdate || one.canDelete),

      /** The same as one plain line. */
      text(entry) {
        const plain = (field, value) => text(field, value);
        const lines = parsed(entry.changes).map((one) => line(entry.entityType, one, plain, (said) => said));
        const first = [this.verb(entry.action, entry.entityType), about(entry)].filter(Boolean).join(" · ");
        return [first, ...notes(entry), ...lines].join("; ");
      },

      /** `{action, entityType, entityId, entityName, ownerId, changes, note}` as HTML, a line for each change. */
      html(entry) {
        const lines = parsed(entry.changes).map((one) => line(entry.entityType, one, shown, encodeXML));
        const first = [this.verb(entry.action, entry.entityType), about(entry)].filter(Boolean).join(" · ");
        return [`<strong>${encodeXML(first)}</strong>`, ...notes(entry).map(encodeXML), ...lines].join("<br>");
      }
    };
  }
);
