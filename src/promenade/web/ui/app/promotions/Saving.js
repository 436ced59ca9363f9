sap.ui.define(
  [
    "sap/ui/core/Messaging",
    "sap/ui/core/message/Message",
    "promenade/generic/EditedDraft",
    "promenade/generic/Messages",
    "promenade/net/Batch",
    "promenade/net/Http",
    "promenade/promotions/Texts"
  ],
  function (Messaging, Message, EditedDraft, Messages, Batch, Http, Texts) {
    "use strict";

    /** A draft being changed: what is under way, and how it is saved, thrown away, or lost to somebody else. */
    return class Saving {
      /** `onLost(hasActive)`: the draft is gone; `onSettled()`: what `isKept` and `parked` tell may have changed. */
      constructor(model, {onLost, onSettled}) {
        this._model = model;
        this._draft = new EditedDraft(onLost);
        this._onSettled = onSettled;
        this._parked = {};
      }

      /** Begins with another draft, whose fields `binding` sends; without one no draft is shown. */
      begin(id, binding) {
        this._id = id;
        this._binding = binding;
        this._parked = {};
        this.watch();
      }

      /** Looks whether the draft is still there, from now on. */
      watch() {
        if (this._id) {
          this._draft.start("Promotions", this._id);
        }
      }

      /** Does not look any more. */
      rest() {
        this._draft.stop();
      }

      /** Counts a change of a field that the model sends by itself. */
      sent() {
        this._draft.sent();
      }

      /** A change has been answered. */
      completed(isGood) {
        this._draft.answered();
        if (!isGood) {
          this._draft.isLost();
        }
        this.idle().then(this._onSettled);
      }

      /** Changes parts of a draft. What was not taken is sent again with the next change, or by `settled`. */
      async change(values) {
        Object.assign(this._parked, values);
        this._pushing ||= this._push(this._id).finally(() => {
          this._pushing = null;
        });
        const error = await this._pushing;
        if (error && !(await this._draft.isLost())) {
          await Messages.show(error);
        }
      }

      /** Sends what is parked, one change after the other: the last one holds. Resolves with an error or null. */
      async _push(id) {
        while (id === this._id && Object.keys(this._parked).length) {
          const values = this._parked;
          this._parked = {};
          this.sent();
          try {
            await Http.request("PATCH", `/admin/Promotions(ID=${id},IsActiveEntity=false)`, {body: values});
            this.completed(true);
          } catch (error) {
            if (id === this._id) {
              this._parked = {...values, ...this._parked};
            }
            this.completed(false);
            return error;
          }
        }
        return null;
      }

      /** The names of parts whose change the service has not taken. */
      parked() {
        return Object.keys(this._parked);
      }

      /** Whether the service has taken all changes that were sent. */
      isKept() {
        return !this._binding || !(this.parked().length || this._binding.hasPendingChanges());
      }

      /** Resolves with whether all changes are in the draft; what failed is tried once more, and then told. */
      async settled() {
        await this.answered();
        if (this.isKept()) {
          return true;
        }
        const [error] = await Promise.all([this._push(this._id), this._model.submitBatch("$auto")]);
        await this.idle();
        const isGood = !error && this.isKept();
        if (!isGood && !(await this._draft.isLost())) {
          await Messages.show({message: Texts.get("notKept")});
        }
        return isGood;
      }

      /** Resolves when no change is on its way any more. */
      idle() {
        return this._draft.idle();
      }

      /** Resolves when no change is on its way any more, nor one that a field has only just taken. */
      answered() {
        return this._draft.settled();
      }

      /** Gives up changes that were not taken: nobody is to send them to a draft that is gone or left. */
      drop() {
        this._parked = {};
        if (this._binding && this._draft.isIdle() && this._binding.hasPendingChanges()) {
          this._binding.resetChanges();
        }
        this._id = null;
        this._binding = null;
        this._draft.stop();
      }

      /** Activates the draft and writes what `parts` hold, all or nothing; resolves with whether it was done. */
      async save(id, parts) {
        const draft = `Promotions(ID=${id},IsActiveEntity=false)`;
        Messaging.removeMessages(
          Messaging.getMessageModel()
            .getData()
            .filter((one) => one.getCode() === "promotions")
        );
        try {
          const activation = {method: "POST", url: `${draft}/draftActivate`, body: {}};
          await this._draft.ending(() => Batch.changeSet("/admin/", [activation, ...parts.requests()]));
          return true;
        } catch (error) {
          await this._refused(id, parts, error);
          return false;
        }
      }

      /** Throws the draft away; resolves with whether there is something active that it was a draft of. */
      async discard(id) {
        const draft = `/admin/Promotions(ID=${id},IsActiveEntity=false)`;
        await this.idle();
        const {HasActiveEntity} = await Http.get(`${draft}?$select=ID,HasActiveEntity`);
        await this._draft.ending(async () => {
          await Http.request("DELETE", draft);
          return true;
        });
        return HasActiveEntity;
      }

      async _refused(id, parts, error) {
        if (error.index > 0 && (await parts.showError(error))) {
          Messages.toast("promotions.notSaved");
          return;
        }
        if (await this._draft.isLost()) {
          return;
        }
        this._markFields(id, error);
        await Messages.show(error);
      }

      _markFields(id, error) {
        const path = `/Promotions(ID=${id},IsActiveEntity=false)`;
        const told = error.details.length ? error.details : [error];
        Messaging.addMessages(
          told
            .filter((one) => (one.target || "").startsWith("in/"))
            .map(
              (one) =>
                new Message({
                  message: one.message,
                  type: "Error",
                  code: "promotions",
                  processor: this._model,
                  target: `${path}/${one.target.slice("in/".length)}`
                })
            )
        );
      }
    };
  }
);
