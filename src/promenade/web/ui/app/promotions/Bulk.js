sap.ui.define(
  ["promenade/generic/Messages", "promenade/net/Batch", "promenade/net/Http", "promenade/promotions/Texts"],
  function (Messages, Batch, Http, Texts) {
    "use strict";

    /** Moves and copies of several promotions at once: of all of them, or of none. */
    const MAX = 100; // requests that the service takes in one change set

    const NAME_MAX = 255;

    const nameOfCopy = (name) => Texts.plain(Texts.get("copyName", [name])).slice(0, NAME_MAX);

    const requestOf =
      (move) =>
      ({id, name}) => ({
        method: "POST",
        url: `Promotions(ID=${id},IsActiveEntity=true)/AdminService.${move}`,
        body: move === "copy" ? {name: nameOfCopy(name)} : {}
      });

    return {
      /** Says because of which promotion nothing was changed, and why; what is not about one is an error. */
      async refused(promotion, error) {
        if (!promotion) {
          throw error;
        }
        const message = Texts.get("bulk.refused", [promotion.name, Messages.read(error).message]);
        await Messages.show(new Http.HttpError(error.status, {message}));
      },

      /**
       * Makes a move or copies (`copy`), after asking, of as many promotions as `count` says, which `read` resolves
       * with: `[{id, name}]`. Resolves with whether it was made; which of them cannot make it, and why, is shown.
       */
      async make(move, count, read) {
        if (count > MAX) {
          Messages.toast("promotions.bulk.tooMany", [MAX]);
          return false;
        }
        const promotions = await read();
        const action = Texts.get(move === "copy" ? "copy" : `move.${move}`);
        const may = await Messages.confirm(Texts.get(`bulk.ask.${move}`, [promotions.length]), {
          action,
          title: action,
          isCritical: move === "deactivate"
        });
        if (!may) {
          return false;
        }
        try {
          await Batch.changeSet("/admin/", promotions.map(requestOf(move)));
        } catch (error) {
          await this.refused(promotions[error.index], error);
          return false;
        }
        Messages.toast(`promotions.bulk.done.${move}`, [promotions.length]);
        return true;
      }
    };
  }
);
