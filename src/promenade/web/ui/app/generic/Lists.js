sap.ui.define(["sap/ui/core/Lib", "promenade/generic/Meta", "promenade/generic/Texts"], function (Lib, Meta, Texts) {
  "use strict";

  /** Lists of an entity set that fetch what is seen, however long they are. */
  async function builder() {
    await Lib.load({name: "sap.ui.table"});
    return new Promise((resolve, reject) => {
      sap.ui.require(["promenade/generic/ListBuilder"], resolve, reject);
    });
  }

  return {
    /**
     * A table of an entity set: $skip and $top as one scrolls, one $count, $select of its columns, sorting by column.
     *
     * `set`, `model`, `meta` (of `Meta.of`, fetched when it is missing); `path`: where the rows are, `/<set>` unless
     * they are part of something; `filters`: UI5 filters that always hold; `columns`: fields in place of the list's
     * own; `addedColumns`; `onPress(context)`: a row was pressed; `rows`: how many are shown, "auto" to fill the page;
     * `hasFilters`, `hasSearch`; `actions`: controls of the toolbar; `title`; `select`: further paths to fetch;
     * `state`: what `getState()` gave; `onState(state)` when the person asked for something else;
     * `onUnderWay(binding, isUnderWay)` when rows have come that background work may be at.
     *
     * Resolves with a `ListTable`: `refresh()`, `getState()`, `applyState(state)`, `setFixedFilters(filters)`.
     */
    async create(given) {
      const [Builder, meta] = await Promise.all([
        builder(),
        given.meta || Meta.of(given.model, given.set),
        Texts.ready(),
        ...(given.addedColumns || []).map((one) => one.ready?.(given.model))
      ]);
      return Builder.build({hasFilters: true, hasSearch: true, rows: "auto", actions: [], filters: [], ...given, meta});
    }
  };
});
