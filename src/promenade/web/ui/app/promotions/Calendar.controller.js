sap.ui.define(
  [
    "sap/m/GroupHeaderListItem",
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/Sorter",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Format",
    "promenade/promotions/Address",
    "promenade/promotions/Filters",
    "promenade/promotions/Period",
    "promenade/promotions/Texts",
    "promenade/shell/Visit",
    "promenade/promotions/style"
  ],
  function (GroupHeaderListItem, Controller, Sorter, JSONModel, Format, Address, Filters, Period, Texts, Visit) {
    "use strict";

    const GROUPS = {
      campaign: {path: "campaignCode", text: (value) => value || Texts.get("calendar.noCampaign")},
      status: {path: "status", text: Texts.status},
      type: {path: "type", text: Texts.type}
    };

    function defaults() {
      return {from: Period.of(new Date(), "month"), span: "month", rows: "campaign", statuses: [], show: "bars"};
    }

    function filterOf({from, to}, statuses) {
      const during = `(startsAt eq null or startsAt lt ${to})` + ` and (endsAt eq null or endsAt gt ${from})`;
      const chosen = statuses.map((one) => `status eq ${Filters.quoted(one)}`).join(" or ");
      return `${during} and (${chosen || "status ne 'ARCHIVED'"})`;
    }

    /** When promotions run: those of a month or a quarter, as bars or as a list. */
    return Controller.extend("promenade.promotions.Calendar", {
      onInit() {
        Texts.use(this.getOwnerComponent());
        this._model = new JSONModel({
          ...defaults(),
          title: "",
          days: null,
          listTitle: "",
          allStatuses: Filters.statuses.map((key) => ({key, text: Texts.status(key)}))
        });
        this.getView().setModel(this._model, "calendar");
        this._row = this.byId("row");
        Visit.follow(this, "calendar", {
          enter: (given) => this._onRoute(given),
          again: () => this.byId("table").getBinding("items")?.refresh()
        });
      },

      onExit() {
        this._row.destroy();
      },

      _onRoute({"?query": query}) {
        const state = Address.read(query, defaults());
        const {from, span} = state;
        this._model.setData(
          {
            ...state,
            title: Period.title(from, span),
            days: Period.scale(from, span, new Date())
          },
          true
        );
        this._bind(state);
      },

      _bind({from, span, rows, statuses}) {
        const {path, text} = GROUPS[rows];
        const group = (context) => ({key: context.getProperty(path) || "", text: text(context.getProperty(path))});
        this.byId("table").bindItems({
          path: "/PromotionsCalendar",
          template: this._row,
          templateShareable: true,
          // What belongs to nothing comes last, which is said by a condition to sort by.
          sorter: [
            new Sorter(`${path} eq null`, false, group),
            new Sorter(path),
            new Sorter("startsAt"),
            new Sorter("ID")
          ],
          groupHeaderFactory: (one) => new GroupHeaderListItem({title: Texts.plain(one.text)}),
          parameters: {$count: true, $filter: filterOf(Period.bounds(from, span), statuses)},
          events: {change: (changed) => this._countRows(changed.getSource())}
        });
      },

      _countRows(rows) {
        const count = rows.getCount();
        if (count !== undefined) {
          this._model.setProperty("/listTitle", Texts.get("calendar.count", [Format.number(count)]));
        }
      },

      _go(change) {
        const state = {...this._model.getData(), ...change};
        this.getOwnerComponent().getRouter().navTo("calendar", Address.parameters(state, defaults()), true);
      },

      onChange() {
        const {from, span} = this._model.getData();
        this._go({from: Period.around(from, span)});
      },

      onPrevious() {
        const {from, span} = this._model.getData();
        this._go({from: Period.step(from, span, -1)});
      },

      onNext() {
        const {from, span} = this._model.getData();
        this._go({from: Period.step(from, span, 1)});
      },

      onToday() {
        this._go({from: Period.of(new Date(), this._model.getProperty("/span"))});
      },

      onList() {
        this.getOwnerComponent().getRouter().navTo("promotions");
      }
    });
  }
);
