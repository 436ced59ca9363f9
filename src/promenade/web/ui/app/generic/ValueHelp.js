sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/Dialog",
    "sap/m/SearchField",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/Toolbar",
    "sap/m/ToolbarSpacer",
    "sap/ui/core/Component",
    "sap/ui/model/Filter",
    "promenade/generic/Displays",
    "promenade/generic/Meta",
    "promenade/generic/Texts"
  ],
  function (
    Button,
    Column,
    ColumnListItem,
    Dialog,
    SearchField,
    Table,
    Text,
    Title,
    Toolbar,
    ToolbarSpacer,
    Component,
    Filter,
    Displays,
    Meta,
    Texts
  ) {
    "use strict";

    /** A dialog to choose rows of an entity set in: it searches at the service and fetches more as one scrolls. */
    const PAGE = 30;
    const COLUMNS_MAX = 4;
    const PAUSE_MS = 350;
    const WORDS_MAX = 20; // the service takes no more
    const EAN = "ean";
    const DRAFT_ROOT = "com.sap.vocabularies.Common.v1.DraftRoot";

    /** A text as $search takes it: each of its words, in any order and whatever is in them; undefined for none. */
    function words(text) {
      const found = text.replace(/["\\]/g, " ").split(/\s+/).filter(Boolean);
      const quoted = found.slice(0, WORDS_MAX).map((word) => `"${word}"`);
      return quoted.join(" ") || undefined;
    }

    /** Of draft sets what is active alone: nothing can refer to a draft. */
    function filtersOf(meta, filters = []) {
      return meta.isDraft ? [new Filter("IsActiveEntity", "EQ", true), ...filters] : filters;
    }

    function columnsOf(meta, columns) {
      const chosen = columns ? columns.map((path) => meta.field(path)) : meta.columns.slice(0, COLUMNS_MAX);
      return chosen.length ? chosen : [meta.field(meta.key[0])];
    }

    /** A row is chosen wherever it is pressed, not on its check box alone. */
    const turn = (table, item) => table.setSelectedItem(item, !item.getSelected(), true);

    function tableOf(meta, {multi, filters, columns, title}) {
      const fields = columnsOf(meta, columns);
      const select = new Set(meta.key);
      const naming = [...meta.semanticKey, meta.titlePath].filter((path) => path && !path.includes("/"));
      naming.forEach((one) => select.add(one));
      const table = new Table({
        mode: multi ? "MultiSelect" : "SingleSelectMaster",
        itemPress: (event) => turn(table, event.getParameter("listItem")),
        rememberSelections: true,
        growing: true,
        growingThreshold: PAGE,
        growingScrollToLoad: true,
        sticky: ["ColumnHeaders"],
        noDataText: Texts.of("nothingFound"),
        columns: fields.map(
          (field, at) =>
            new Column({
              header: new Text({text: field.label}),
              minScreenWidth: at < 2 ? "" : "Tablet",
              demandPopin: false
            })
        ),
        items: {
          path: `/${meta.set}`,
          filters: filtersOf(meta, filters),
          parameters: {$count: true, $select: [...select].join(",")},
          template: new ColumnListItem({
            type: multi ? "Active" : "Inactive",
            cells: fields.map((field) => Displays.display(field, {isInList: true, isPlain: true}))
          })
        }
      });
      table.addAriaLabelledBy(title);
      return table;
    }

    function searchOf(table) {
      let timer = null;
      const search = (text) => {
        clearTimeout(timer);
        if (!table.isDestroyed()) {
          table.removeSelections(false);
          table.getBinding("items").changeParameters({$search: words(text)});
        }
      };
      return new SearchField({
        width: "100%",
        ariaLabelledBy: [],
        placeholder: Texts.of("search"),
        search: (event) => search(event.getParameter("query") || ""),
        liveChange(event) {
          const text = event.getParameter("newValue");
          clearTimeout(timer);
          timer = setTimeout(() => search(text), PAUSE_MS);
        }
      });
    }

    function open({table, title, multi, search, add}) {
      return new Promise((resolve) => {
        let chosen = [];
        const dialog = new Dialog({
          title,
          contentWidth: "46rem",
          contentHeight: "32rem",
          resizable: true,
          draggable: true,
          initialFocus: search,
          content: [search && new Toolbar({content: [search]}), table].filter(Boolean),
          afterClose() {
            dialog.destroy();
            resolve(chosen);
          }
        });
        const take = () => {
          chosen = table.getSelectedContexts(true).map((one) => one.getObject());
          dialog.close();
        };
        const make = async () => {
          const made = await add(search ? search.getValue().trim() : "");
          if (made) {
            chosen = [...(multi ? table.getSelectedContexts(true).map((one) => one.getObject()) : []), made];
            dialog.close();
          }
        };
        if (multi) {
          dialog.addButton(new Button({text: Texts.of("choose"), type: "Emphasized", press: take}));
        } else {
          table.attachSelectionChange(take);
        }
        if (add) {
          dialog.addButton(new Button({text: Texts.of("addToList"), press: make}));
        }
        dialog.addButton(new Button({text: Texts.of("cancel"), press: () => dialog.close()}));
        Component.getComponentById("promenade").getRootControl().addDependent(dialog);
        dialog.open();
      });
    }

    return {
      words,

      /**
       * Lets the person choose rows of an entity set; resolves with them (one at most unless `multi`), none when it was
       * left. `filters`: UI5 filters; `columns`: paths of what is shown; `model`: of administration by default;
       * `add(typed)`: makes another row, which is chosen with it.
       *
       * @param {object} options
       * @param {string} options.set
       * @param {string} [options.title]
       * @param {boolean} [options.multi]
       * @param {any[]} [options.filters]
       * @param {string[]} [options.columns]
       * @param {any} [options.model]
       * @param {(typed: string) => Promise<any>} [options.add]
       * @returns {Promise<any[]>}
       */
      async pick({set, title, multi = false, filters, columns, model, add}) {
        const used = model || Component.getComponentById("promenade").getModel();
        const [meta] = await Promise.all([Meta.of(used, set), Texts.ready()]);
        const heading = title || (multi ? meta.plural : meta.label);
        const invisible = new Title({text: heading, visible: false});
        const table = tableOf(meta, {multi, filters, columns, title: invisible});
        table.setModel(used);
        const search = meta.isSearchable ? searchOf(table) : null;
        return open({table, title: heading, multi, search, add});
      },

      /** Filters that leave out drafts where a set has them; `filters` hold as well. */
      activeAlone(model, set, filters) {
        const isDraft = Boolean(model.getMetaModel().getObject(`/${set}@${DRAFT_ROOT}`));
        return filtersOf({isDraft}, filters);
      },

      /**
       * The rows that a typed text names: by number, EAN or name, else those that a search finds; two at most.
       *
       * @param {any} model
       * @param {{set: string, key: string, shown: string[], filters?: any[]}} source
       * @param {string} typed
       */
      async find(model, {set, key, shown, filters = []}, typed) {
        const meta = await Meta.of(model, set);
        const named = [key, ...shown, ...meta.semanticKey, meta.titlePath, EAN];
        const paths = [...new Set(named)].filter((path) => meta.has(path) && meta.field(path).type === "Edm.String");
        const $select = [...new Set([key, ...shown])].join(",");
        const ask = async (more, parameters) => {
          const all = filtersOf(meta, [...more, ...filters]);
          const list = model.bindList(`/${set}`, undefined, [], all, {$select, ...parameters});
          const found = (await list.requestContexts(0, 2)).map((one) => one.getObject());
          list.destroy();
          return found;
        };
        const exact = paths.length
          ? await ask([new Filter({filters: paths.map((path) => new Filter(path, "EQ", typed)), and: false})])
          : [];
        const $search = words(typed);
        return exact.length || !$search || !meta.isSearchable ? exact : ask([], {$search});
      }
    };
  }
);
