sap.ui.define(["promenade/promotions/Texts"], function (Texts) {
  "use strict";

  /** How bars of a calendar look by what they are coloured by, and what that means, in the order of their coming. */
  const COLOURS = 10;
  const KINDS = {
    status: ({status}) => Texts.status(status),
    type: ({type}) => Texts.type(type),
    campaign: ({campaignCode}) => campaignCode || Texts.get("calendar.noCampaign")
  };

  return class CalendarColours {
    /** `onNew(legend)`: a meaning came up that was not there before. */
    constructor(onNew) {
      this._onNew = onNew;
      this._kind = "status";
      this._looks = new Map();
    }

    /** Begins anew, by another kind. */
    begin(kind) {
      this._kind = KINDS[kind] ? kind : "status";
      this._looks = new Map();
    }

    /** What a row's colour means. */
    meaning(row) {
      return KINDS[this._kind](row);
    }

    /** The look of a row: by status that of its state, else the next of the palette. */
    look(row) {
      const text = this.meaning(row);
      if (!this._looks.has(text)) {
        const look = this._kind === "status" ? Texts.state(row.statusCriticality) : this._next();
        this._looks.set(text, look);
        this._onNew([...this._looks].map(([of, has]) => ({text: of, look: has})));
      }
      return this._looks.get(text);
    }

    _next() {
      const place = this._looks.size;
      return `Colour${(place % COLOURS) + 1}${place >= COLOURS ? " promenadeBarAgain" : ""}`;
    }
  };
});
