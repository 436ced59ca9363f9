sap.ui.define(
  [
    "sap/m/GroupHeaderListItem",
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/Sorter",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Reference",
    "promenade/generic/Zone",
    "promenade/net/Http",
    "promenade/promotions/Address",
    "promenade/promotions/CalendarColours",
    "promenade/promotions/Filters",
    "promenade/promotions/Ics",
    "promenade/promotions/Period",
    "promenade/promotions/Reschedule",
    "promenade/promotions/Texts",
    "promenade/resources/Download",
    "promenade/session/Session",
    "promenade/shell/Visit",
    "promenade/promotions/style"
  ],
  function (
    GroupHeaderListItem,
    Controller,
    Sorter,
    JSONModel,
    Format,
    Messages,
    Reference,
    Zone,
    Http,
    Address,
    CalendarColours,
    Filters,
    Ics,
    Period,
    Reschedule,
    Texts,
    Download,
    Session,
    Visit
  ) {
    "use strict";

    const GROUPS = {
      campaign: {path: "campaignCode", text: (value) => value || Texts.get("calendar.noCampaign")},
      status: {path: "status", text: Texts.status},
      type: {path: "type", text: Texts.type}
    };

    function defaults() {
      return {
        from: Period.of(new Date(), "month"),
        span: "month",
        rows: "campaign",
        colour: "status",
        statuses: [],
        stores: [],
        search: "",
        show: "bars"
      };
    }

    const MONTH = /^[1-9]\d{3}-(0[1-9]|1[0-2])$/;
    const PAGE = 500;
    const ABOVE = "parent($select=code;$expand=parent($select=code;$expand=parent($select=code)))";
    const codesIn = (codes) => codes.map(Filters.quoted).join(",");

    /** The codes of POS groups and of those above them: what runs there runs here. */
    async function withAbove(codes) {
      const query = `$select=code&$expand=${ABOVE}&$filter=${encodeURIComponent(`code in (${codesIn(codes)})`)}`;
      const {value} = await Http.get(`/admin/PosGroups?${query}`);
      const found = new Set(codes);
      for (let rows = value; rows.length; rows = rows.map(({parent}) => parent).filter(Boolean)) {
        rows.forEach(({code}) => found.add(code));
      }
      return [...found];
    }

    /** @param {any} state */
    async function filterOf({from, span, statuses, stores, search}) {
      const bounds = Period.bounds(from, span);
      const chosen = statuses.map((one) => `status eq ${Filters.quoted(one)}`).join(" or ");
      const found = Filters.found(search, ["promotionName", "campaignCode"]);
      const where = stores.length
        ? [`posGroups/$count eq 0 or posGroups/any(one:one in (${codesIn(await withAbove(stores))}))`]
        : [];
      return [
        `startsAt eq null or startsAt lt ${bounds.to}`,
        `endsAt eq null or endsAt gt ${bounds.from}`,
        chosen || "status ne 'ARCHIVED'",
        ...(found ? [found] : []),
        ...where
      ]
        .map((one) => `(${one})`)
        .join(" and ");
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
          legend: [],
          moved: null,
          mayMove: Session.may("update", "Promotions"),
          allStatuses: Filters.statuses.map((key) => ({key, text: Texts.status(key)}))
        });
        this.getView().setModel(this._model, "calendar");
        this._row = this.byId("row");
        this._colours = new CalendarColours((legend) => this._model.setProperty("/legend", legend));
        this._offerStores();
        Visit.follow(this, "calendar", {
          enter: (given) => this._onRoute(given),
          leave: () => {
            this._asked = null;
          },
          again: () => this.byId("table").getBinding("items")?.refresh()
        });
      },

      onExit() {
        this._row.destroy();
      },

      _offerStores() {
        const source = {set: "PosGroups", key: "code", shown: ["code", "name"], title: Texts.get("places.choose")};
        const take = (input, rows) => {
          const {stores} = this._model.getData();
          input.setValue("");
          this._go({stores: [...new Set([...stores, ...rows.map(({code}) => code)])]});
        };
        Reference.attach(this.byId("stores"), source, {isMany: true, take});
      },

      async _onRoute({"?query": query}) {
        const state = Address.read(query, defaults());
        const span = (state.span = state.span === "quarter" ? "quarter" : "month");
        const from = (state.from = MONTH.test(state.from) ? state.from : Period.of(new Date(), span));
        this._model.setData(
          {
            ...state,
            title: Period.title(from, span),
            days: Period.scale(from, span, Date.now()),
            legend: []
          },
          true
        );
        this._asked = state;
        this._filter = filterOf(state);
        try {
          const filter = await this._filter;
          if (this._asked === state) {
            this._colours.begin(state.colour);
            this._bind(state, filter);
          }
        } catch (error) {
          if (this._asked === state) {
            Messages.show(error);
          }
        }
      },

      _bind({rows}, filter) {
        const {path, text} = GROUPS[rows] || GROUPS.campaign;
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
          parameters: {$count: true, $filter: filter},
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

      lookOf(status, statusCriticality, type, campaignCode) {
        return status ? this._colours.look({status, statusCriticality, type, campaignCode}) : ""; // none is read yet
      },

      meaningOf(status, type, campaignCode) {
        return this._colours.meaning({status, type, campaignCode});
      },

      onStoresChanged(event) {
        const gone = new Set((event.getParameter("removedTokens") || []).map((one) => one.getKey()));
        this._go({stores: this._model.getProperty("/stores").filter((one) => !gone.has(one))});
      },

      onSearch(event) {
        this._go({search: event.getParameter("query").trim()});
      },

      /** Other days for a promotion: those to which its bar was drawn, or any. */
      async onMove(event) {
        const {promotion_ID: id} = event.getSource().getBindingContext().getObject();
        const {part, days} = event.getParameters();
        const asked = this._asked;
        const isLeft = () => this._asked !== asked;
        try {
          await Reschedule.ask(this.getView(), {id, part, days, isLeft}, (name) =>
            this._model.setProperty("/moved", {
              text: Texts.get("calendar.moved", [name]),
              href: Texts.href(id, false)
            })
          );
        } catch (error) {
          Messages.show(error);
        }
      },

      onMovedSeen() {
        this._model.setProperty("/moved", null);
      },

      /** All of the period that the filters leave, as a file for other calendars. */
      async onDownload() {
        const {from, span} = this._model.getData();
        try {
          const text = Ics.of(await this._all(), {
            ...Period.bounds(from, span),
            zone: Zone.current(),
            now: new Date(),
            origin: window.location.origin,
            describe: (row) =>
              [Texts.status(row.status), Texts.type(row.type), Texts.validity(row.startsAt, row.endsAt)].join("\n")
          });
          Download.save(new Blob([text], {type: "text/calendar;charset=utf-8"}), `promotions-${from}.ics`);
        } catch (error) {
          Messages.show(error);
        }
      },

      async _all() {
        const filter = encodeURIComponent(await this._filter);
        const rows = [];
        for (let isMore = true; isMore; ) {
          const query = `$filter=${filter}&$orderby=ID&$top=${PAGE}&$skip=${rows.length}`;
          const {value} = await Http.get(`/admin/PromotionsCalendar?${query}`);
          rows.push(...value);
          isMore = value.length === PAGE;
        }
        return rows;
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
