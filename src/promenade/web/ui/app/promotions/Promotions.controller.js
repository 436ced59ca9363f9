sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Columns",
    "promenade/generic/Export",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/generic/Rows",
    "promenade/generic/Texts",
    "promenade/generic/Views",
    "promenade/net/Http",
    "promenade/promotions/Address",
    "promenade/promotions/Bulk",
    "promenade/promotions/Creating",
    "promenade/promotions/Filters",
    "promenade/promotions/Page",
    "promenade/promotions/Texts",
    "promenade/session/Session",
    "promenade/shell/Visit",
    "promenade/promotions/style"
  ],
  function (
    Controller,
    JSONModel,
    Columns,
    Export,
    Format,
    Messages,
    Meta,
    Rows,
    GenericTexts,
    Views,
    Http,
    Address,
    Bulk,
    Creating,
    Filters,
    Page,
    Texts,
    Session,
    Visit
  ) {
    "use strict";

    const DEFAULTS = {
      search: "",
      status: "all",
      types: [],
      exclusivity: [],
      campaign: "",
      validity: "",
      editing: "",
      sort: "modifiedAt desc"
    };
    /** Addresses of lists by status that people have kept, and what they show now. */
    const FORMER = {ACTIVE: "RUNNING", EXPIRED: "ENDED"};
    const LIST = "Promotions";
    /** What a list is filtered by, but for its search and its status, which are always seen. */
    const FILTERS = ["types", "exclusivity", "campaign", "validity", "editing"];
    const TYPES = ["ARTICLE", "RECEIPT", "BUNDLE", "COUPON", "LOYALTY"];
    /** What a telephone shows of a promotion below its name. */
    const ON_A_CARD = ["status", "validity", "campaign", "editing"];
    /** What stands in a file. */
    const EXPORTED = ["code", "name", "status", "type", "validFrom", "validTo", "priority", "exclusivityLevel"].concat([
      "campaign_ID",
      "applicationsCount"
    ]);
    const EXCLUSIVITY = ["NONE", "PROMOTION", "GROUP", "GLOBAL"];

    function choices(list, keys) {
      return keys.map((key) => ({key, text: Texts.get(`${list}.${key || "any"}`)}));
    }

    /** The list of promotions: own drafts in place of what they change, and all else as it is. */
    return Controller.extend("promenade.promotions.Promotions", {
      onInit() {
        Texts.use(this.getOwnerComponent());
        this._model = new JSONModel({
          ...DEFAULTS,
          campaignText: "",
          chosen: 0,
          counts: null,
          statuses: [],
          listTitle: Texts.get("title"),
          allTypes: choices("type", TYPES),
          allExclusivity: choices("exclusivity", EXCLUSIVITY),
          allValidity: choices("validIn", ["", ...Filters.validity]),
          allEditing: choices("editedBy", Filters.editing),
          mayCreate: Session.may("create", "Promotions"),
          mayUpdate: Session.may("update", "Promotions"),
          mayCampaign: Session.may("update", "Campaigns")
        });
        this.getView().setModel(this._model, "list");
        this._showCounts();
        this._filled = this._fill();
        Visit.follow(this, "promotions", {
          enter: (given) => this._onRoute(given),
          leave: () => {
            this._isAsked = false;
          },
          top: () => this.byId("table")?.setFirstVisibleRow(0),
          again: () => this._again()
        });
      },

      async _fill() {
        const model = this.getOwnerComponent().getModel();
        const [meta] = await Promise.all([Meta.of(model, "Promotions"), GenericTexts.ready()]);
        await Page.fill(this, ["sap.f", "sap.ui.table"], "promenade.promotions.Promotions");
        Rows.fit(this.byId("table"));
        if (Columns.isTelephone()) {
          Columns.fold(this.byId("table").setShowColumnVisibilityMenu(false), ON_A_CARD);
        }
        const binding = () => this.byId("table").getBinding("rows");
        const columns = () => EXPORTED.map((path) => Export.columnOf(meta.field(path)));
        this.byId("tools").addContent(
          Views.button({list: LIST, view: () => this._view(), apply: (view) => this._showView(view)})
        );
        this.byId("tools").addContent(Export.button({binding, columns, title: Texts.get("title")}));
      },

      /** What a person can give a name: what the list is asked for, and which columns are seen. */
      _view() {
        return {state: Address.write(this._model.getData(), DEFAULTS), columns: Columns.seen(this.byId("table"))};
      },

      _showView(view) {
        Columns.show(this.byId("table"), view.columns);
        this._go({...Address.read(view.state, DEFAULTS), campaignText: ""});
      },

      /** What an address asks for; one that asks for nothing, unless the person did: what their own view does. */
      async _onRoute({"?query": query}) {
        const view = query || this._isAsked ? null : Views.standard(LIST);
        this._isAsked = false;
        await this._filled;
        if (view) {
          Columns.show(this.byId("table"), view.columns);
        }
        if (Object.keys(view?.state || {}).length) {
          this._showView(view); // whose address is this one's from now on
          return;
        }
        const state = Address.read(query, DEFAULTS);
        state.status = FORMER[state.status] || state.status;
        const campaignText = state.campaign ? this._model.getProperty("/campaignText") : "";
        this._model.setData({...state, campaignText}, true);
        this._apply(state);
      },

      /** Shows the list of a state: the table's rows as they are seen, and how many there are of each status. */
      _apply(state) {
        const table = this.byId("table");
        const rows = table.getBinding("rows");
        const [path, direction] = state.sort.split(" ");
        // A second criterion: rows that are alike must not change places from page to page.
        rows.changeParameters({$filter: Filters.of(state, Date.now()), $orderby: `${path} ${direction || "asc"},ID`});
        if (rows.isSuspended()) {
          rows.resume();
        } else {
          rows.refresh();
        }
        table.getColumns().forEach((one) => {
          const isSorted = one.getSortProperty() === path;
          one.setSortOrder(isSorted ? (direction === "desc" ? "Descending" : "Ascending") : "None");
        });
        table.clearSelection();
        this._countFilters(state);
        this._count(state);
        this._nameCampaign(state.campaign);
      },

      /** Shows the same list as it is now. */
      async _again() {
        await this._filled;
        this._apply(Address.read(Address.write(this._model.getData(), DEFAULTS), DEFAULTS));
      },

      async _count(state) {
        const filter = Filters.of({...state, status: "all"}, Date.now());
        const apply = Filters.counts(filter, Date.now());
        const asked = (this._asked = Symbol("counts"));
        try {
          const {value} = await Http.get(`/admin/Promotions?$apply=${encodeURIComponent(apply)}`);
          if (asked === this._asked) {
            const counts = {};
            value.forEach(({status, ahead, over, n}) => {
              const key = Filters.stateOf(status, ahead, over);
              counts[key] = (counts[key] || 0) + n;
            });
            this._model.setProperty("/counts", counts);
            this._showCounts();
          }
        } catch (error) {
          Messages.show(error);
        }
      },

      _showCounts() {
        const {counts, status} = this._model.getData();
        const of = (key) => (counts ? Format.number(counts[key] || 0) : "");
        const total = counts ? Format.number(Object.values(counts).reduce((sum, one) => sum + one, 0)) : "";
        const tabs = Filters.states.map((key) => ({key, text: Texts.status(key), count: of(key)}));
        this._model.setProperty("/statuses", [{key: "all", text: Texts.get("all"), count: total}, ...tabs]);
        this._model.setProperty(
          "/listTitle",
          counts ? Texts.get("titleCount", [status === "all" ? total : of(status)]) : Texts.get("title")
        );
      },

      async _nameCampaign(id) {
        if (id && !this._model.getProperty("/campaignText")) {
          const {name} = await Http.get(`/admin/Campaigns(${id})?$select=name`).catch(() => ({name: id}));
          this._model.setProperty("/campaignText", name);
        }
      },

      _go(change) {
        this._isAsked = true;
        const state = {...this._model.getData(), ...change};
        this.getOwnerComponent().getRouter().navTo("promotions", Address.parameters(state, DEFAULTS), true);
      },

      onFold(event) {
        this.byId("filters").toggleStyleClass("promFolded", !event.getParameter("pressed"));
      },

      _countFilters(state) {
        const inUse = FILTERS.filter((one) => [].concat(state[one]).join("") !== "").length;
        this._model.setProperty(
          "/filtersText",
          inUse ? GenericTexts.of("filtersInUse", inUse) : GenericTexts.of("filters")
        );
      },

      onFilter() {
        this._go({});
      },

      onClear() {
        this._go({...DEFAULTS, campaignText: ""});
      },

      onSort(event) {
        event.preventDefault();
        const order = event.getParameter("sortOrder") === "Descending" ? " desc" : "";
        this._go({sort: event.getParameter("column").getSortProperty() + order});
      },

      onCampaignSuggest(event) {
        const binding = event.getSource().getBinding("suggestionItems");
        const typed = Filters.quoted(event.getParameter("suggestValue").toLowerCase());
        binding.changeParameters({$filter: `contains(tolower(name),${typed}) or contains(tolower(code),${typed})`});
        if (binding.isSuspended()) {
          binding.resume();
        }
      },

      onCampaignChosen(event) {
        const item = event.getParameter("selectedItem");
        if (item) {
          this._model.setProperty("/campaignText", item.getText());
          this._go({campaign: item.getKey()});
        }
      },

      onCampaignChange(event) {
        if (!event.getParameter("value")) {
          this._go({campaign: ""});
        }
      },

      onSelection() {
        this._model.setProperty("/chosen", this.byId("table").getSelectedIndices().length);
      },

      _chosen() {
        const table = this.byId("table");
        return table
          .getSelectedIndices()
          .map((index) => table.getContextByIndex(index))
          .filter(Boolean);
      },

      onCalendar() {
        this.getOwnerComponent().getRouter().navTo("calendar");
      },

      onCreate() {
        this.getOwnerComponent().getRouter().navTo("gallery");
      },

      onFromTemplate() {
        this.getOwnerComponent()
          .getRouter()
          .navTo("gallery", {"?query": {from: "template"}});
      },

      /** One is copied with a name of its own, several as they are called. */
      onCopy() {
        const [context, more] = this._chosen();
        if (more || this._model.getProperty("/chosen") > 1) {
          this._move("copy");
        } else if (context) {
          Creating.copyOf(this.getView(), context.getProperty("ID"), context.getProperty("name"));
        }
      },

      /** What is chosen without drafts: `[{id, name}]`; rows that were never seen are read for it. */
      async _chosenActive() {
        const table = this.byId("table");
        const indices = table.getSelectedIndices();
        const [first, last] = [indices.at(0), indices.at(-1)];
        const contexts = await table.getBinding("rows").requestContexts(first, last - first + 1);
        return indices
          .map((index) => contexts[index - first])
          .filter((one) => one?.getProperty("IsActiveEntity"))
          .map((one) => ({id: one.getProperty("ID"), name: one.getProperty("name")}));
      },

      /** Shows the list anew after a change of what is chosen, if `make()` says that there was one. */
      async _change(make) {
        try {
          if (await make()) {
            await this._again();
          }
        } catch (error) {
          Messages.show(error);
        }
      },

      _move(move) {
        const {chosen} = this._model.getData();
        return this._change(() => Bulk.make(move, chosen, () => this._chosenActive()));
      },

      onActivate() {
        return this._move("activate");
      },

      onDeactivate() {
        return this._move("deactivate");
      },

      onToCampaign() {
        return this._change(async () => Creating.toCampaign(this.getView(), await this._chosenActive()));
      }
    });
  }
);
