sap.ui.define(
  [
    "sap/base/Log",
    "sap/m/Button",
    "sap/m/MessageBox",
    "sap/m/MessageItem",
    "sap/m/MessagePopover",
    "sap/m/MessageToast",
    "sap/ui/core/Component",
    "sap/ui/core/Element",
    "sap/ui/core/Messaging",
    "promenade/generic/Texts"
  ],
  function (Log, Button, MessageBox, MessageItem, MessagePopover, MessageToast, Component, Element, Messaging, Texts) {
    "use strict";

    /** What was canceled by the page itself, or is shown at its field already, is no news. */
    const isQuiet = (error) => Boolean(error) && (error.canceled || error.name === "AbortError");

    const SIGN_IN_ANEW = 401;

    /** What browsers and models say in words of their own when no answer came, or one that is not the service's. */
    const UNANSWERED = new RegExp(
      "^(Communication error|HTTP request was not processed because \\$batch|Failed to fetch|Load failed|" +
        "NetworkError|Network error|The service answered 50)"
    );

    /** What models say of a request that shared the fate of another, which is told as its cause. */
    const NOT_PROCESSED = /^HTTP request was not processed/;

    const pick = (name, first, second) => first[name] || second[name] || null;

    /** What an error says, in words for people; of two that share a fate, what the one says that caused it. */
    function wordsOf(own, ofCause, isOfProxy) {
      const message = (!(ofCause && NOT_PROCESSED.test(own)) && own) || ofCause;
      return (isOfProxy || UNANSWERED.test(message)) && Texts.isReady() ? Texts.of("unanswered") : message;
    }

    /** Whether something before the service has answered in its place: the service's own errors have a code. */
    const isOfProxy = (code, status) => !code && status >= 502 && status <= 504;

    /** Error of this application (HttpError) or of an OData model -> `{message, code, target, details, status}`. */
    function read(error) {
      const body = (error && error.error) || error || {};
      const said = body.error || body;
      const cause = error && error.cause && !said.code ? read(error.cause) : {};
      const code = pick("code", said, cause);
      const status = pick("status", error || {}, cause);
      return {
        message: wordsOf(said.message, cause.message, isOfProxy(code, status)) || String(error),
        code,
        target: pick("target", said, cause),
        details: said.details || cause.details || [],
        status
      };
    }

    function isOfService(message) {
      const processor = message.getMessageProcessor();
      return Boolean(processor && processor.isA("sap.ui.model.odata.v4.ODataModel"));
    }

    // What the service refuses is shown to the person, in these messages: the console is for faults of the program.
    ["ODataContextBinding", "ODataPropertyBinding", "Context"].forEach((one) =>
      Log.setLevel(Log.Level.FATAL, `sap.ui.model.odata.v4.${one}`)
    );

    function focus(item) {
      const message = item.getBindingContext("message").getObject();
      const controls = message.getControlIds().map((id) => Element.getElementById(id));
      const control = controls.find((one) => one && one.getDomRef());
      if (control) {
        control.getDomRef().scrollIntoView({block: "center"});
        control.focus();
      }
    }

    function popover() {
      const made = new MessagePopover({
        activeTitlePress: (event) => {
          made.close();
          focus(event.getParameter("item"));
        },
        items: {
          path: "message>/",
          template: new MessageItem({
            type: "{message>type}",
            title: "{message>message}",
            subtitle: "{message>additionalText}",
            description: "{message>description}",
            activeTitle: "{= ${message>controlIds}.length > 0 }"
          })
        }
      });
      return made;
    }

    /** Takes away messages that the service sent once and that no field shows: they have been seen now. */
    function dropPassing() {
      const passing = Messaging.getMessageModel()
        .getData()
        .filter((one) => one.getPersistent());
      Messaging.removeMessages(passing);
    }

    return {
      read,

      /** A button that tells how many messages there are, opens them, and leads from each to its field. */
      button() {
        const list = popover();
        const button = new Button({
          visible: "{= ${message>/}.length > 0 }",
          icon: "sap-icon://message-popup",
          text: "{= ${message>/}.length }",
          press: () => list.toggle(button)
        });
        button.bindProperty("type", {
          path: "message>/",
          formatter: (all) => (all.some((one) => one.type === "Error") ? "Negative" : "Critical")
        });
        button.setModel(Messaging.getMessageModel(), "message");
        Texts.ready().then(() => button.setTooltip(Texts.of("messages")));
        button.addDependent(list);
        return button;
      },

      /** The same as `show`, for what a promise is rejected with: `promise.catch(Messages.caught)`. */
      caught(error) {
        return this.show(error);
      },

      /** Shows anything thrown: the service's words, its details, the code in small print. Resolves on closing. */
      async show(error) {
        if (isQuiet(error)) {
          return;
        }
        await Texts.ready();
        const {message, code, details, status} = read(error);
        if (status === SIGN_IN_ANEW) {
          return; // the dialog to sign in says so
        }
        dropPassing();
        const lines = details.map((one) => one.message).filter((one) => one && one !== message);
        const small = [code, status].filter(Boolean).join(" · ");
        await new Promise((resolve) => {
          MessageBox.error([message, ...lines.map((one) => `• ${one}`)].join("\n"), {
            details: small ? Texts.of("errorCode", small) : undefined,
            onClose: resolve
          });
        });
      },

      /** Says that what was to be shown is there no more; `label`: what kind of thing it was. */
      async gone(label) {
        await Texts.ready();
        await this.show({message: Texts.of("gone", label), status: 404});
      },

      /**
       * Lets OpenUI5 log no error of a request that shared the fate of another, whose error is told: it is treated as
       * one that was canceled.
       */
      keepQuiet(error) {
        if (error && error.cause && NOT_PROCESSED.test(error.message)) {
          error.canceled = true;
        }
      },

      /**
       * Asks before something is done. Resolves with whether it may be.
       *
       * @param {string} text
       * @param {{action?: string, isCritical?: boolean, title?: string}} [options]
       * @returns {Promise<boolean>}
       */
      async confirm(text, {action, isCritical = false, title} = {}) {
        await Texts.ready();
        const yes = action || Texts.of("yes");
        const no = Texts.of("cancel");
        return new Promise((resolve) => {
          MessageBox[isCritical ? "warning" : "confirm"](text, {
            title,
            actions: [yes, no],
            emphasizedAction: yes,
            initialFocus: isCritical ? no : yes,
            onClose: (chosen) => resolve(chosen === yes)
          });
        });
      },

      /** A passing remark: a text of the application by its whole key, such as `promotions.saved`. */
      async toast(key, args = []) {
        const bundle = await Component.getComponentById("promenade").getModel("i18n").getResourceBundle();
        MessageToast.show(bundle.getText(key, args));
      },

      /** Resolves when messages that have just come have found their fields. */
      settled() {
        return new Promise((resolve) => {
          setTimeout(resolve, 100);
        });
      },

      /** What is wrong with what fields hold, by their types or by the service. */
      errorsOfFields() {
        return Messaging.getMessageModel()
          .getData()
          .filter((one) => one.getType() === "Error" && one.getControlIds().length > 0);
      },

      /** What fields hold that is none of their types: until that is mended nothing can be saved. */
      errorsOfTypes() {
        return this.errorsOfFields().filter((one) => !isOfService(one));
      },

      /** What the service said of no field, as something to show. */
      firstOfService() {
        const [first] = Messaging.getMessageModel()
          .getData()
          .filter((one) => one.getType() === "Error");
        const status = first && first.getTechnicalDetails()?.httpStatus;
        return first ? {message: first.getMessage(), code: first.getCode(), status} : {message: Texts.of("refused")};
      },

      /** Forgets what the service said; what a field cannot hold stays. */
      clearOfService() {
        Messaging.removeMessages(Messaging.getMessageModel().getData().filter(isOfService));
      },

      /** Forgets everything that was said so far; a page calls it when it shows something else. */
      clear() {
        Messaging.removeAllMessages();
      }
    };
  }
);
