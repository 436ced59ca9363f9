sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Label",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/VBox",
    "promenade/net/Http",
    "promenade/net/Ids",
    "promenade/promotions/Places",
    "promenade/promotions/Texts",
    "promenade/session/Session"
  ],
  function (Button, Label, Text, Title, VBox, Http, Ids, Places, Texts, Session) {
    "use strict";

    /**
     * What a promotion is linked with, chosen or made on the spot. Nothing is written before the promotion is saved:
     * `requests` belongs into the same change set.
     */
    return class Attaching {
      constructor({key, set, link, part, fresh, onChange}) {
        this._link = link;
        this._part = part;
        this._fresh = fresh;
        this._onChange = onChange;
        /** @type {any[]} */
        this._stored = [];
        this._isNew = false;
        this._mayMake = Session.may("create", set) && Session.may("create", link);
        this._chosen = new Places({
          set,
          part,
          title: Texts.get(`links.${key}.choose`),
          placeholder: Texts.get(`links.${key}.none`),
          onChange
        });
        this._new = new Button({
          text: Texts.get(`links.${key}.new`),
          icon: "sap-icon://add",
          press: () => {
            this.begin();
            this._fresh.focus();
          }
        });
        this._not = new Button({
          text: Texts.get(`links.${key}.not`),
          type: "Transparent",
          press: () => this._giveUp()
        });
        const control = this._chosen.control;
        this.control = new VBox({
          items: [
            new Title({text: Texts.get(`links.${key}.title`), level: "H3", titleStyle: "H5"}),
            new Text({text: Texts.get(`links.${key}.says`)}).addStyleClass("promenadeRuleKind"),
            new Label({text: Texts.get(`links.${key}.label`), labelFor: control}).addStyleClass("sapUiTinyMarginTop"),
            control,
            this._new,
            fresh.control,
            this._not
          ]
        }).addStyleClass("sapUiSmallMarginBottom promenadeLinks");
        this._show();
      }

      async show(shown) {
        const {id, isEditable} = shown;
        const isOther = id !== this._id;
        this._id = id;
        this._isEditable = isEditable;
        this._isNew &&= !isOther;
        await Promise.all([(isOther || !this.isChanged()) && this._read(id), this._fresh.show?.(shown)]);
        this._show();
      }

      async _read(id) {
        const query = `$filter=promotion_ID eq ${id}&$expand=${this._part}($select=ID,code,name)`;
        const {value} = await Http.get(`/admin/${this._link}?${encodeURI(query)}`);
        if (id === this._id) {
          this._stored = value;
          this._chosen.setRows(value);
        }
      }

      _show() {
        const isOpen = Boolean(this._isEditable);
        this._chosen.setEditable(isOpen && Session.may("create", this._link));
        this._new.setVisible(isOpen && this._mayMake && !this._isNew);
        this._not.setVisible(isOpen && this._isNew);
        this._fresh.setVisible(isOpen && this._isNew);
      }

      /** Begins what is made on the spot, with nothing of what was made before it. */
      begin() {
        this._isNew = true;
        this._fresh.begin(this.control.getBindingContext()?.getProperty("currency"));
        this._show();
        this._onChange();
      }

      _giveUp() {
        this._isNew = false;
        this._show();
        this._new.focus();
        this._onChange();
      }

      forget() {
        this._id = null;
        this._isNew = false;
      }

      words() {
        return [...this._chosen.names(), ...(this._isNew ? [this._fresh.words()] : [])].join(", ");
      }

      _added() {
        return this._chosen.rows().filter((row) => !row.ID);
      }

      _removed() {
        const kept = new Set(this._chosen.rows().map((row) => row.ID));
        return this._stored.filter((row) => !kept.has(row.ID));
      }

      isChanged() {
        return this._isNew || this._added().length > 0 || this._removed().length > 0;
      }

      isFirst() {
        return !this._stored.length && (this._isNew || this._added().length > 0);
      }

      isValid() {
        return !this._isNew || this._fresh.isValid();
      }

      requests(promotionId, name) {
        const linked = (id) => ({
          method: "POST",
          url: this._link,
          body: {[`${this._part}_ID`]: id, promotion_ID: promotionId}
        });
        const gone = this._removed().map(({ID}) => ({method: "DELETE", url: `${this._link}(${ID})`}));
        const added = this._added().map((row) => linked(row[`${this._part}_ID`]));
        const id = Ids.guid();
        const made = this._isNew ? [...this._fresh.requests(id, name), linked(id)] : [];
        return [...gone, ...added, ...made];
      }
    };
  }
);
