sap.ui.define(
  [
    "sap/ui/core/Messaging",
    "sap/ui/core/message/Message",
    "promenade/generic/Messages",
    "promenade/net/Batch",
    "promenade/net/Http",
    "promenade/promotions/Texts"
  ],
  function (Messaging, Message, Messages, Batch, Http, Texts) {
    "use strict";

    const GONE = new Set([403, 404]);

    /** A draft being changed: what is under way, and how it is saved, thrown away, or lost to somebody else. */
    return class Saving {
      constructor(model, {onLost}) {
        this._model = model;
        this._onLost = onLost;
        this._underway = 0;
        this._hasFailed = false;
        this._waiting = [];
        this._parked = {};
      }

      /** Begins with another draft. */
      reset() {
        this._hasFailed = false;
        this._parked = {};
      }

      /** Counts a change of a field that the model sends by itself. */
      sent() {
        this._underway++;
      }

      /** A change has been answered. */
      completed(isGood, id) {
        this._underway--;
        if (!isGood) {
          this._hasFailed = true;
          this._lookForLoss(id);
        }
        if (!this._underway) {
          this._waiting.splice(0).forEach((go) => go());
        }
      }

      /** Changes parts of a draft. */
      async change(id, values) {
        this.sent();
        try {
          await Http.request("PATCH", `/admin/Promotions(ID=${id},IsActiveEntity=false)`, {body: values});
          Object.keys(values).forEach((name) => delete this._parked[name]);
          this.completed(true, id);
        } catch (error) {
          this._underway--;
          this._hasFailed = true;
          Object.assign(this._parked, values);
          this._waiting.splice(0).forEach((go) => go());
          if (!(await this._isLost(id))) {
            await Messages.show(error);
          }
        }
      }

      /** Whether a change is on its way. */
      isUnderway() {
        return this._underway > 0;
      }

      /** Resolves with whether all changes are in the draft; what failed is tried once more, and then told. */
      async settled(id, binding) {
        // What was typed last is sent when its field is left, which a press on a button does first.
        await new Promise((resolve) => {
          setTimeout(resolve);
        });
        await this._idle();
        if (!this._hasFailed && !binding.hasPendingChanges()) {
          return true;
        }
        this._hasFailed = false;
        const parked = this._parked;
        this._parked = {};
        await Promise.all([
          this._model.submitBatch("$auto"),
          Object.keys(parked).length ? this.change(id, parked) : null
        ]);
        await this._idle();
        const isGood = !this._hasFailed && !binding.hasPendingChanges();
        if (!isGood && !this._isAsking) {
          await Messages.show({message: Texts.get("notKept")});
        }
        return isGood;
      }

      async _idle() {
        if (this._underway) {
          await new Promise((resolve) => {
            this._waiting.push(resolve);
          });
        }
      }

      /** Activates the draft and writes the rules, all or nothing. Resolves with whether it was done. */
      async save(id, editor) {
        const draft = `Promotions(ID=${id},IsActiveEntity=false)`;
        Messaging.removeMessages(
          Messaging.getMessageModel()
            .getData()
            .filter((one) => one.getCode() === "promotions")
        );
        try {
          const activation = {method: "POST", url: `${draft}/draftActivate`, body: {}};
          await Batch.changeSet("/admin/", [activation, ...editor.requests()]);
          return true;
        } catch (error) {
          await this._refused(id, editor, error);
          return false;
        }
      }

      /** Throws the draft away; resolves with whether there is something active that it was a draft of. */
      async discard(id) {
        const draft = `/admin/Promotions(ID=${id},IsActiveEntity=false)`;
        const {HasActiveEntity} = await Http.get(`${draft}?$select=ID,HasActiveEntity`);
        await Http.request("DELETE", draft);
        return HasActiveEntity;
      }

      async _refused(id, editor, error) {
        if (error.index > 0 && (await editor.showError(error))) {
          Messages.toast("promotions.notSaved");
          return;
        }
        if (error.index === 0 && GONE.has(error.status) && (await this._isLost(id))) {
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

      async _lookForLoss(id) {
        await this._isLost(id).catch(() => false);
      }

      /** Whether the person's draft is there no more; says then what became of it. */
      async _isLost(id) {
        if (this._isAsking) {
          return true;
        }
        this._isAsking = true;
        try {
          if (await this._exists(id)) {
            return false;
          }
          Messages.clear();
          const {hasActive, text} = await this._fate(id);
          await Messages.show({message: text});
          this._onLost(hasActive);
          return true;
        } finally {
          this._isAsking = false;
        }
      }

      async _exists(id) {
        try {
          await Http.get(`/admin/Promotions(ID=${id},IsActiveEntity=false)?$select=ID`);
          return true;
        } catch (error) {
          if (GONE.has(error.status)) {
            return false;
          }
          throw error;
        }
      }

      async _fate(id) {
        const query = "$select=ID,modifiedBy,modifiedAt&$expand=DraftAdministrativeData";
        try {
          const {DraftAdministrativeData: draft} = await Http.get(
            `/admin/Promotions(ID=${id},IsActiveEntity=true)?${query}`
          );
          return {
            hasActive: true,
            text: draft
              ? Texts.get("lost.takenOver", [draft.CreatedByUser, Texts.moment(draft.CreationDateTime)])
              : Texts.get("lost.ended")
          };
        } catch {
          return {hasActive: false, text: Texts.get("lost.deleted")};
        }
      }
    };
  }
);
