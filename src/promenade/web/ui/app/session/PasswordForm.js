sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Input",
    "sap/m/Label",
    "sap/m/MessageStrip",
    "sap/m/Text",
    "sap/m/VBox",
    "sap/ui/core/InvisibleMessage"
  ],
  function (Button, Input, Label, MessageStrip, Text, VBox, InvisibleMessage) {
    "use strict";

    const ROOT = "/local-admin";

    async function post(path, body) {
      const answer = await fetch(`${ROOT}/${path}`, {
        method: "POST",
        headers: {"Content-Type": "application/json"},
        body: JSON.stringify(body)
      });
      const {error} = answer.ok ? {} : await answer.json();
      return error && {...error, seconds: answer.headers.get("retry-after")};
    }

    /** The password of a store's administrator: asked for, or set for the first time and used at once. */
    return class PasswordForm {
      /** `entered` is waited for after the log-in; where it fails, that is said, and the password asked for again. */
      constructor({texts, isSetUp, entered = async () => {}}) {
        this._texts = texts;
        this._entered = entered;
        this._isSetUp = isSetUp;
        this._password = this._input("session-password");
        this._repeated = isSetUp ? null : this._input("session-repeated");
        this._fault = new MessageStrip({type: "Error", showIcon: true, visible: false});
        this._fault.addStyleClass("sapUiSmallMarginTop");
        this._button = new Button("session-submit", {
          type: "Emphasized",
          text: texts.getText(isSetUp ? "session.logIn" : "session.setUpNow"),
          press: () => this._submit()
        }).addStyleClass("sapUiSmallMarginTop");
        /** @type {Promise<void>} */
        this._waited = new Promise((resolve) => {
          this._resolve = resolve;
        });
      }

      _input(id) {
        return new Input(id, {type: "Password", required: true, width: "100%", submit: () => this._submit()});
      }

      _labelled(key, input) {
        return [new Label({text: this._texts.getText(key), labelFor: input, showColon: true, required: true}), input];
      }

      /** What to show, in this order. */
      controls() {
        const lead = this._texts.getText(this._isSetUp ? "session.logInText" : "session.setUpText");
        return [
          new VBox({
            renderType: "Bare",
            items: [
              new Text({text: lead}).addStyleClass("sapUiSmallMarginBottom"),
              ...this._labelled("session.password", this._password),
              ...(this._repeated ? this._labelled("session.repeated", this._repeated) : []),
              this._fault,
              this._button
            ]
          })
        ];
      }

      /** Puts the cursor where typing begins. */
      focus() {
        this._password.focus();
      }

      /** Resolves when the administrator has entered. */
      done() {
        return this._waited;
      }

      async _submit() {
        this._button.setEnabled(false);
        const error = await this._tried().catch(() => ({code: "UNREACHABLE"}));
        this._button.setEnabled(true);
        if (error) {
          this._refused(error);
        } else {
          this._resolve();
        }
      }

      async _tried() {
        const password = this._password.getValue();
        const repeated = this._repeated && this._repeated.getValue();
        const error = this._repeated && (await post("setup", {password, confirmPassword: repeated}));
        // Somebody else may have set it up meanwhile; whoever knows the password gets in all the same.
        const refused = error && error.code !== "ALREADY_SET_UP" ? error : await post("login", {password});
        if (!refused) {
          await this._entered();
        }
        return refused;
      }

      _refused({code, message, seconds}) {
        const key = `session.${code}`;
        const words = this._texts.hasText(key) ? this._texts.getText(key, [seconds]) : message;
        this._fault.setText(words).setVisible(true);
        InvisibleMessage.getInstance().announce(words, "Assertive");
        const input = code === "PASSWORD_MISMATCH" ? this._repeated : this._password;
        input.focus();
      }
    };
  }
);
