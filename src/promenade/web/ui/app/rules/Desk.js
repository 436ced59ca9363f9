sap.ui.define(
  [
    "sap/ui/model/json/JSONModel",
    "promenade/rules/Checks",
    "promenade/rules/References",
    "promenade/rules/Rows",
    "promenade/rules/Sentences",
    "promenade/rules/Shapes",
    "promenade/rules/Texts"
  ],
  function (JSONModel, Checks, References, Rows, Sentences, Shapes, Texts) {
    "use strict";

    /** What a new rule of a type begins with. */
    const BEGIN = {
      Conditions: ({category}) => ({valueCategory: category || null}),
      DiscountActions: ({discountTypes}) => ({discountType: (discountTypes || [null])[0]}),
      LoyaltyActions: () => ({targetScope: "ALL_ITEMS"})
    };
    const begin = (kind, shape) => ({...BEGIN[kind](shape), ...shape.begin});
    const KEPT_MAX = 20;
    const AT_ONCE = 60; // keys in one request

    /** The rules being edited, without anything to see: rows, their order, what was removed, what is wrong. */
    class Desk {
      constructor({promotionId, metaModel, onChange}) {
        this.promotionId = promotionId;
        this.model = new JSONModel({rows: {}, names: {}, currency: "", isEditable: false});
        this.model.setSizeLimit(100000);
        this.model.attachPropertyChange((event) => this._onBindingChange(event));
        this._metaModel = metaModel;
        this._onChange = onChange;
        this._order = {};
        this._removed = [];
        this._loaded = {};
        this.listeners = [];
        this._references = new References();
        /** @type {(set: string, keys: string[]) => Promise<unknown>} Learns the names of keys. */
        this.lookUp = async () => undefined;
        /** @type {(source: any, typed: string) => Promise<any>} Finds `{key, names}`, else `{fault}`. */
        this.find = async () => ({fault: "notLookedUp"});
      }

      /** Takes rows as they are stored: `{<kind>: [row]}`. */
      take(rows) {
        const all = Object.values(rows).flat();
        this._order = Object.fromEntries(
          Object.keys(Rows.KINDS).map((kind) => [kind, (rows[kind] || []).map((row) => row.key)])
        );
        this._loaded = JSON.parse(JSON.stringify(this._order));
        this._removed = [];
        this._references = new References();
        this.model.setProperty("/rows", Object.fromEntries(all.map((row) => [row.key, row])));
        all.forEach((row) => this._say(row));
        this._changed(null);
      }

      row(key) {
        return this.model.getProperty(`/rows/${key}`);
      }

      /** The rows of a kind in their order. */
      rows(kind) {
        return (this._order[kind] || []).map((key) => this.row(key));
      }

      all() {
        return Object.keys(Rows.KINDS).flatMap((kind) => this.rows(kind));
      }

      /** What the metadata says of a property: `$Type`, `$MaxLength`. */
      constraints(path) {
        return this._metaModel.getObject(path) || {};
      }

      /** Sets something of a row, as a field would. */
      set(path, value) {
        this.model.setProperty(path, value);
        this._touch(path);
      }

      _onBindingChange(event) {
        const {path, context} = event.getParameters();
        this._touch(path.startsWith("/") ? path : `${context.getPath()}/${path}`);
      }

      _touch(path) {
        const row = this.row(path.split("/")[2]);
        if (row) {
          this._changed(row);
        }
      }

      /** Names of keys are learnt from what was chosen, and looked up for the rest. */
      learn(set, names) {
        this.model.setProperty(`/names/${set}`, {...this.model.getProperty(`/names/${set}`), ...names});
        this.all().forEach((row) => this._say(row));
      }

      /**
       * Looks up what was typed into a field of entities of a row, and puts the key of what it names in its place. What
       * names nothing stays, as a fault of the field. `property`: where the entities hold it, if not under its name.
       */
      async refer(key, holders, name, property = name) {
        const {set} = References.of(name);
        const known = () => this.model.getProperty(`/names/${set}`) || {};
        const isKnown = (holder) => !holder[property] || holder[property] in known();
        const typed = holders.filter((one) => !isKnown(one)).map((one) => one[property]);
        typed.forEach((one) => this._references.keep(name, one));
        for (let from = 0; typed.length > 1 && from < typed.length; from += AT_ONCE) {
          await this.lookUp(set, typed.slice(from, from + AT_ONCE));
        }
        for (const holder of holders.filter((one) => !isKnown(one))) {
          await this._refer(holder, name, property);
        }
        this.model.refresh();
        this._touch(`/rows/${key}`);
      }

      async _refer(holder, name, property) {
        const {set} = References.of(name);
        const typed = holder[property];
        const {key, names, fault} = await this.find(References.of(name), typed);
        if (holder[property] !== typed) {
          return; // something else was typed meanwhile
        }
        if (fault) {
          this._references.keep(name, typed, fault);
        } else {
          holder[property] = key;
          this.learn(set, names);
        }
      }

      setCurrency(currency) {
        this.model.setProperty("/currency", currency || "");
        this.all().forEach((row) => this._say(row));
      }

      /** The service's own words for what is stored, where they are in the person's language. */
      _say(row) {
        const isAsStored = row.summary && row.stored && !Rows.isChanged(row) && Texts.isEnglish();
        const sentence = isAsStored ? row.summary : Sentences.of(row, this.model.getData());
        this.model.setProperty(`/rows/${row.key}/sentence`, sentence);
      }

      _changed(row, isStructure = !row) {
        if (row) {
          this._say(row);
          if (row.isChecked || this._references.isUsed) {
            this._check(row);
          }
        }
        this.listeners.forEach((listener) => listener({row, isStructure}));
        this._onChange();
      }

      /** A new rule of a type, at the end, of which `given` says more. */
      add(kind, type, given = {}) {
        const values = {[Rows.KINDS[kind].type]: type, ...begin(kind, Shapes[kind][type]), ...given};
        return this._insert(Rows.blank(kind, values), this._order[kind].length);
      }

      _insert(row, place) {
        row.isOpen = row.isOpen ?? true;
        this.model.setProperty(`/rows/${row.key}`, row);
        this._order[row.kind].splice(place, 0, row.key);
        this._say(row);
        this._changed(null);
        return row;
      }

      duplicate(key) {
        const row = this.row(key);
        return this._insert(Rows.duplicate(row), this._order[row.kind].indexOf(key) + 1);
      }

      /** Takes a rule away; `restore` brings back the one that was taken last. */
      remove(key) {
        const row = this.row(key);
        const place = this._order[row.kind].indexOf(key);
        this._order[row.kind].splice(place, 1);
        this._removed.push({row, place});
        if (this._removed.length > KEPT_MAX) {
          this._removed = this._removed.filter((one, at) => one.row.stored || at > 0);
        }
        this._changed(null);
      }

      lastRemoved(kind) {
        return this._removed.filter((one) => one.row.kind === kind).at(-1) || null;
      }

      restore(kind) {
        const last = this.lastRemoved(kind);
        this._removed.splice(this._removed.indexOf(last), 1);
        this._order[kind].splice(Math.min(last.place, this._order[kind].length), 0, last.row.key);
        this._changed(null);
        return last.row;
      }

      /** Moves a rule by so many places. */
      move(key, by) {
        const {kind} = this.row(key);
        const place = this._order[kind].indexOf(key);
        this.moveTo(key, place + by);
      }

      moveTo(key, place) {
        const order = this._order[this.row(key).kind];
        const from = order.indexOf(key);
        if (place < 0 || place >= order.length || place === from) {
          return;
        }
        order.splice(from, 1);
        order.splice(place, 0, key);
        this._changed(null);
        this.listeners.forEach((listener) => listener({moved: key}));
      }

      /** Another type of the same rule: what the new one uses too is kept. */
      changeType(key, type) {
        const row = this.row(key);
        const shape = Shapes[row.kind][type];
        const used = new Set([
          ...shape.fields,
          ...(shape.more || []),
          ...(shape.also || []),
          "sequence",
          "logicalConnector"
        ]);
        const fresh = Rows.blank(row.kind, {});
        for (const name of Object.keys(row.values).filter((one) => !used.has(one))) {
          row.values[name] =
            name in fresh.values ? fresh.values[name] : typeof row.values[name] === "boolean" ? false : null;
        }
        const kept = Object.fromEntries(
          Object.entries(row.values).filter(([, value]) => value !== null && value !== false)
        );
        Object.assign(row.values, begin(row.kind, shape), kept, {
          [Rows.KINDS[row.kind].type]: type
        });
        if (shape.discountTypes && !shape.discountTypes.includes(row.values.discountType)) {
          row.values.discountType = shape.discountTypes[0];
        }
        row.faults = {};
        this.model.setProperty(`/rows/${key}/values`, row.values);
        this._say(row);
        this.listeners.forEach((listener) => listener({retyped: row}));
        this._changed(row);
      }

      _check(row) {
        References.unmark(row.values);
        const faults = this._references.mark(row.values, row.isChecked ? Checks.of(row, this.all()) : {});
        this.model.setProperty(`/rows/${row.key}/faults`, faults);
        this.model.setProperty(`/rows/${row.key}/trouble`, faults[""] || "");
        this.model.refresh(); // faults of items lie within their lists
        return faults;
      }

      /** What is wrong, field by field: `[{key, kind, title, field, message}]`. From now on it is checked live. */
      validate() {
        return this.all().flatMap((row) => {
          row.isChecked = true;
          this._references.clean(row.values);
          const faults = this._check(row);
          this.listeners.forEach((listener) => listener({row}));
          return Object.entries(faults).map(([field, message]) => ({
            key: row.key,
            kind: row.kind,
            title: Texts.ofType(row.kind, Rows.type(row)).name,
            field,
            message
          }));
        });
      }

      /**
       * The row that a target of the service's errors is about, and the field: `/Conditions(<ID>)/value`,
       * `in/Conditions(2)/value` or, where it is told of a request for one row, `value`. Null: about no rule.
       */
      placeOf(target, key) {
        const [, isBound, kind, which, rest] =
          /^(in\/|\/)?(?:(Conditions|DiscountActions|LoyaltyActions)\(([^)]*)\)\/?)?(.*)$/.exec(target || "") || [];
        if (!kind) {
          return key && isBound !== "in/" ? {key, field: target || ""} : null;
        }
        const row = this.all().find((one) => one.id === which) || this.rows(kind)[Number(which) - 1];
        return row ? {key: row.key, field: rest} : null;
      }

      /** Says at a field, or at the rule where it has no such field, what the service did not like. */
      blame(key, target, message) {
        const row = this.row(key);
        row.isChecked = true;
        const counted = target.replace(/\((\d+)\)/g, (all, at) => `/${at - 1}`); // the engine counts from one
        const field = /^value(ListItems.*)?$/.test(counted) ? "values" : counted;
        const isKnown = field && field.split("/")[0] in row.values;
        if (!isKnown) {
          this.model.setProperty(`/rows/${key}/trouble`, message);
          this.listeners.forEach((listener) => listener({row}));
          return;
        }
        const [list, at, inner] = field.split("/");
        const path = inner && row.values[list][at] ? `values/${list}/${at}/faults` : "faults";
        const name = inner && row.values[list][at] ? inner : list;
        this.model.setProperty(`/rows/${key}/${path}`, {
          ...this.model.getProperty(`/rows/${key}/${path}`),
          [name]: message
        });
        this.listeners.forEach((listener) => listener({row}));
      }

      isChanged() {
        const isMoved = Object.keys(this._order).some(
          (kind) => this._order[kind].join() !== (this._loaded[kind] || []).join()
        );
        return isMoved || this.all().some((row) => Rows.isChanged(row));
      }

      /** See `Rows.requests`. */
      requests() {
        ["Conditions", "DiscountActions"].forEach((kind) => Rows.arrange(this.rows(kind)));
        return Rows.requests(
          this.all(),
          this._removed.map((one) => one.row),
          this.promotionId
        );
      }
    }

    return Desk;
  }
);
