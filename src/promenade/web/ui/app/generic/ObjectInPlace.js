sap.ui.define(
  ["promenade/generic/Messages", "promenade/generic/Texts", "promenade/generic/Unsaved", "promenade/net/News"],
  function (Messages, Texts, Unsaved, News) {
    "use strict";

    /** What was changed is saved in one go. */
    const GROUP = "objectChanges";

    function defaultsOf(meta) {
      const fields = meta.groups.flatMap((group) => group.fields);
      return Object.fromEntries(
        fields.filter((one) => one.defaultValue !== null && !one.isReadOnly).map((one) => [one.path, one.defaultValue])
      );
    }

    /** What an entity's page changes on the spot, where there are no drafts: sent together, or thrown away. */
    return class ObjectInPlace {
      /** The group of the model that holds changes back. */
      static GROUP = GROUP;

      constructor(view) {
        this._view = view;
        this._created = null;
      }

      _model() {
        return this._view.getModel();
      }

      /** Begins with something new; what to bind the page to. */
      create(meta) {
        const list = this._model().bindList(`/${meta.set}`, undefined, [], [], {$$updateGroupId: GROUP});
        this._created = list.create(defaultsOf(meta), true);
        this._created.created().catch(() => {
          /* Told where it is saved or thrown away. */
        });
        return this._created;
      }

      /** Asks from now on before changes are lost. */
      begin(router) {
        Unsaved.guard(router, {
          isChanged: () => this._model().hasPendingChanges(GROUP) || Unsaved.hasWrong(this._view),
          mayLeave: async () => {
            const may = await Messages.confirm(Texts.of("unsaved"), {action: Texts.of("leave"), isCritical: true});
            if (may) {
              await this.reset();
            }
            return may;
          }
        });
      }

      /** Sends all changes; resolves with whether the service has taken them. */
      async send() {
        const path = this._view.getBindingContext().getPath();
        await this._model().submitBatch(GROUP);
        const isTaken = !this._model().hasPendingChanges(GROUP);
        if (isTaken) {
          News.wrote("PATCH", path);
        }
        return isTaken;
      }

      /** The context of what was new and has been saved, null where it was there before. */
      async created() {
        const created = this._created;
        await created?.created();
        this._created = null;
        return created;
      }

      /** Throws all changes away; resolves with whether they were something new. */
      async reset() {
        Messages.clear();
        const gone = this._created;
        if (gone) {
          this._created = null;
          this._view.setBindingContext(undefined);
          await gone.delete().catch(() => {
            /* It was never there. */
          });
        }
        this._model().resetChanges(GROUP);
        return Boolean(gone);
      }
    };
  }
);
