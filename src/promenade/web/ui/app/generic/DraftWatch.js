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
     * Whether the person's draft is still there while it is edited.
     *
     * Another window may save it or throw it away, and somebody else may take it over once its lock has run out. Who
     * still types is told within seconds, not when the next change is refused.
     */
    const LOOKING_MS = 10_000;
    const GONE = new Set([403, 404]);

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

    /** What became of a draft that is there no more: `{hasActive, text}`. */
    async function fateOf(draft) {
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

    return class DraftWatch {
      /** `onLost(hasActive)`: the person has been told, and whether there is something active to be shown instead. */
      constructor(onLost) {
        this._onLost = onLost;
        this._draft = null;
        this._asking = null;
        this._onSight = () => this._look();
      }

      /** Looks after a draft from now on, and after no other. */
      start(set, id) {
        this.stop();
        this._draft = {set, id, left: new AbortController()};
        this._timer = window.setInterval(this._onSight, LOOKING_MS);
        window.addEventListener("focus", this._onSight);
        document.addEventListener("visibilitychange", this._onSight);
      }

      /** Looks after no draft any more: the page shows something else, or ends the draft itself. */
      stop() {
        this._draft?.left.abort(); // or the answer would be about what the page itself has ended meanwhile
        this._draft = null;
        window.clearInterval(this._timer);
        window.removeEventListener("focus", this._onSight);
        document.removeEventListener("visibilitychange", this._onSight);
      }

      /**
       * Does what ends the draft when it goes well, and is not told that the draft is gone then. Resolves with what
       * `task` resolves with; nothing, or an error, means that the draft is still to be looked after.
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

      /** Whether the draft is there no more, of which the person has been told then. What cannot be asked is not. */
      async isLost() {
        const draft = this._draft;
        if (!draft) {
          return false;
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
        const {hasActive, text} = await fateOf(draft);
        if (this._draft !== draft) {
          return false;
        }
        this.stop();
        Messages.clear();
        await Messages.show({message: text});
        this._onLost(hasActive);
        return true;
      }
    };
  }
);
