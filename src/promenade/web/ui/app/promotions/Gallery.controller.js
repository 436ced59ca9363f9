sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Drafts",
    "promenade/generic/Messages",
    "promenade/promotions/Filters",
    "promenade/promotions/Page",
    "promenade/promotions/Recipes",
    "promenade/promotions/TemplateCopy",
    "promenade/promotions/Texts",
    "promenade/shell/Visit",
    "promenade/promotions/style"
  ],
  function (Controller, JSONModel, Drafts, Messages, Filters, Page, Recipes, TemplateCopy, Texts, Visit) {
    "use strict";

    const FROM_TEMPLATE = "template";
    const FROM_SCRATCH = "scratch";
    const ICONS = {[FROM_TEMPLATE]: "copy", [FROM_SCRATCH]: "document"};

    const cardOf = (key) => ({
      key,
      icon: `sap-icon://${ICONS[key] || Recipes.of(key).icon}`,
      name: Texts.get(`recipe.${key}`),
      says: Texts.get(`recipe.${key}.says`)
    });

    /** What a promotion can begin with: a kind of offer, a template, or nothing. */
    return Controller.extend("promenade.promotions.Gallery", {
      onInit() {
        Texts.use(this.getOwnerComponent());
        this._router = this.getOwnerComponent().getRouter();
        this._model = new JSONModel({
          recipes: [...Recipes.KEYS, FROM_TEMPLATE, FROM_SCRATCH].map(cardOf),
          isOfTemplates: false
        });
        this.getView().setModel(this._model, "gallery");
        this._filled = Page.fill(this, ["sap.f"], "promenade.promotions.Gallery");
        Visit.follow(this, "gallery", {
          enter: ({"?query": query}) => this._enter(query || {}),
          leave: () => {
            this._visit = null;
          },
          top: () => this.byId("page")?.scrollTo(0)
        });
      },

      async _enter({from}) {
        this._visit = {};
        this._model.setProperty("/isOfTemplates", from === FROM_TEMPLATE);
        await this._filled;
        const templates = this.byId("templates").getBinding("items");
        if (from === FROM_TEMPLATE) {
          (templates.isSuspended() ? () => templates.resume() : () => templates.refresh())();
        }
      },

      onAll() {
        this._router.navTo("gallery");
      },

      onSearch(event) {
        const found = Filters.found(event.getParameter("query") || "");
        this.byId("templates")
          .getBinding("items")
          .changeParameters({$filter: found || undefined});
      },

      onRecipe(event) {
        const {key} = event.getSource().getBindingContext("gallery").getObject();
        if (key === FROM_TEMPLATE) {
          this._router.navTo("gallery", {"?query": {from: key}});
        } else if (key === FROM_SCRATCH) {
          this._router.navTo("promotion", {key: "new"});
        } else {
          this._begin(() => this._fromRecipe(key), {start: key});
        }
      },

      onTemplate(event) {
        const {ID: id, name} = event.getSource().getBindingContext().getObject();
        this._begin(() => this._fromTemplate(id, name), null);
      },

      /** Makes a draft and shows its steps, unless the person has gone elsewhere meanwhile. */
      async _begin(make, query) {
        const visit = this._visit;
        const page = this.byId("page");
        page.setBusy(true);
        try {
          const draft = await make();
          if (draft && visit === this._visit) {
            const key = `${draft.getProperty("ID")},draft`;
            this._router.navTo("guide", query ? {key, "?query": query} : {key});
          }
        } catch (error) {
          if (visit === this._visit) {
            await Messages.show(error);
          }
        } finally {
          page.setBusy(false);
        }
      },

      _fromRecipe(key) {
        const actions = Recipes.of(key).rules.filter(([kind]) => kind === "DiscountActions");
        const type = Recipes.typeOf(
          actions.map(([, one]) => one),
          key === "points"
        );
        return Drafts.create(this.getView().getModel(), "Promotions", {name: Texts.get(`recipe.${key}`), type});
      },

      async _fromTemplate(id, name) {
        const model = this.getView().getModel();
        const made = await TemplateCopy.make(model, await TemplateCopy.read(id), {name});
        return Drafts.editAt(model, `/Promotions(ID=${made},IsActiveEntity=true)`);
      }
    });
  }
);
