sap.ui.define(
  [
    "sap/m/VBox",
    "sap/ui/core/Component",
    "promenade/generic/Messages",
    "promenade/generic/ValueHelp",
    "promenade/rules/Desk",
    "promenade/rules/Reading",
    "promenade/rules/Rows",
    "promenade/rules/Section",
    "promenade/rules/Texts",
    "promenade/rules/style"
  ],
  function (VBox, Component, Messages, ValueHelp, Desk, Reading, Rows, Section, Texts) {
    "use strict";

    /** The editor of the rules of a promotion: conditions, actions and points. */
    class Editor {
      constructor(desk) {
        this._desk = desk;
        this._sections = Object.fromEntries(Object.keys(Rows.KINDS).map((kind) => [kind, new Section(desk, kind)]));
        this.control = new VBox({items: Object.values(this._sections).map((section) => section.control)});
        this.control.addStyleClass("promenadeRules").setModel(desk.model, "rules");
        this._isEditable = false;
        this._readings = 0; // under way
        desk.lookUp = (set, keys) => this._lookUp(set, keys);
        desk.find = (source, typed) => this._find(source, typed);
      }

      /** The rules themselves, for what shows or changes them beside the editor. */
      get desk() {
        return this._desk;
      }

      async _lookUp(set, keys) {
        this._desk.learn(set, await Reading.names(set, keys));
      }

      /** The key of what a text names, and names to learn with it; else why it names nothing. */
      async _find(source, typed) {
        try {
          const rows = await ValueHelp.find(this.control.getModel(), source, typed);
          const [key, ...others] = new Set(rows.map((row) => row[source.key])); // articles may share an EAN
          const fault = others.length ? "several" : "none";
          return key && !others.length ? {key, names: {[key]: rows[0].name}} : {fault};
        } catch (error) {
          Messages.show(error);
          return {fault: "notLookedUp"};
        }
      }

      /** Reads the rules as they are stored and forgets what was edited; until then no rule can be edited. */
      async load() {
        this._readings++;
        this._sayEditable();
        try {
          this._desk.take(await Reading.rules(this._desk.promotionId));
        } finally {
          this._readings--;
          this._sayEditable();
        }
        const keys = Reading.keysOf(this._desk.all());
        await Promise.all(Object.entries(keys).map(([set, some]) => this._lookUp(set, some)));
      }

      /** The same: what was edited is forgotten. */
      reset() {
        return this.load();
      }

      setEditable(isEditable) {
        this._isEditable = Boolean(isEditable);
        this._sayEditable();
      }

      _sayEditable() {
        this._desk.model.setProperty("/isEditable", this._isEditable && !this._readings);
      }

      /** The currency that amounts are meant in, where the promotion says one. */
      setCurrency(currency) {
        this._desk.setCurrency(currency);
      }

      isChanged() {
        return this._desk.isChanged();
      }

      /** What is wrong, `[{key, kind, title, field, message}]`; it is shown at the fields, and the first is opened. */
      validate() {
        const found = this._desk.validate();
        const keys = [...new Set(found.map((one) => one.key))];
        keys.reverse().forEach((key) => this._open(key));
        return found;
      }

      _open(key) {
        Object.values(this._sections).forEach((section) => section.open(key));
      }

      /** What a change set must hold so that the rules are stored as they are shown; [] when nothing was changed. */
      requests() {
        return this._desk.requests();
      }

      /**
       * Shows what `Batch.changeSet` was refused with at the rules that it is about. Resolves with whether that is all
       * there is to show: if not, the caller shows the error as any other.
       */
      async showError(error) {
        const key = (error.request && error.request.rule) || null;
        if (key && (error.status === 412 || (error.status === 404 && error.request.method !== "POST"))) {
          await this._offerReload();
          return true;
        }
        return this._blame(key, error);
      }

      async _offerReload() {
        const isWanted = await Messages.confirm(Texts.of("changedMeanwhile"), {
          action: Texts.of("loadAnew"),
          title: Texts.of("changedMeanwhileTitle"),
          isCritical: true
        });
        if (isWanted) {
          await this.load();
        }
      }

      _blame(key, error) {
        const told = error.details && error.details.length ? error.details : [error];
        const placed = told.map(({target, message}) => ({
          message,
          place: this._desk.placeOf(target, target ? key : null)
        }));
        const known = placed.filter((one) => one.place);
        known.forEach(({message, place}) => this._desk.blame(place.key, place.field, message));
        [...new Set(known.map((one) => one.place.key))].reverse().forEach((one) => this._open(one));
        return known.length > 0 && known.length === placed.length;
      }
    }

    return {
      /**
       * An editor of a promotion's rules, loaded.
       *
       * `onChange` is called after every change. Requests of `requests()` belong behind the draft's activation, into
       * one change set; after it `load()` shows what is stored.
       */
      async create({promotionId, isEditable = false, currency = "", onChange = () => {}}) {
        const metaModel = Component.getComponentById("promenade").getModel().getMetaModel();
        await Promise.all([Texts.ready(), metaModel.requestObject("/")]);
        const editor = new Editor(new Desk({promotionId, metaModel, onChange}));
        editor.setEditable(isEditable);
        editor.setCurrency(currency);
        await editor.load();
        return editor;
      }
    };
  }
);
