sap.ui.define(
  [
    "sap/m/MultiInput",
    "sap/m/Token",
    "promenade/generic/Marks",
    "promenade/generic/Reference",
    "promenade/promotions/Texts"
  ],
  function (MultiInput, Token, Marks, Reference, Texts) {
    "use strict";

    /**
     * POS groups of something, as tokens; more are typed, or chosen in a dialog. Likewise what else it is linked with:
     * `set` tells of what, and `part` by which name rows refer to it.
     *
     * Rows are `{ID, posGroup_ID, posGroup: {code, name}}`: a row that was there keeps its ID.
     */
    return class Places {
      /**
       * @param {{onChange?: (rows: any[]) => unknown, placeholder?: string, set?: string, part?: string,
       *   title?: string}} [options]
       */
      constructor({
        onChange = () => undefined,
        placeholder = Texts.get("places.everywhere"),
        set = "PosGroups",
        part = "posGroup",
        title = Texts.get("places.choose")
      } = {}) {
        this._onChange = onChange;
        this._part = part;
        this._link = `${part}_ID`;
        this._rows = [];
        this.control = new MultiInput({
          width: "100%",
          placeholder,
          tokenUpdate: (event) => this._remove(event.getParameter("removedTokens"))
        });
        const source = {set, key: "ID", shown: ["code", "name"], title};
        Reference.attach(this.control, source, {isMany: true, take: (input, rows) => this._add(rows)});
      }

      /** Shows rows; what was chosen before is forgotten. */
      setRows(rows) {
        this._rows = rows;
        Marks.clear(this.control);
        this._sayNone();
        this.control.removeAllTokens();
        rows.forEach((row) =>
          this.control.addToken(
            new Token({
              key: row[this._link],
              text: Texts.plain(row[this._part].name),
              tooltip: Texts.plain(row[this._part].code)
            })
          )
        );
      }

      setEditable(isEditable) {
        this.control.setEditable(isEditable);
        this._sayNone();
      }

      /** What only shows has no placeholder: that none was chosen is its text. */
      _sayNone() {
        const isSaid = !this.control.getEditable() && !this._rows.length;
        this.control.setValue(isSaid ? this.control.getPlaceholder() : "");
      }

      /** The rows as the service takes them. */
      rows() {
        const link = this._link;
        return this._rows.map((row) => (row.ID ? {ID: row.ID, [link]: row[link]} : {[link]: row[link]}));
      }

      /** What the tokens say. */
      names() {
        return this._rows.map((row) => row[this._part].name);
      }

      _add(chosen) {
        const known = new Set(this._rows.map((row) => row[this._link]));
        const added = chosen
          .filter((one) => !known.has(one.ID))
          .map((one) => ({[this._link]: one.ID, [this._part]: {code: one.code, name: one.name || one.code}}));
        this.setRows([...this._rows, ...added]);
        if (added.length) {
          this._onChange(this.rows());
        }
      }

      _remove(tokens = []) {
        const gone = new Set(tokens.map((one) => one.getKey()));
        if (gone.size) {
          this._rows = this._rows.filter((row) => !gone.has(row[this._link]));
          this._onChange(this.rows());
        }
      }
    };
  }
);
