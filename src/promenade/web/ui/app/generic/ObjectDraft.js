sap.ui.define(
  [
    "promenade/generic/Drafts",
    "promenade/generic/EditedDraft",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/generic/Unsaved"
  ],
  function (Drafts, EditedDraft, Messages, Texts, Unsaved) {
    "use strict";

    /** The draft that an entity's page edits: kept field by field, saved, thrown away, or lost to somebody else. */
    return class ObjectDraft {
      /**
       * `onLost(hasActive)`: it is gone, as the person has been told; `onSaving(isUnderWay, isKept)`: a change is on
       * its way or was answered; `onUnsent(words)`: which fields the service has not taken, "" when it has all.
       */
      constructor(view, {onLost, onSaving, onUnsent}) {
        this._view = view;
        this._draft = new EditedDraft(onLost);
        this._onSaving = onSaving;
        this._onUnsent = onUnsent;
      }

      /** Looks after the draft that the view is bound to. */
      begin(router, set, id) {
        this._draft.start(set, id);
        Unsaved.guard(router, {
          settled: () => this._draft.settled(),
          isChanged: () => this._isUnsent() || Unsaved.hasWrong(this._view),
          mayLeave: async () => {
            const question = Unsaved.question(this._view, this._isUnsent());
            const may = await Messages.confirm(question, {action: Texts.of("leave"), isCritical: true});
            if (may) {
              await this.drop();
            }
            return may;
          }
        });
      }

      /** Looks after nothing: the page shows something else. */
      end() {
        this._draft.stop();
        this._onUnsent("");
      }

      _isUnsent() {
        const binding = this._view.getElementBinding();
        return Boolean(binding && binding.hasPendingChanges());
      }

      /** A change is on its way. */
      sent() {
        this._draft.sent();
        this._onSaving(true, true);
      }

      /** A change has been answered. */
      answered(isKept) {
        this._draft.answered();
        this._onSaving(false, isKept);
        if (!isKept) {
          this._draft.isLost();
        }
        this._draft.idle().then(() => this._onUnsent(this._isUnsent() ? Unsaved.words(this._view) : ""));
      }

      /** Forgets what failed to be kept: it would be sent again, to a draft that is gone. */
      async drop() {
        await this._draft.idle();
        if (this._isUnsent()) {
          await this._view.getElementBinding().resetChanges();
        }
        this.end();
      }

      /** Makes it the active entity; resolves with the context of that, null when not all of it could be sent. */
      async save(context) {
        await this._draft.idle();
        await context.getModel().submitBatch("$auto"); // which also sends again what failed before
        await this._draft.idle();
        return context.hasPendingChanges() ? null : this._draft.ending(() => Drafts.activate(context));
      }

      /** Throws it away; resolves with the path of what it was a draft of, null when it was something new. */
      async discard(context) {
        await this._draft.idle();
        if (this._isUnsent()) {
          await this._view.getElementBinding().resetChanges();
        }
        const {path} = await this._draft.ending(async () => {
          const discarded = Drafts.discard(context);
          this._view.unbindElement();
          return {path: await discarded};
        });
        return path;
      }

      /** Whether it is there no more, of which the person has been told then. */
      isLost() {
        return this._draft.isLost();
      }
    };
  }
);
