sap.ui.define(
  [
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/net/Http",
    "promenade/session/Session"
  ],
  function (Format, Messages, Texts, Http, Session) {
    "use strict";

    /**
     * A draft on the service while a page edits it: changes that are not answered yet, and whether it still exists.
     *
     * Another window may save or discard it, and somebody else may take it over once its lock has run out. The person
     * who still types is told within seconds, not when the next change is refused.
     */
    const LOOKING_MS = 10_000;
    const GONE = new Set([403, 404]);

    /** After so many timeouts a model has sent what a field has just taken; it takes two where nothing is drawn. */
    const TIMEOUTS = 3;

    const addressOf = ({set, id}, isActive) => `/admin/${set}(ID=${id},IsActiveEntity=${isActive})`;

    async function exists(draft) {
      try {
        await Http.get(`${addressOf(draft, false)}?$select=ID`, {signal: draft.left.signal});
        return true;
      } catch (error) {
        if (GONE.has(error.status)) {
          return false;
        }
        throw error;
      }
    }

    /** Why a draft no longer exists, and whether there is something active instead: `{hasActive, text}`. */
    async function lossOf(draft) {
      try {
        const now = await Http.get(`${addressOf(draft, true)}?$expand=DraftAdministrativeData`);
        const other = now.DraftAdministrativeData;
        if (other && !other.DraftIsCreatedByMe) {
          const since = Format.dateTime(other.CreationDateTime);
          return {hasActive: true, text: Texts.of("lost.takenOver", other.CreatedByUser, since)};
        }
        const isByMe = !now.modifiedBy || now.modifiedBy === Session.current().user;
        const who = isByMe ? "" : ` ${Texts.of("lost.changedBy", now.modifiedBy, Format.dateTime(now.modifiedAt))}`;
        return {hasActive: true, text: `${Texts.of("lost.ended")}${who}`};
      } catch (error) {
        if (GONE.has(error.status)) {
          return {hasActive: false, text: Texts.of("lost.deleted")};
        }
        throw error;
      }
    }

    return class EditedDraft {
      /** `onLost(hasActive)`: the person has been told, and whether there is something active to be shown instead. */
      constructor(onLost) {
        this._onLost = onLost;
        this._draft = null;
        this._wasLost = false;
        this._asking = null;
        this._onSight = () => this._look();
        this._unanswered = 0;
        this._waiting = [];
      }

      // ---- changes on their way ---------------------------------------------------------------------------------

      /** A change was sent. */
      sent() {
        this._unanswered++;
      }

      /** A change was answered, whether the service took it or not. */
      answered() {
        this._unanswered--;
        if (!this._unanswered) {
          this._waiting.splice(0).forEach((go) => go());
        }
      }

      /** Whether every change was answered. */
      isIdle() {
        return this._unanswered === 0;
      }

      /** Resolves when every change was answered, and the model has put aside what it sends again. */
      async idle() {
        if (this._unanswered) {
          await new Promise((resolve) => {
            this._waiting.push(resolve);
          });
        }
      }

      /** Resolves like `idle`, and waits also for a change that a field has only just taken. */
      async settled() {
        for (let passed = 0; passed < TIMEOUTS; passed++) {
          await new Promise((resolve) => {
            setTimeout(resolve);
          });
        }
        await this.idle();
      }

      // ---- whether it still exists ------------------------------------------------------------------------------

      /** Watches this draft from now on, and no other. */
      start(set, id) {
        this.stop();
        this._wasLost = false;
        this._draft = {set, id, left: new AbortController()};
        this._timer = window.setInterval(this._onSight, LOOKING_MS);
        window.addEventListener("focus", this._onSight);
        document.addEventListener("visibilitychange", this._onSight);
      }

      /** Watches no draft any more: the page shows something else, or ends the draft itself. */
      stop() {
        this._draft?.left.abort(); // or the answer would be about what the page itself has ended meanwhile
        this._draft = null;
        window.clearInterval(this._timer);
        window.removeEventListener("focus", this._onSight);
        document.removeEventListener("visibilitychange", this._onSight);
      }

      /**
       * Carries out a task that ends the draft when it succeeds, without reporting the draft as lost. Resolves with
       * what `task` resolves with; after nothing, or an error, the draft is watched again.
       */
      async ending(task) {
        const draft = this._draft;
        this.stop();
        let done;
        try {
          done = await task();
          return done;
        } finally {
          if (!done && draft && !this._draft) {
            this.start(draft.set, draft.id);
          }
        }
      }

      _look() {
        if (!document.hidden && this._draft) {
          this.isLost();
        }
      }

      /**
       * Whether the draft no longer exists; the person is told once, however many changes were refused. False when the
       * service cannot be asked.
       */
      async isLost() {
        const draft = this._draft;
        if (!draft) {
          return this._wasLost;
        }
        if (!this._asking || this._asking.draft !== draft) {
          const answer = this._ask(draft).catch(() => false);
          this._asking = {draft, answer};
          answer.finally(() => {
            this._asking = this._asking && this._asking.draft === draft ? null : this._asking;
          });
        }
        return this._asking.answer;
      }

      async _ask(draft) {
        if (await exists(draft)) {
          return false;
        }
        await Texts.ready();
        const {hasActive, text} = await lossOf(draft);
        if (this._draft !== draft) {
          return false;
        }
        this.stop();
        this._wasLost = true;
        Messages.clear();
        await Messages.show({message: text});
        this._onLost(hasActive);
        return true;
      }
    };
  }
);
