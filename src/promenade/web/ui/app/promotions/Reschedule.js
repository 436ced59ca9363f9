sap.ui.define(
  [
    "sap/m/Text",
    "promenade/generic/Drafts",
    "promenade/generic/Moment",
    "promenade/generic/Shift",
    "promenade/generic/Unsaved",
    "promenade/net/Http",
    "promenade/promotions/Creating",
    "promenade/promotions/Forms",
    "promenade/promotions/Texts"
  ],
  function (Text, Drafts, Moment, Shift, Unsaved, Http, Creating, Forms, Texts) {
    "use strict";

    const keyOf = (id, isActive) => `/Promotions(ID=${id},IsActiveEntity=${isActive})`;

    /** Writes new days into the person's draft of a promotion; false: somebody else edits it, which was told. */
    async function toDraft(model, id, values) {
      const binding = model.bindContext(keyOf(id, true), undefined, {$select: "ID,IsActiveEntity"});
      const draft = await Drafts.edit(binding.getBoundContext());
      if (draft) {
        await Http.request("PATCH", `/admin${keyOf(id, false)}`, {body: values});
      }
      return Boolean(draft);
    }

    function fieldOf(key, value, isEnd) {
      return new Moment({label: Texts.get(key), isEnd, value: value || ""});
    }

    return {
      /**
       * Asks for other days of a promotion, at first those to which it was drawn: `part` of its bar ("start", "end" or
       * "all") by `days`, unless `isLeft()` by then. `done(name)` once they are in a draft; what runs stays as it is.
       */
      async ask(view, {id, part = "all", days = 0, isLeft}, done) {
        const row = await Http.get(`/admin${keyOf(id, true)}?$select=name,validFrom,validTo`);
        if (isLeft()) {
          return;
        }
        const drawn = Shift.window(row, part, days);
        const [from, to] = [
          fieldOf("calendar.begin", drawn.validFrom, false),
          fieldOf("calendar.end", drawn.validTo, true)
        ];
        const isOrdered = () =>
          !from.getValue() || !to.getValue() || Date.parse(from.getValue()) < Date.parse(to.getValue());
        Creating.ask(view, {
          title: Texts.plain(Texts.get("calendar.moveTitle", [row.name])),
          content: [
            new Text({text: Texts.get("calendar.moveText")}),
            Forms.around([[null, [from, to].map((one) => [one.getLabel(), one])]])
          ],
          action: Texts.get("calendar.moveSave"),
          initialFocus: from,
          width: "32rem",
          async confirm() {
            await Unsaved.taken();
            const wrong = [from, to].find((one) => one.getValue() && !one.isGiven()) || (!isOrdered() && to);
            [from, to].forEach((one) => one.setValueState(one === wrong ? "Error" : "None"));
            if (wrong) {
              wrong.setValueStateText(Texts.get("calendar.moveWrong"));
              wrong.focus();
              return false;
            }
            const values = {validFrom: from.getValue() || null, validTo: to.getValue() || null};
            if (await toDraft(view.getModel(), id, values)) {
              done(row.name);
            }
            return true;
          }
        });
      }
    };
  }
);
