sap.ui.define(
  [
    "sap/base/i18n/Localization",
    "sap/m/ActionSheet",
    "sap/m/Button",
    "sap/m/InstanceManager",
    "sap/tnt/NavigationListItem",
    "sap/ui/Device",
    "sap/ui/core/Theming",
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Zone",
    "promenade/net/Http",
    "promenade/session/Session",
    "promenade/shell/Arrival",
    "promenade/shell/Entries",
    "promenade/shell/Kept"
  ],
  function (
    Localization,
    ActionSheet,
    Button,
    InstanceManager,
    NavigationListItem,
    Device,
    Theming,
    Controller,
    JSONModel,
    Zone,
    Http,
    Session,
    Arrival,
    Entries,
    Kept
  ) {
    "use strict";

    const DARK = "sap_horizon_dark";
    const LIGHT = "sap_horizon";
    const WIDTHS = "promenadeNavigation";
    const WIDE = 1024;

    /** What is around every page: the navigation, whose entries are those that the person may open, and the person. */
    return Controller.extend("promenade.shell.Shell", {
      onInit() {
        const isGerman = Localization.getLanguage().startsWith("de");
        this._state = new JSONModel({
          isDark: Theming.getTheme() === DARK,
          otherLanguage: isGerman ? "English" : "Deutsch",
          zone: Zone.current(),
          hasZones: Zone.all().length > 1,
          selected: "home"
        });
        this._shown = "home";
        this.getView().setModel(this._state, "shell");
        Entries.filter((one) => this._isOpen(one)).forEach((one) => this.byId("entries").addItem(this._item(one)));
        const router = this.getOwnerComponent().getRouter();
        router.attachRouteMatched(this._onRoute, this);
        router.attachBypassed(this._onAddress, this);
        router.getHashChanger().attachEvent("hashChanged", this._select, this);
        this.byId("pages").addEventDelegate({onAfterRendering: () => this._onRendered()});
        Device.media.initRangeSet(WIDTHS, [WIDE], "px", ["Narrow", "Wide"], true);
        Device.media.attachHandler(this._onWidth, this, WIDTHS);
        this._onWidth(Device.media.getCurrentRange(WIDTHS));
        this._onKey = (event) => this._openSearchBy(event);
        document.addEventListener("keydown", this._onKey);
      },

      onExit() {
        this._entries?.disconnect();
        document.removeEventListener("keydown", this._onKey);
        Device.media.detachHandler(this._onWidth, this, WIDTHS);
        this.getOwnerComponent().getRouter().getHashChanger().detachEvent("hashChanged", this._select, this);
        this._arrival?.destroy();
      },

      /**
       * Entries of a navigation without names are those of a menu, which are checked and never selected (ARIA 1.2):
       * OpenUI5 says both.
       */
      _mendEntries() {
        const root = this.byId("navigation").getDomRef();
        const mend = () =>
          root
            .querySelectorAll("[role^=menuitem][aria-selected]")
            .forEach((entry) => entry.removeAttribute("aria-selected"));
        this._entries = new MutationObserver(mend);
        this._entries.observe(root, {subtree: true, childList: true, attributeFilter: ["aria-selected", "role"]});
        mend();
      },

      /** On narrow screens, which large letters make of wide ones, the page needs the room of the entries' names. */
      _onWidth({name}) {
        this.byId("toolPage").setSideExpanded(name === "Wide");
      },

      _onRendered() {
        this._arrival?.destroy();
        this._entries?.disconnect();
        this._mendEntries();
        this._arrival = new Arrival(this.byId("pages").getDomRef(), "Promenade");
        this._onAddress();
      },

      _onAddress() {
        this._arrival?.onRoute(this.getOwnerComponent().getRouter().getHashChanger().getHash());
      },

      onSkip(event) {
        event.preventDefault();
        this._arrival.enter();
      },

      _isOpen({needs}) {
        return Session.current().services[needs];
      },

      _item({key, icon, row, items = []}) {
        const item = new NavigationListItem({key, icon, text: `{i18n>nav.${key}}`, expanded: false});
        item.data("row", row);
        items.filter((one) => this._isOpen(one)).forEach((one) => item.addItem(this._item(one)));
        return item;
      },

      _onRoute(event) {
        const {name, arguments: given} = event.getParameters();
        const list = `list/${given.set}`;
        const ofPromotions = Object.fromEntries(["promotion", "gallery", "guide"].map((one) => [one, "promotions"]));
        const among = {...ofPromotions, report: "reports", list, object: list};
        this._shown = among[name] || name;
        this._select();
        this._onAddress();
      },

      /** Selects the entry of the page that is shown: whoever presses another one may yet decide to stay. */
      _select() {
        this._state.setProperty("/selected", this._shown);
      },

      onItem(event) {
        const item = event.getParameter("item");
        const [route, set] = item.getKey().split("/");
        const key = item.data("row");
        this.getOwnerComponent()
          .getRouter()
          .navTo(key ? "object" : route, key ? {set, key} : set ? {set} : {});
      },

      onMenu() {
        this.byId("toolPage").toggleSideContentMode();
      },

      /** Ctrl+K, from anywhere but a dialog that waits for an answer. */
      _openSearchBy(event) {
        if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
          event.preventDefault();
          if (Session.current().services.admin && !InstanceManager.hasOpenDialog()) {
            this.onSearch();
          }
        }
      },

      /** The dialog and what it needs are fetched when somebody searches for the first time. */
      async onSearch() {
        const [Search, bundle] = await Promise.all([
          new Promise((resolve, reject) => sap.ui.require(["promenade/shell/Search"], resolve, reject)),
          this.getOwnerComponent().getModel("i18n").getResourceBundle()
        ]);
        if (InstanceManager.hasOpenDialog()) {
          return;
        }
        const router = this.getOwnerComponent().getRouter();
        new Search(
          (key, ...values) => bundle.getText(`shell.search.${key}`, values),
          (hash) => router.getHashChanger().setHash(hash)
        ).open();
      },

      async _changePassword() {
        const [OwnPassword, bundle] = await Promise.all([
          new Promise((resolve, reject) => sap.ui.require(["promenade/shell/OwnPassword"], resolve, reject)),
          this.getOwnerComponent().getModel("i18n").getResourceBundle()
        ]);
        new OwnPassword(bundle, Session.current().passwordAddress).open();
      },

      async _showSessions() {
        const address = Session.current().sessionsAddress;
        const [OwnSessions, bundle, {sessions}] = await Promise.all([
          new Promise((resolve, reject) => sap.ui.require(["promenade/shell/OwnSessions"], resolve, reject)),
          this.getOwnerComponent().getModel("i18n").getResourceBundle(),
          Http.get(address)
        ]);
        if (!InstanceManager.hasOpenDialog()) {
          new OwnSessions(bundle, address, sessions).open();
        }
      },

      onColours() {
        const isDark = !this._state.getProperty("/isDark");
        this._state.setProperty("/isDark", isDark);
        Kept.write("colours", isDark ? "dark" : "light");
        Theming.setTheme(isDark ? DARK : LIGHT);
      },

      onLanguage() {
        Kept.write("language", Localization.getLanguage().startsWith("de") ? "en" : "de");
        window.location.reload();
      },

      /** Stores in several time zones: pages show and take times of one of them. */
      onZone(event) {
        if (!this._zones) {
          const buttons = Zone.all().map((zone) => new Button({text: zone, press: () => this._choose(zone)}));
          this._zones = new ActionSheet({buttons, title: "{i18n>shell.zone}"});
          this.getView().addDependent(this._zones);
        }
        this._zones.openBy(event.getSource());
      },

      _choose(zone) {
        Zone.choose(zone);
        window.location.reload();
      },

      onPerson(event) {
        if (!this._sheet) {
          const signOut = new Button({
            icon: "sap-icon://log",
            text: "{i18n>shell.signOut}",
            press: () => Session.signOut()
          });
          const {passwordAddress, sessionsAddress} = Session.current();
          const own = [
            passwordAddress && ["key", "password", () => this._changePassword()],
            sessionsAddress && ["sys-monitor", "sessions", () => this._showSessions()]
          ].filter(Boolean);
          const buttons = own.map(
            ([icon, key, press]) => new Button({icon: `sap-icon://${icon}`, text: `{i18n>shell.${key}}`, press})
          );
          this._sheet = new ActionSheet({buttons: [...buttons, signOut]});
          this.getView().addDependent(this._sheet);
        }
        this._sheet.openBy(event.getSource());
      }
    });
  }
);
