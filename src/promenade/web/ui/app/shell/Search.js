sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/GroupHeaderListItem",
    "sap/m/List",
    "sap/m/SearchField",
    "sap/m/StandardListItem",
    "sap/ui/Device",
    "sap/ui/core/InvisibleMessage",
    "sap/ui/core/library",
    "promenade/generic/Addresses",
    "promenade/generic/Messages",
    "promenade/generic/ValueHelp",
    "promenade/net/Http",
    "promenade/reports/Numbers",
    "promenade/reports/Plain"
  ],
  function (
    Button,
    Dialog,
    GroupHeaderListItem,
    List,
    SearchField,
    StandardListItem,
    Device,
    InvisibleMessage,
    coreLibrary,
    Addresses,
    Messages,
    ValueHelp,
    Http,
    Numbers,
    plain
  ) {
    "use strict";

    const SHOWN = 5;
    const ACTIVE = "IsActiveEntity eq true";

    const anywhere = (text) => ({search: ValueHelp.words(text)});
    const literal = (text) => `'${text.replaceAll("'", "''")}'`;

    /**
     * What is searched. Codes and transactions are found by all of their key alone: nobody gets to know one by trying
     * what it begins with.
     */
    const KINDS = [
      {
        set: "Promotions",
        icon: "tags",
        query: (text) => ({...anywhere(text), filter: ACTIVE, orderby: "modifiedAt desc", select: "ID,name,code"}),
        title: ({name, code}) => name || code,
        text: ({code}) => code
      },
      {
        set: "Articles",
        icon: "product",
        query: (text) => ({
          ...anywhere(text),
          filter: ACTIVE,
          orderby: "articleNumber",
          select: "ID,name,articleNumber"
        }),
        title: ({name, articleNumber}) => name || articleNumber,
        text: ({articleNumber}) => articleNumber
      },
      {
        set: "CouponCodes",
        icon: "cart-3",
        query: (text) => ({filter: `code eq ${literal(text)}`, select: "ID,code", expand: "couponType($select=name)"}),
        title: ({code}) => code,
        text: ({couponType}) => couponType?.name ?? ""
      },
      {
        set: "CalculationLogs",
        icon: "receipt",
        query: (text) => ({
          filter: `transactionId eq ${literal(text)}`,
          orderby: "confirmedAt desc",
          select: "ID,transactionId,confirmedAt"
        }),
        title: ({transactionId}) => transactionId,
        text: ({confirmedAt}) => Numbers.moment(confirmedAt)
      }
    ];

    const urlOf = ({set, query}, text) =>
      `${set}?${Object.entries({...query(text), top: SHOWN})
        .map(([name, value]) => `$${name}=${encodeURIComponent(value)}`)
        .join("&")}`;

    /**
     * What was found of each kind, with one request. A kind that the person may not read is not among them.
     *
     * @param {string} text
     */
    async function find(text) {
      const requests = KINDS.map((kind, index) => ({id: String(index), method: "GET", url: urlOf(kind, text)}));
      const {responses} = await Http.post("/admin/$batch", {requests});
      const failed = responses.find(({status}) => status >= 400 && status !== 403);
      if (failed) {
        throw new Http.HttpError(failed.status, failed.body);
      }
      return KINDS.map((kind, index) => ({
        kind,
        rows: responses.find(({id, status}) => id === String(index) && status < 400)?.body.value ?? []
      })).filter(({rows}) => rows.length);
    }

    /** One field that searches all over the back office; `t` gives the texts of `shell.search`. */
    class Search {
      /**
       * @param {(key: string, ...values: any[]) => string} t
       * @param {(hash: string) => void} onLeave
       */
      constructor(t, onLeave) {
        this._t = t;
        this._onLeave = onLeave;
        this._asked = 0;
        this._list = new List(plain({noDataText: t("hint"), showSeparators: "Inner", busyIndicatorDelay: 300}));
        this._field = new SearchField(
          plain({width: "100%", placeholder: t("placeholder"), search: (event) => this._search(event)})
        );
        this._dialog = new Dialog({
          title: t("title"),
          contentWidth: "36rem",
          contentHeight: "26rem",
          stretch: Device.system.phone,
          verticalScrolling: true,
          content: [this._field, this._list],
          initialFocus: this._field,
          endButton: new Button({text: t("close"), press: () => this._dialog.close()}),
          afterClose: () => this._dialog.destroy()
        }).addStyleClass("sapUiContentPadding");
      }

      open() {
        this._dialog.open();
        return this._dialog;
      }

      async _search(event) {
        const typed = event.getParameter("query");
        const text = ValueHelp.words(typed) ? typed.trim() : "";
        const asked = ++this._asked;
        const isWanted = () => asked === this._asked && !this._dialog.isDestroyed();
        this._list.setBusy(Boolean(text));
        try {
          const found = text ? await find(text) : [];
          if (isWanted()) {
            this._show(found, text ? this._t("none", text) : this._t("hint"));
          }
        } catch (error) {
          if (isWanted()) {
            Messages.show(error);
          }
        } finally {
          if (isWanted()) {
            this._list.setBusy(false);
          }
        }
      }

      _show(found, none) {
        this._list.destroyItems();
        this._list.setNoDataText(none);
        found.forEach(({kind, rows}) => {
          this._list.addItem(new GroupHeaderListItem({title: this._t(kind.set)}));
          rows.forEach((row) => this._list.addItem(this._item(kind, row)));
        });
        const count = found.reduce((sum, {rows}) => sum + rows.length, 0);
        const words = count ? this._t("found", count) : none;
        InvisibleMessage.getInstance().announce(words, coreLibrary.InvisibleMessageMode.Polite);
      }

      _item({set, icon, title, text}, row) {
        return new StandardListItem(
          plain({
            title: title(row),
            description: text(row),
            icon: `sap-icon://${icon}`,
            type: "Navigation",
            press: () => {
              this._dialog.close();
              this._onLeave(Addresses.href(set, row.ID, true).replace(/^#\//, ""));
            }
          })
        );
      }
    }

    return Search;
  }
);
