sap.ui.define(
  [
    "sap/m/MessageToast",
    "sap/ui/core/mvc/Controller",
    "promenade/generic/Addresses",
    "promenade/generic/Drafts",
    "promenade/generic/Elsewhere",
    "promenade/generic/Extensions",
    "promenade/generic/Layouts",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/generic/ObjectButtons",
    "promenade/generic/ObjectDraft",
    "promenade/generic/ObjectInPlace",
    "promenade/generic/Texts",
    "promenade/generic/Unsaved",
    "promenade/resources/Following",
    "promenade/shell/Visit",
    "promenade/resources/All"
  ],
  function (
    MessageToast,
    Controller,
    Addresses,
    Drafts,
    Elsewhere,
    Extensions,
    Layouts,
    Messages,
    Meta,
    ObjectButtons,
    ObjectDraft,
    ObjectInPlace,
    Texts,
    Unsaved,
    Following,
    Visit
  ) {
    "use strict";

    /** The page of one entity of any set: shown, changed through a draft or in place, acted upon. */
    return Controller.extend("promenade.generic.Object", {
      onInit() {
        this._router = this.getOwnerComponent().getRouter();
        this._model = this.getOwnerComponent().getModel();
        this._buttons = new ObjectButtons(this);
        this.byId("page").setFooter(this._buttons.footer());
        this._draft = new ObjectDraft(this.getView(), {
          onLost: (hasActive) => this._onLost(hasActive),
          onSaving: (isUnderWay, isKept) => this._buttons.saving(isUnderWay, isKept),
          onUnsent: (words) => this._buttons.unsent(words)
        });
        this._inPlace = new ObjectInPlace(this.getView());
        this._elsewhere = new Elsewhere(this.byId("content"), {
          edited: () => this._buttons.isEditing() && {set: this._meta.set, id: Addresses.parse(this._key).id},
          reread: () => this.reread(),
          load: () => this._load()
        });
        Visit.follow(this, "object", {
          enter: ({set, key}) => this._open(set, key),
          leave: () => {
            this._ticket = null; // what is still being looked up is not wanted any more
            this._draft.end();
          },
          top: () => Layouts.toTop(this._layout?.control),
          again: (news) => this._ticket && this._meta && this._elsewhere.hear(news)
        });
      },

      async _open(set, key) {
        this._leave();
        const ticket = (this._ticket = {});
        const isCurrent = () => this._ticket === ticket;
        try {
          await this._showOf(set, key, isCurrent);
        } catch (error) {
          if (isCurrent()) {
            await Messages.show(error); // not about a page that was left
          }
        }
      },

      async _showOf(set, key, isCurrent) {
        if (!Addresses.isKey(key) || !(await Meta.hasPages(this._model, set))) {
          if (isCurrent()) {
            this._router.getTargets().display("notFound");
          }
          return;
        }
        await Texts.ready();
        const meta = await Meta.of(this._model, set);
        if (key === "new" && meta.isDraft) {
          const draft = await Drafts.create(this._model, set);
          if (isCurrent()) {
            this._goTo(draft, true);
          }
          return;
        }
        await this._layOut(meta, isCurrent);
        if (isCurrent()) {
          await this._show(key);
        }
      },

      /** Forgets what the page showed: what was said of it, its changes, its parts. */
      _leave() {
        Unsaved.release();
        Messages.clear();
        this._elsewhere.hide();
        this._draft.end();
        this._ticket = null;
        this._buttons.reset();
      },

      /** The page of a set is built once and shows one entity after the other. */
      async _layOut(meta, isCurrent) {
        if (this._meta === meta) {
          return;
        }
        const view = this.getView();
        view.unbindElement();
        this._layout?.control.destroy();
        this._layout = this._meta = null;
        const layout = await Layouts.create({
          view,
          model: this._model,
          meta,
          breadcrumb: meta.plural,
          listHref: `#/list/${meta.set}`,
          actions: this._buttons.title(meta),
          onOpen: (target) => Addresses.opener(this._router, target),
          onChanged: () => this.reread()
        });
        if (!isCurrent()) {
          layout.control.destroy();
          return;
        }
        this._meta = meta;
        this._layout = layout;
        this.byId("content").addItem(layout.control);
      },

      async _show(key) {
        const isNew = key === "new";
        const {id, isActive} = Addresses.parse(key);
        const isDraft = !isActive;
        this._key = key;
        const view = this.getView();
        view.unbindElement();
        if (isNew) {
          this._layout.show({isEditing: true, isNew, isDraft: false});
          this._layout.showFields(true);
          view.setBindingContext(this._inPlace.create(this._meta));
          this._inPlace.begin(this._router);
        } else {
          view.setBindingContext(undefined);
          this._layout.show({isEditing: isDraft, isNew: false, isDraft});
          this._layout.showFields(!isDraft); // what is typed before a draft has been read would be lost
          this._bind(this._meta.path(id, isActive), isDraft);
          if (isDraft) {
            this._draft.begin(this._router, this._meta.set, id);
          }
          const [shown, bound] = [this._layout, view.getElementBinding().getBoundContext()];
          const read = bound.requestObject().then(() => Following.enter(view, id));
          read.catch(() => {}).then(() => shown.showFields(true)); // what went wrong is told by the binding
        }
        this._buttons.show({meta: this._meta, isNew, isDraft});
        this._layout.control.setShowFooter(false);
      },

      _bind(path, isDraft) {
        const kept = this._meta.key.includes("IsActiveEntity") ? {$select: "ID,IsActiveEntity"} : {$select: "ID"};
        this.getView().bindElement({
          path,
          parameters: {...kept, $$updateGroupId: isDraft ? "$auto" : ObjectInPlace.GROUP},
          events: {
            dataReceived: (event) => this._onReceived(event.getParameter("error")),
            patchSent: () => this._draft.sent(),
            patchCompleted: (event) => this._draft.answered(event.getParameter("success"))
          }
        });
      },

      async _onReceived(error) {
        const ticket = this._ticket;
        if (!error || error.canceled || !ticket) {
          return;
        }
        const isGone = error.status === 404;
        await (isGone ? Messages.gone(this._meta.label) : Messages.show(error));
        if (isGone && ticket === this._ticket) {
          this._toList();
        }
      },

      /** Reads all that the page shows once more: the entity, its parts, and what follows it. */
      reread() {
        const context = this.getView().getBindingContext();
        if (this._ticket && context && !context.isTransient() && !context.hasPendingChanges()) {
          context.requestRefresh().then(
            () => Following.refresh(this.getView()),
            () => {} // what went wrong is told by the binding
          );
        }
      },

      /** Shows what is stored in place of what was typed. */
      async _load() {
        if (this._meta.isDraft) {
          if (!(await this._draft.isLost())) {
            await this._draft.drop();
            await this._open(this._meta.set, this._key);
          }
        } else {
          await this._inPlace.reset();
          this._endEditing();
        }
      },

      // ---- where to, unless the page was left -------------------------------------------------------------------

      _toList() {
        if (this._ticket) {
          Unsaved.release();
          this._router.navTo("list", {set: this._meta.set}, true);
        }
      },

      /** Goes to the page of a context; without a trace of where one was when `isInstead`. */
      _goTo(context, isInstead = false) {
        if (!this._ticket) {
          return;
        }
        Unsaved.release();
        const [, set = ""] = /^\/(\w+)\(/.exec(context.getPath()) || [];
        const id = /ID=([^,)]+)/.exec(context.getPath()) || /\(([^)]+)\)$/.exec(context.getPath()) || [];
        const isActive = !context.getPath().includes("IsActiveEntity=false");
        const {name, parameters} = Addresses.route(set, id[1], isActive);
        this._router.navTo(name, parameters, isInstead);
      },

      // ---- editing ----------------------------------------------------------------------------------------------

      /** Begins to edit: in a draft where the set has drafts, on the spot elsewhere. */
      async edit() {
        if (this._meta.isDraft) {
          const draft = await Drafts.edit(this.getView().getBindingContext());
          if (draft) {
            this._goTo(draft, true);
          }
          return;
        }
        this._layout.show({isEditing: true, isNew: false, isDraft: false});
        this._buttons.show({meta: this._meta, isNew: false, isDraft: false, isEditing: true});
        this._inPlace.begin(this._router);
      },

      /** Whether all that was typed is of the fields' types and names something; leads to what is not. */
      _isValid() {
        if (!this._layout.isComplete()) {
          return false;
        }
        if (Messages.errorsOfTypes().length) {
          this._buttons.showMessages();
          return false;
        }
        return !Unsaved.leadToWrong(this.getView());
      },

      /** Makes what was typed the entity: the draft is activated, or the changes are written. */
      async save() {
        await Unsaved.taken();
        if (!this._isValid()) {
          return;
        }
        Messages.clearOfService();
        if (!this._meta.isDraft) {
          await this._saveInPlace();
          return;
        }
        try {
          const active = await this._draft.save(this.getView().getBindingContext());
          if (!active) {
            await this._refused(null);
            return;
          }
          this.getView().unbindElement(); // the draft is gone: nothing of it is to be asked for any more
          MessageToast.show(Texts.of("saved", this._meta.label));
          this._goTo(active, true);
        } catch (error) {
          await this._refused(error);
        }
      },

      /** The draft is there no more, of which the person has been told: what is stored is shown. */
      async _onLost(hasActive) {
        const {id} = Addresses.parse(this._key);
        await this._draft.drop();
        this.getView().unbindElement();
        if (hasActive) {
          this._goTo({getPath: () => this._meta.path(id, true)}, true);
        } else {
          this._toList();
        }
      },

      async _saveInPlace() {
        if (!(await this._inPlace.send())) {
          await this._refused(null);
          return;
        }
        MessageToast.show(Texts.of("saved", this._meta.label));
        const created = await this._inPlace.created();
        if (created) {
          await Extensions.afterCreate(this._meta.set, created, this.getView());
          this._goTo(created, true);
        } else {
          this._endEditing();
        }
      },

      /** Shows why something was refused: at its fields, else in a box. */
      async _refused(error) {
        if (this._meta.isDraft && (await this._draft.isLost())) {
          return;
        }
        await Messages.settled();
        if (Messages.errorsOfFields().length) {
          this._buttons.showMessages();
        } else {
          await Messages.show(error || Messages.firstOfService());
        }
      },

      _endEditing() {
        Unsaved.release();
        this._elsewhere.hide();
        this._layout.show({isEditing: false, isNew: false, isDraft: false});
        this._buttons.show({meta: this._meta, isNew: false, isDraft: false});
        this.reread();
      },

      /** Throws changes away: a draft with all of it, or what was typed since. */
      async discard() {
        const context = this.getView().getBindingContext();
        if (!this._meta.isDraft) {
          if (await this._inPlace.reset()) {
            this._toList();
          } else {
            this._endEditing();
          }
          return;
        }
        if (!(await Messages.confirm(Texts.of("confirmDiscard"), {action: Texts.of("discard"), isCritical: true}))) {
          return;
        }
        const active = await this._draft.discard(context).catch(async (error) => {
          if (!(await this._draft.isLost())) {
            this._show(this._key);
            throw error;
          }
          return undefined;
        });
        if (active === undefined) {
          return; // it was gone before
        }
        MessageToast.show(Texts.of("discarded"));
        if (active) {
          this._goTo({getPath: () => active}, true);
        } else {
          this._toList();
        }
      },

      /** Deletes the entity, once the person has said so. */
      async remove() {
        const may = await Messages.confirm(Texts.of("confirmDelete", this._meta.label), {
          action: Texts.of("delete"),
          isCritical: true
        });
        if (may) {
          await Drafts.remove(this.getView().getBindingContext());
          MessageToast.show(Texts.of("deleted", this._meta.label));
          this._toList();
        }
      },

      /** After an action: what it made is shown, or what it changed read again. */
      async afterAction(action, result) {
        const path = result && result.getPath ? result.getPath() : "";
        const isOther = path && action.returns !== this._meta.type && /^\/\w+\(/.test(path);
        if (isOther) {
          this._goTo(result);
        } else {
          this.reread();
        }
      }
    });
  }
);
