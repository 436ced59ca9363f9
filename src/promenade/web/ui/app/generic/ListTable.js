sap.ui.define(
  [
    "sap/m/Text",
    "sap/ui/model/Sorter",
    "sap/ui/table/Table",
    "sap/ui/table/TableRenderer",
    "promenade/generic/Columns",
    "promenade/generic/Editing",
    "promenade/generic/Export",
    "promenade/generic/Extensions",
    "promenade/generic/FilterBar",
    "promenade/generic/ListState",
    "promenade/generic/ListToolbar",
    "promenade/generic/Rows",
    "promenade/generic/Searches",
    "promenade/generic/Views"
  ],
  function (
    Text,
    Sorter,
    Table,
    TableRenderer,
    Columns,
    Editing,
    Export,
    Extensions,
    FilterBar,
    ListState,
    ListToolbar,
    Rows,
    Searches,
    Views
  ) {
    "use strict";

    /** What a list shows beyond its columns: enough to know a row by, and what its page is addressed with. */
    function selectOf({meta, select = []}) {
      return [...new Set([...meta.key, ...(meta.isDraft ? ["HasActiveEntity", "HasDraftEntity"] : []), ...select])];
    }

    /** The order of what has none of its own: by what people know its rows by. */
    function byKey(meta) {
      const [path] = meta.semanticKey.filter((one) => !one.endsWith("_ID") && meta.field(one).isSortable);
      return path ? [{path, isDescending: false}] : [];
    }

    /** A table whose search, filters and order are a state that can be kept in an address. */
    return Table.extend("promenade.generic.ListTable", {
      metadata: {library: "promenade"},
      renderer: TableRenderer,

      /** Builds what is around the rows and binds these; `Lists.create` calls it once. */
      open(given) {
        Rows.fit(this);
        this._given = given;
        this._total = 0;
        this._isByStart = false;
        this._state = this._sound(given.state || {});
        const {meta, title, actions} = given;
        const saving = Export.button({
          binding: () => this.getBinding("rows"),
          columns: () => this._exported(),
          title: title || meta.plural
        });
        this._toolbar = ListToolbar.create(
          this,
          {...given, actions: [...actions, ...this._views(), saving]},
          {
            ask: (search) => this._ask({search}),
            askEverywhere: () => this._askEverywhere()
          }
        );
        this.addExtension(this._toolbar.control);
        if (given.hasFilters && (given.meta.filters.length || given.meta.isDraft)) {
          this._filterBar = FilterBar.create({
            ...given,
            state: this._state,
            onChange: (filters, status) => this._ask({filters, status})
          });
          this.addExtension(this._filterBar.control);
        }
        this.addExtension(this._toolbar.strip);
        this.addAriaLabelledBy(this._toolbar.title);
        if (given.onPress) {
          this._makePressable(given.onPress);
        }
        this.attachSort(this._onSort, this);
        this._toolbar.setSearch(this._state.search);
        this._bind();
      },

      /** Of lists that are a page of their own. */
      _views() {
        const {onState, meta} = this._given;
        const apply = (view) => this.applyView(view);
        return onState ? [Views.button({list: meta.set, view: () => this.getView(), apply})] : [];
      },

      /** What is said where there is nothing: below the rows, for OpenUI5's own place would be a cell without a row. */
      setNoData(text) {
        this._nothing ||= new Text({visible: false}).addStyleClass("sapUiSmallMargin");
        this._nothing.setText(text);
        return this.setShowNoData(false).setFooter(this._nothing);
      },

      _makePressable(onPress) {
        this.attachCellClick((event) => {
          const context = event.getParameter("rowBindingContext");
          if (context && !context.isTransient()) {
            onPress(context);
          }
        });
      },

      /** The columns that are seen, as they are saved to a file; those that a page adds say which paths they are. */
      _exported() {
        const {meta, addedColumns = []} = this._given;
        const added = new Map(addedColumns.map((one) => [one.id, one.exported || []]));
        return this.getColumns()
          .filter((column) => column.getVisible())
          .flatMap((column) => column.data("paths") || added.get(column.getName()) || [column.getName()])
          .map((path) => Export.columnOf(meta.field(path)));
      },

      _bind() {
        const {meta, path} = this._given;
        this.bindRows({
          path: path || `/${meta.set}`,
          parameters: {
            $count: true,
            $select: selectOf(this._given).join(","),
            ...this._search(),
            ...(this._given.parameters || {})
          },
          filters: this._filters(),
          sorter: this._sorters(),
          events: {
            change: () => this._onChange(),
            dataReceived: (event) => this._onReceived(event)
          }
        });
        this._showSort();
      },

      _sound(state) {
        const {meta} = this._given;
        return {...ListState.sound(state, meta), filters: FilterBar.sound(meta, state.filters)};
      },

      _search() {
        return Searches.parameters(this._state.search, this._isByStart);
      },

      _filters() {
        const {meta, filters} = this._given;
        return [
          ...(this._state.status ? Editing.filter(this._state.status) : []),
          ...(this._fixed || filters),
          ...Searches.filters(meta, this._state.search, this._isByStart),
          ...FilterBar.filtersOf(meta, this._state.filters)
        ];
      },

      _sorters() {
        const {meta, order} = this._given;
        const {sort} = this._state;
        const wanted = sort ? [sort] : order || (meta.order.length ? meta.order : byKey(meta));
        return wanted.map((one) => new Sorter(one.path, one.isDescending));
      },

      /** The same search in all texts, which may take long. */
      _askEverywhere() {
        this._isByStart = false;
        this._ask({});
      },

      /** Something else is asked for: the rows are fetched anew, from the first on. */
      _ask(change) {
        Object.assign(this._state, change);
        if ("search" in change) {
          this._isByStart = Searches.isByStart(this._given.meta, this._total);
        }
        this._toolbar.setByStart(this._state.search && this._isByStart ? this._state.search : null);
        const binding = this.getBinding("rows");
        // All at once, for one request.
        binding.suspend();
        binding.changeParameters(this._search());
        binding.filter(this._filters(), "Application");
        binding.sort(this._sorters());
        binding.resume();
        this.setFirstVisibleRow(0);
        this._showSort();
        if (this._given.onState) {
          this._given.onState(this.getState());
        }
      },

      _onSort(event) {
        event.preventDefault();
        const path = event.getParameter("column").getSortProperty();
        this._ask({sort: {path, isDescending: event.getParameter("sortOrder") === "Descending"}});
      },

      _showSort() {
        const {sort} = this._state;
        this.getColumns().forEach((column) => {
          const isBy = Boolean(sort) && column.getSortProperty() === sort.path;
          column.setSortOrder(isBy ? (sort.isDescending ? "Descending" : "Ascending") : "None");
        });
      },

      _onChange() {
        const count = this.getBinding("rows")?.getCount();
        if (count !== undefined) {
          this._total = Math.max(this._total, count);
          this._toolbar.setCount(count);
          this._nothing.setVisible(count === 0);
          this.getRowMode().setHideEmptyRows?.(count === 0); // else others take the place of empty ones
        }
      },

      _onReceived(event) {
        const failed = event.getParameter("error") || null;
        this._onChange();
        this._toolbar.setFailure(failed);
        this._follow();
        if (failed && !failed.canceled) {
          this._nothing.setVisible(true);
        }
      },

      /** Background work is watched while the list is. */
      _follow() {
        const {meta, onUnderWay} = this._given;
        const states = Extensions.of(meta.set).underWay;
        if (onUnderWay && states.length) {
          onUnderWay(this.getBinding("rows"), (row) => states.includes(row.getProperty("status")));
        }
      },

      /** `{search, filters, status, sort}`: what the person asked for. */
      getState() {
        return structuredClone(this._state);
      },

      /** What a person can give a name: the state, and the columns that are seen in their order. */
      getView() {
        return {state: this.getState(), columns: Columns.seen(this)};
      },

      /** Shows the columns of a view. */
      showColumns({columns}) {
        Columns.show(this, columns);
      },

      /** Shows a view, as if the person had asked for it. */
      applyView(view) {
        this.showColumns(view);
        this.applyState(view.state || {});
        this._given.onState?.(this.getState());
      },

      /** Shows what a state says, without telling `onState` of it. */
      applyState(state) {
        const {onState} = this._given;
        this._given.onState = null;
        this._ask(this._sound(state));
        this._toolbar.setSearch(this._state.search);
        this._filterBar?.show(this._state);
        this._given.onState = onState;
      },

      /** Filters that hold whatever the person asks for. */
      setFixedFilters(filters) {
        this._fixed = filters;
        this._ask({});
      },

      /** Fetches the rows that are seen once more. */
      refresh() {
        this.getBinding("rows")?.refresh();
      }
    });
  }
);
