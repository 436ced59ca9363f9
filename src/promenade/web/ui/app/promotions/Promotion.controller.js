sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Addresses",
    "promenade/generic/Drafts",
    "promenade/generic/Elsewhere",
    "promenade/generic/Layouts",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/generic/Trail",
    "promenade/generic/Unsaved",
    "promenade/net/Http",
    "promenade/promotions/Creating",
    "promenade/promotions/Head",
    "promenade/promotions/Leaving",
    "promenade/promotions/Lifecycle",
    "promenade/promotions/Page",
    "promenade/promotions/Parts",
    "promenade/promotions/Saving",
    "promenade/promotions/Standing",
    "promenade/promotions/Texts",
    "promenade/shell/Visit",
    "promenade/promotions/style"
  ],
  function (
    Controller,
    JSONModel,
    Addresses,
    Drafts,
    Elsewhere,
    Layouts,
    Messages,
    Meta,
    Trail,
    Unsaved,
    Http,
    Creating,
    Head,
    Leaving,
    Lifecycle,
    Page,
    Parts,
    Saving,
    Standing,
    Texts,
    Visit
  ) {
    "use strict";

    const LIVE_MS = 20_000;
    /** Of other entities, what the page of a promotion also shows. */
    const RELATED = new Set([
      "Budgets",
      "BudgetPromotions",
      "BudgetRequests",
      "Campaigns",
      "CouponTypePromotions",
      "CouponTypes",
      "PromotionPilotConfigs"
    ]);

    /** A promotion: what it is, its rules, what it would do, and its life. */
    return Controller.extend("promenade.promotions.Promotion", {
      /** What another page of the same promotion and drafts says differently: its address, how it looks, its parts. */
      route: "promotion",
      other: "guide",
      fragment: "promenade.promotions.Promotion",
      partsOf: (controller, meta, saving) => new Parts(controller, meta, saving),

      onInit() {
        Texts.use(this.getOwnerComponent());
        this._model = new JSONModel({...Standing.NOTHING});
        this.getView().setModel(this._model, "page");
        this._router = this.getOwnerComponent().getRouter();
        this._ready = this._build();
        Visit.follow(this, this.route, {
          enter: ({key, "?query": query}) => this._onRoute(key, query || {}),
          leave: () => this._onLeft(),
          top: () => Layouts.toTop(this._page),
          again: (news) => this._shown && this._elsewhere.hear(news)
        });
      },

      onExit() {
        this._stop();
      },

      async _build() {
        const model = this.getOwnerComponent().getModel();
        const [, meta] = await Promise.all([
          Page.fill(this, ["sap.f", "sap.uxap"], this.fragment),
          Meta.of(model, "Promotions"),
          Trail.ready(model)
        ]);
        const page = (this._page = this.byId("page"));
        this._meta = meta;
        this.byId("footer").insertContent(Messages.button(), 0);
        this._saving = new Saving(model, {
          onLost: (hasActive) => this._onLost(hasActive),
          onSettled: () => this._sayUnsent()
        });
        this._parts = this.partsOf(this, meta, this._saving);
        this._leaving = new Leaving(page, this._parts, this._saving, () => this._shown && !this._shown.isActive);
        this._elsewhere = new Elsewhere(this.byId("content"), {
          edited: () => (this._shown.isActive ? null : {set: "Promotions", id: this._shown.id}),
          reread: (news) => news.some((one) => one.id === this._shown.id || RELATED.has(one.set)) && this._again(),
          load: () => this._load()
        });
      },

      async _onRoute(key, query) {
        this._query = query;
        const visit = (this._visit = {});
        const isLeft = () => visit !== this._visit;
        await this._ready;
        if (isLeft()) {
          return;
        }
        const {id, isActive} = Addresses.parse(key);
        if (!Addresses.isKey(key)) {
          this._showNothing();
          return;
        }
        try {
          await (key === "new" ? this._begin(isLeft) : this._show({id, isActive}));
        } catch (error) {
          await this._onUnread(error, isLeft);
        }
      },

      /** Shows the list instead of what cannot be read. On a page that was left, nothing is said and nothing opens. */
      async _onUnread(error, isLeft) {
        if (!isLeft()) {
          await (Messages.read(error).status === 404 ? Messages.gone(this._meta.label) : Messages.show(error));
        }
        if (!isLeft()) {
          this._goOn("promotions");
        }
      },

      _showNothing() {
        this._stop();
        this._shown = null;
        this._letGo();
        this._router.getTargets().display("notFound");
      },

      /** Another page is shown: nothing is asked for any more. */
      _onLeft() {
        this._visit = null;
        this._stop();
        this._shown = null;
      },

      async _begin(isLeft) {
        const draft = await Drafts.create(this.getView().getModel(), "Promotions", {});
        if (!isLeft()) {
          this._router.navTo(this.route, {key: `${draft.getProperty("ID")},draft`}, true);
        }
      },

      _show(shown) {
        const arriving = this._bring(shown);
        this._arriving = arriving.catch(() => undefined); // its error is told to whoever asked for it
        return arriving;
      },

      async _bring(shown) {
        this._stop();
        this._elsewhere.hide();
        Messages.clear();
        const isOther = !this._shown || this._shown.id !== shown.id || this._shown.isActive !== shown.isActive;
        this._shown = shown;
        if (isOther) {
          this._model.setData({...Standing.NOTHING});
        }
        this._letGo();
        this._parts.prepare(!shown.isActive);
        this._page.bindElement({
          path: this._meta.path(shown.id, shown.isActive),
          parameters: Head.PARAMETERS,
          events: {
            patchSent: () => this._saving.sent(),
            patchCompleted: (event) => this._saving.completed(event.getParameter("success"))
          }
        });
        const context = this._page.getElementBinding().getBoundContext();
        const row = await this._read(context, shown);
        if (row && shown === this._shown) {
          if (!shown.isActive) {
            this._saving.begin(shown.id, this._page.getElementBinding());
            this._leaving.guard(this._router);
          }
          this._showState(row);
          const {currency, status, modifiedAt, type, HasActiveEntity} = row;
          const known = {currency, status, modifiedAt, type, isNew: !shown.isActive && !HasActiveEntity};
          await this._parts.show({...shown, ...known, isEditable: !shown.isActive, start: this._query.start});
        }
        if (row && shown === this._shown) {
          this._startLive(context);
        }
      },

      /** Nothing that is made for another row may ask for it in the name of the one before, which may be gone. */
      _letGo() {
        this._saving.drop();
        this._page.unbindElement();
      },

      /** Names the fields whose change the service has not taken, in the page's foot. */
      _sayUnsent() {
        const isForm = this._shown && !this._shown.isActive && !this._saving.isKept();
        const parts = this._saving.parked().map((name) => Texts.get(`unsent.${name}`));
        this._model.setProperty("/unsent", isForm ? Unsaved.words(this._page, parts) : "");
      },

      async _read(context, shown) {
        try {
          return await context.requestObject();
        } catch (error) {
          if (shown !== this._shown) {
            return null;
          }
          if (!shown.isActive && Messages.read(error).status !== 401) {
            Messages.clear();
            Messages.toast("promotions.noDraft");
            this._router.navTo(this.route, {key: shown.id}, true);
            return null;
          }
          throw error;
        }
      },

      _showState(row) {
        const standing = Standing.of(this._meta, row);
        if (standing.lock && standing.lock.text !== this._model.getProperty("/lock/text")) {
          this._page.setSelectedSection(null); // it is said in the page's head, which is folded further down
        }
        this._model.setData(standing);
      },

      _startLive(context) {
        if (!this._shown.isActive) {
          return;
        }
        this._live = setInterval(() => {
          if (!document.hidden) {
            // What cannot be told now is told the next time.
            context.requestSideEffects(Head.LIVE).catch(() => undefined);
          }
        }, LIVE_MS);
      },

      _stop() {
        clearInterval(this._live);
        if (this._parts) {
          this._parts.stop();
          this._saving.rest();
        }
      },

      _onLost(hasActive) {
        const shown = this._shown;
        this._parts.forget();
        if (shown) {
          this._goOn(...(hasActive ? [this.route, {key: shown.id}] : ["promotions"]));
        }
      },

      /** Shows something else in place of what is gone or done, without a question, unless the page was left. */
      _goOn(route, parameters = {}) {
        if (!this._visit) {
          return;
        }
        Unsaved.release();
        this._shown = null;
        this._router.navTo(route, parameters, true);
      },

      /** The promotion as it is now, once more. */
      async reload() {
        if (this._shown) {
          await this._show({...this._shown});
        }
      },

      /** What is stored, in place of what was typed. */
      async _load() {
        this._parts.forget();
        await this._again();
      },

      async _again() {
        await this.reload().catch((error) => this._onUnread(error, () => !this._visit));
      },

      _buttons() {
        return [...this._page.getHeaderTitle().getActions(), this.byId("save"), this.byId("discard")];
      },

      async _busy(task) {
        this._page.setBusy(true);
        try {
          return await Page.during(this._buttons(), task);
        } catch (error) {
          await Messages.show(error);
          return undefined;
        } finally {
          this._page.setBusy(false);
        }
      },

      onEdit() {
        return this._busy(async () => {
          const shown = this._shown;
          const context = this._page.getBindingContext();
          const isMine =
            context.getProperty("HasDraftEntity") && context.getProperty("DraftAdministrativeData/DraftIsCreatedByMe");
          const isBegun = isMine || (await Drafts.edit(context));
          if (!isBegun) {
            await this.reload();
          } else if (shown === this._shown) {
            this._router.navTo(this.route, {key: `${shown.id},draft`});
          }
        });
      },

      onSave() {
        return this._busy(async () => {
          const {id} = this._shown;
          await this._arriving; // it may be pressed before all is there
          await Unsaved.taken();
          const isHere = this._shown?.id === id && (await this._saving.settled());
          if (!isHere || !this._parts.isValid() || Unsaved.leadToWrong(this._page)) {
            return;
          }
          if ((await this._parts.maySave()) && (await this._saving.save(id, this._parts))) {
            this._parts.forget();
            Messages.toast("promotions.saved");
            this._goOn(this.route, {key: id});
          }
        });
      },

      async onDiscard() {
        const isWanted = await Messages.confirm(Texts.get("ask.discard"), {
          action: Texts.get("discard"),
          isCritical: true,
          title: Texts.get("discard")
        });
        if (isWanted) {
          await this._busy(async () => this._onLost(await this._saving.discard(this._shown.id)));
        }
      },

      async onDelete() {
        const {id} = this._shown;
        const name = this._page.getBindingContext().getProperty("name");
        const isWanted = await Messages.confirm(Texts.get("ask.delete", [name]), {
          action: Texts.get("delete"),
          isCritical: true,
          title: Texts.get("delete")
        });
        if (isWanted) {
          await this._busy(async () => {
            await Http.request("DELETE", `/admin/Promotions(ID=${id},IsActiveEntity=true)`);
            this._goOn("promotions");
          });
        }
      },

      onMove(event) {
        const move = this.getView().getLocalId(event.getSource().getId());
        return this._busy(async () => {
          const context = this._page.getBindingContext();
          const promotion = {id: this._shown.id, name: context.getProperty("name")};
          if (await Lifecycle.make(this.getView(), promotion, move, () => this._parts.check.run())) {
            await this.reload();
            this._parts.check.repeat();
          }
        });
      },

      /** The same promotion, or draft of it, on its other page. */
      onOther() {
        const {id, isActive} = this._shown;
        this._router.navTo(this.other, {key: isActive ? id : `${id},draft`});
      },

      onSimulate() {
        this._router.navTo("simulator", {"?query": {promotion: this._shown.id}});
      },

      onCopy() {
        Creating.copyOf(this.getView(), this._shown.id, this._page.getBindingContext().getProperty("name"));
      }
    });
  }
);
