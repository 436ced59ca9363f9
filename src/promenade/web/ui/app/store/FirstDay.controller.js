sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/resources/Polling",
    "promenade/session/Session",
    "promenade/store/KeyDialog",
    "promenade/store/State"
  ],
  function (Controller, JSONModel, Format, Messages, Http, Polling, Session, KeyDialog, State) {
    "use strict";

    const NEVER = () => false;

    /**
     * Guides the administrator of a store through its first day: link, first download, a till's key, a test basket.
     *
     * Keeps itself up to date while somebody looks at it.
     */
    return Controller.extend("promenade.store.FirstDay", {
      onInit() {
        this._model = new JSONModel({isRead: false, newName: "", tillKeys: []});
        this.getView().setModel(this._model, "store");
        this._route = this.getOwnerComponent().getRouter().getRoute("store");
        this._route.attachPatternMatched(this._begin, this);
        this.getOwnerComponent().getRouter().attachRouteMatched(this._end, this);
      },

      onExit() {
        this._stop?.abort();
        this._route.detachPatternMatched(this._begin, this);
        this.getOwnerComponent().getRouter().detachRouteMatched(this._end, this);
      },

      async _begin() {
        this._stop?.abort();
        if (!Session.current().services.store) {
          this.getOwnerComponent().getRouter().getTargets().display("notFound");
          return;
        }
        const stop = (this._stop = new AbortController());
        const bundle = await this.getOwnerComponent().getModel("i18n").getResourceBundle();
        this._t = (key, ...values) => bundle.getText(`store.${key}`, values);
        const options = {signal: stop.signal, onValue: (value) => this._show(value)};
        Polling.until(() => this._read(), NEVER, options).catch((error) => Messages.show(error));
      },

      _end(event) {
        if (event.getParameter("name") !== "store") {
          this._stop?.abort();
        }
      },

      async _read() {
        const [state, {tillKeys}] = await Promise.all([
          Http.post("/local-admin/getState", {}),
          Http.post("/local-admin/listTillKeys", {})
        ]);
        return {state, tillKeys};
      },

      _show({state, tillKeys}) {
        const shown = State.read(state, this._t, Format);
        this._model.setData({...shown, isRead: true}, true);
        this._model.setProperty(
          "/tillKeys",
          tillKeys.map((one) => State.readKey(one, this._t, Format))
        );
      },

      /** Runs what changes a key, says why it could not be done, and shows what holds now. */
      async _change(action, body) {
        try {
          const answer = await Http.post(`/local-admin/${action}`, body);
          this._show(await this._read());
          return answer;
        } catch (error) {
          Messages.show(error);
          return null;
        }
      },

      async onCreateKey() {
        const made = await this._change("createTillKey", {name: this._model.getProperty("/newName").trim()});
        if (made) {
          this._model.setProperty("/newName", "");
          KeyDialog.show(made, this._t, Format);
        }
      },

      async onRotate(event) {
        const {name} = event.getSource().getBindingContext("store").getObject();
        const hours = await KeyDialog.askOverlap(name, this._t);
        const made = hours === null ? null : await this._change("rotateTillKey", {name, overlapHours: hours});
        if (made) {
          KeyDialog.show(made, this._t, Format);
        }
      },

      /** The key that every till may show: replaced at once, so it is asked for first. */
      async onRenewCommon() {
        if (await KeyDialog.confirmCommon(this._t)) {
          const made = await this._change("regenerateApiKey", {});
          if (made) {
            KeyDialog.show({...made, name: this._t("commonKey"), formerUntil: null}, this._t, Format);
          }
        }
      },

      async onRevoke(event) {
        const {name} = event.getSource().getBindingContext("store").getObject();
        if (await KeyDialog.confirmRevoke(name, this._t)) {
          await this._change("revokeTillKey", {name});
        }
      },

      onPosGroups() {
        this.getOwnerComponent().getRouter().navTo("list", {set: "PosGroups"});
      },

      onTryBasket() {
        this.getOwnerComponent().getRouter().navTo("simulator");
      }
    });
  }
);
