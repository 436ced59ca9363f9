sap.ui.define(
  [
    "sap/base/i18n/Localization",
    "sap/ui/core/date/UI5Date",
    "promenade/generic/Clock",
    "promenade/net/Http",
    "promenade/session/Session",
    "promenade/shell/Kept"
  ],
  function (Localization, UI5Date, Clock, Http, Session, Kept) {
    "use strict";

    /**
     * The time zone in which pages ask for times and show them: that of most stores, or another of theirs that the
     * person has chosen. Who may not read stores has the browser's.
     */
    const KEPT = "zone";
    const ASKED = "filter(isActive eq true)/groupby((timeZone),aggregate($count as n))";
    let zones = [];

    function isKnown(zone) {
      try {
        return Boolean(new Intl.DateTimeFormat("en", {timeZone: zone}));
      } catch {
        return false; // newer than the browser
      }
    }

    async function ofStores() {
      const query = `$apply=${encodeURIComponent(ASKED)}&$orderby=${encodeURIComponent("n desc,timeZone")}`;
      const {value} = await Http.get(`/admin/PosGroups?${query}`);
      return value.map(({timeZone}) => timeZone).filter(isKnown);
    }

    const Zone = {
      /** Takes it from the stores; comes before anything that shows a time. */
      async open() {
        try {
          zones = Session.current().services.admin ? await ofStores() : [];
        } catch {
          zones = []; // whatever it is, the first page will say it
        }
        const [most] = zones;
        const chosen = Kept.read(KEPT);
        if (most) {
          Localization.setTimezone(zones.includes(chosen) ? chosen : most);
        }
      },

      /** Its name, such as `Europe/Berlin`. */
      current: () => Localization.getTimezone(),

      /** The zones that stores are in, that of most stores first. */
      all: () => [...zones],

      /** Keeps another one for this browser; pages have it once they are loaded again. */
      choose: (zone) => Kept.write(KEPT, zone),

      /** The day that it is there at a moment. */
      day: (moment) => Clock.day(moment, Zone.current()),

      /** The moments at which a day begins and has ended there. */
      begin: (day) => Clock.begin(day, Zone.current()),
      end: (day) => Clock.end(day, Zone.current()),

      /** A day as the framework's own controls take it. */
      dateOf: (day) => UI5Date.getInstance(Zone.begin(day))
    };

    return Zone;
  }
);
