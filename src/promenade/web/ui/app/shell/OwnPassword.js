sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/Label",
    "sap/m/MessageStrip",
    "sap/m/MessageToast",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/Device",
    "sap/ui/core/InvisibleMessage",
    "sap/ui/core/library",
    "promenade/net/Http",
    "promenade/shell/passwordInput"
  ],
  function (
    Button,
    Dialog,
    Label,
    MessageStrip,
    MessageToast,
    Text,
    VBox,
    Device,
    InvisibleMessage,
    coreLibrary,
    Http,
    passwordInput
  ) {
    "use strict";

    const MISMATCH = "PASSWORD_MISMATCH";

    /** A dialog in which somebody replaces their own password, whose former one proves who sits here. */
    return class OwnPassword {
      /** `bundle` has the texts `shell.password...`; `address` is where the service takes the new password. */
      constructor(bundle, address) {
        this._bundle = bundle;
        this._address = address;
        this._password = this._input("own-password", "current-password");
        this._next = this._input("own-password-next", "new-password");
        this._repeated = this._input("own-password-repeated", "new-password");
        this._fault = new MessageStrip({type: "Error", showIcon: true, visible: false});
        this._fault.addStyleClass("sapUiSmallMarginTop");
        this._save = new Button({type: "Emphasized", text: this._t("save"), press: () => this._submit()});
        const content = [
          new Text({text: this._t("text")}).addStyleClass("sapUiSmallMarginBottom"),
          ...this._labelled("current", this._password),
          ...this._labelled("next", this._next),
          ...this._labelled("repeated", this._repeated),
          this._fault
        ];
        this._dialog = new Dialog({
          title: bundle.getText("shell.password"),
          contentWidth: "26rem",
          stretch: Device.system.phone,
          content: [new VBox({renderType: "Bare", items: content}).addStyleClass("sapUiSmallMargin")],
          beginButton: this._save,
          endButton: new Button({text: this._t("cancel"), press: () => this._dialog.close()}),
          initialFocus: this._password,
          afterClose: () => this._dialog.destroy()
        });
      }

      open() {
        this._dialog.open();
      }

      _t(key) {
        return this._bundle.getText(`shell.password.${key}`);
      }

      _input(id, kind) {
        return passwordInput(id, kind, () => this._submit());
      }

      _labelled(key, input) {
        return [new Label({text: this._t(key), labelFor: input, showColon: true, required: true}), input];
      }

      async _submit() {
        if (!this._save.getEnabled()) {
          return;
        }
        this._save.setEnabled(false);
        const error = await this._tried().catch((fault) => fault);
        if (this._dialog.isDestroyed()) {
          return;
        }
        this._save.setEnabled(true);
        if (error) {
          this._refused(error);
        } else {
          this._dialog.close();
          MessageToast.show(this._t("done"));
          InvisibleMessage.getInstance().announce(this._t("done"), coreLibrary.InvisibleMessageMode.Polite);
        }
      }

      async _tried() {
        const newPassword = this._next.getValue();
        if (newPassword !== this._repeated.getValue()) {
          return {code: MISMATCH, target: "repeated"};
        }
        await Http.post(this._address, {password: this._password.getValue(), newPassword});
        return null;
      }

      _refused({code, target, message}) {
        const words = this._bundle.getText(`shell.password.${code}`, [], true) || message;
        this._fault.setText(words).setVisible(true);
        InvisibleMessage.getInstance().announce(words, coreLibrary.InvisibleMessageMode.Assertive);
        const among = {newPassword: this._next, repeated: this._repeated};
        (among[target] || this._password).focus();
      }
    };
  }
);
