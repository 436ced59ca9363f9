sap.ui.define(
  ["promenade/generic/Messages", "promenade/net/Batch", "promenade/net/Http", "promenade/promotions/Texts"],
  function (Messages, Batch, Http, Texts) {
    "use strict";

    /** Moves of several promotions at once: of all of them, or of none. */
    const MAX = 100; // requests that the service takes in one change set

    const requestOf = (move) => (id) => ({
      method: "POST",
      url: `Promotions(ID=${id},IsActiveEntity=true)/AdminService.${move}`,
      body: {}
    });

    return {
      /**
       * Makes a move, after asking, of as many promotions as `count` says, which `read` resolves with:
       * `[{id, name}]`. Resolves with whether it was made; which of them cannot make it, and why, is shown.
       */
      async make(move, count, read) {
        if (count > MAX) {
          Messages.toast("promotions.bulk.tooMany", [MAX]);
          return false;
        }
        const promotions = await read();
        const may = await Messages.confirm(Texts.get(`bulk.ask.${move}`, [promotions.length]), {
          action: Texts.get(`move.${move}`),
          title: Texts.get(`move.${move}`),
          isCritical: move === "deactivate"
        });
        if (!may) {
          return false;
        }
        try {
          await Batch.changeSet("/admin/", promotions.map(({id}) => id).map(requestOf(move)));
        } catch (error) {
          const refused = promotions[error.index];
          if (!refused) {
            throw error;
          }
          const message = Texts.get("bulk.refused", [refused.name, Messages.read(error).message]);
          await Messages.show(new Http.HttpError(error.status, {message}));
          return false;
        }
        Messages.toast(`promotions.bulk.done.${move}`, [promotions.length]);
        return true;
      }
    };
  }
);
