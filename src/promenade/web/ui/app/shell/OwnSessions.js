sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/Label",
    "sap/m/List",
    "sap/m/MessageStrip",
    "sap/m/MessageToast",
    "sap/m/StandardListItem",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/Device",
    "sap/ui/core/InvisibleMessage",
    "sap/ui/core/library",
    "promenade/generic/Format",
    "promenade/net/Http",
    "promenade/shell/passwordInput"
  ],
  function (
    Button,
    Dialog,
    Label,
    List,
    MessageStrip,
    MessageToast,
    StandardListItem,
    Text,
    VBox,
    Device,
    InvisibleMessage,
    coreLibrary,
    Format,
    Http,
    passwordInput
  ) {
    "use strict";

    /** A dialog in which somebody sees where they are signed in, and ends that in other browsers. */
    return class OwnSessions {
      /** `bundle` has the texts `shell.sessions...`; `sessions` are those that `address` of the service has told. */
      constructor(bundle, address, sessions) {
        this._bundle = bundle;
        this._address = address;
        const others = sessions.filter((one) => !one.isThis);
        const [here, elsewhere] = ["here", "elsewhere"].map((key) => new Label({text: this._t(key), design: "Bold"}));
        elsewhere.addStyleClass("sapUiSmallMarginTop");
        this._others = new List({
          mode: "MultiSelect",
          includeItemInSelection: true,
          items: others.map((one) => this._item(one)),
          ariaLabelledBy: [elsewhere]
        });
        this._password = passwordInput("own-sessions-password", "current-password", () => this._submit());
        this._fault = new MessageStrip({type: "Error", showIcon: true, visible: false});
        this._fault.addStyleClass("sapUiSmallMarginTop");
        this._end = new Button({type: "Emphasized", text: this._t("end"), press: () => this._submit()});
        const own = new List({
          items: sessions.filter((one) => one.isThis).map((one) => this._item(one)),
          ariaLabelledBy: [here]
        });
        const ofOthers = [
          elsewhere,
          this._others,
          new Text({text: this._t("text")}).addStyleClass("sapUiSmallMarginTopBottom"),
          new Label({text: this._t("password"), labelFor: this._password, showColon: true, required: true}),
          this._password,
          this._fault
        ];
        const nowhere = new Text({text: this._t("nowhere")}).addStyleClass("sapUiSmallMarginTop");
        const content = [here, own, ...(others.length ? ofOthers : [nowhere])];
        const close = new Button({text: this._t("close"), press: () => this._dialog.close()});
        this._dialog = new Dialog({
          title: bundle.getText("shell.sessions"),
          contentWidth: "28rem",
          stretch: Device.system.phone,
          content: [new VBox({renderType: "Bare", items: content}).addStyleClass("sapUiSmallMargin")],
          ...(others.length ? {beginButton: this._end} : {}),
          endButton: close,
          initialFocus: others.length ? this._others : close,
          afterClose: () => this._dialog.destroy()
        });
      }

      open() {
        this._dialog.open();
      }

      _t(key, ...values) {
        return this._bundle.getText(`shell.sessions.${key}`, values);
      }

      _item({id, browser, beganAt, usedAt}) {
        const item = new StandardListItem({
          title: browser || this._t("unknown"),
          description: this._t("when", Format.dateTime(beganAt), Format.dateTime(usedAt)),
          wrapping: true
        });
        item.data("session", id);
        return item;
      }

      async _submit() {
        if (!this._end.getEnabled()) {
          return;
        }
        const sessions = this._others.getSelectedItems().map((one) => one.data("session"));
        if (!sessions.length) {
          this._say(this._t("none"));
          this._others.focus();
          return;
        }
        this._end.setEnabled(false);
        const password = this._password.getValue();
        const error = await Http.post(`${this._address}/end`, {password, sessions}).then(
          () => null,
          (fault) => fault
        );
        if (this._dialog.isDestroyed()) {
          return;
        }
        this._end.setEnabled(true);
        if (error) {
          this._say(this._bundle.getText(`shell.password.${error.code}`, [], true) || error.message);
          this._password.focus();
        } else {
          this._dialog.close();
          MessageToast.show(this._t("done"));
          InvisibleMessage.getInstance().announce(this._t("done"), coreLibrary.InvisibleMessageMode.Polite);
        }
      }

      _say(words) {
        this._fault.setText(words).setVisible(true);
        InvisibleMessage.getInstance().announce(words, coreLibrary.InvisibleMessageMode.Assertive);
      }
    };
  }
);
