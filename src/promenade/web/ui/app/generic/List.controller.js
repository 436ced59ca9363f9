sap.ui.define(
  [
    "sap/m/Button",
    "sap/ui/core/mvc/Controller",
    "promenade/generic/Addresses",
    "promenade/generic/Extensions",
    "promenade/generic/Lists",
    "promenade/generic/ListState",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/generic/Views",
    "promenade/resources/Polling",
    "promenade/session/Session",
    "promenade/shell/Visit",
    "promenade/resources/All"
  ],
  function (
    Button,
    Controller,
    Addresses,
    Extensions,
    Lists,
    ListState,
    Messages,
    Meta,
    Views,
    Polling,
    Session,
    Visit
  ) {
    "use strict";

    /** The list of any entity set; what the person asked for is in the address. */
    return Controller.extend("promenade.generic.List", {
      onInit() {
        Visit.follow(this, "list", {
          enter: (given) => this._onRoute(given),
          leave: () => {
            this._ticket = null; // what is still being looked up is not wanted any more
            this._stop?.abort();
          },
          top: () => this._list?.setFirstVisibleRow(0),
          again: () => this._list?.refresh()
        });
      },

      _onRoute({set, "?query": query}) {
        const ticket = (this._ticket = {});
        this._stop?.abort();
        this._stop = new AbortController();
        this._show(set, query || {}, ticket).catch((error) => {
          if (this._ticket === ticket) {
            Messages.show(error); // not about a page that was left
          }
        });
      },

      async _show(set, query, ticket) {
        const asked = ListState.write(ListState.read(query));
        const standard = asked ? null : Views.standard(set);
        const state = standard?.state || ListState.read(query);
        if (this._set === set && this._list) {
          const text = ListState.write(state);
          const isAsked = asked === this._kept;
          this._kept = null;
          if (isAsked) {
            return; // the list has it already: it was the one to ask
          }
          if (ListState.write(this._list.getState()) !== text) {
            this._list.applyState(state);
          } else {
            this._list.refresh();
          }
          return;
        }
        this._set = set;
        this.byId("page").destroyContent();
        this._list = null;
        const model = this.getOwnerComponent().getModel();
        if (!(await Meta.has(model, set))) {
          if (this._ticket === ticket) {
            this.getOwnerComponent().getRouter().getTargets().display("notFound");
          }
          return;
        }
        const meta = await Meta.of(model, set);
        const list = await Lists.create({
          model,
          set,
          meta,
          state,
          titleLevel: "H1",
          rows: "auto",
          actions: this._actions(meta, model),
          addedColumns: Extensions.of(set).columns,
          onPress: (context) => this._open(meta, context),
          onState: (changed) => this._keep(set, changed),
          onUnderWay: (binding, isUnderWay) => Polling.rows(binding, isUnderWay, this._stop.signal)
        });
        if (this._ticket !== ticket) {
          list.destroy();
          return;
        }
        this._list = list;
        list.showColumns(standard || {});
        this._fill([...Extensions.of(set).notes.map((create) => create()), list]);
      },

      _fill(controls) {
        controls.forEach((one) => this.byId("page").addContent(one));
      },

      _actions(meta, model) {
        const view = this.getView();
        const offered = Extensions.of(meta.set).listActions;
        const added = offered
          .filter(({isOffered}) => !isOffered || isOffered())
          .map(
            (one) =>
              new Button({
                text: `{i18n>${one.textKey}}`,
                icon: one.icon,
                type: "Transparent",
                press: () => one.press({view, model, meta, list: this._list})
              })
          );
        const isReplaced = offered.some((one) => (one.replaces || []).includes("create"));
        const mayCreate = meta.canInsert && Session.may("create", meta.set) && !isReplaced;
        return mayCreate
          ? [
              ...added,
              new Button({
                text: "{i18n>generic.create}",
                type: "Emphasized",
                press: () => this._navigate("object", {set: meta.set, key: "new"})
              })
            ]
          : added;
      },

      _open({set, key}, context) {
        const isActive = !key.includes("IsActiveEntity") || context.getProperty("IsActiveEntity") !== false;
        const {name, parameters} = Addresses.route(set, context.getProperty("ID"), isActive);
        this._navigate(name, parameters);
      },

      _navigate(name, parameters) {
        this.getOwnerComponent().getRouter().navTo(name, parameters);
      },

      _keep(set, state) {
        const text = ListState.write(state);
        const router = this.getOwnerComponent().getRouter();
        const hash = router.getHashChanger().getHash();
        this._kept = text;
        router.navTo("list", {set, ...(text ? {"?query": {q: text}} : {})});
        if (router.getHashChanger().getHash() === hash) {
          this._kept = null; // the address says it already: nobody comes to it
        }
      }
    });
  }
);
