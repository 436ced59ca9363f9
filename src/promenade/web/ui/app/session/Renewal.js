sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/MessageStrip",
    "sap/m/Text",
    "sap/m/VBox",
    "promenade/session/CodeFlow",
    "promenade/session/Fault",
    "promenade/session/Pages",
    "promenade/session/PasswordForm",
    "promenade/session/Shared",
    "promenade/session/Store"
  ],
  function (Button, Dialog, MessageStrip, Text, VBox, CodeFlow, Fault, Pages, PasswordForm, Shared, Store) {
    "use strict";

    /**
     * Signing in once more while the page stays as it is, so that nothing typed is lost.
     *
     * At an issuer that is done in a window of its own, which hands its answer over; a store asks for its password.
     * Tokens of a sign-in that tabs share are renewed without a question; whoever signs in or out does so in all tabs.
     */
    const CHANNEL = "promenade.signIn";
    const WARNING_MS = 5 * 60 * 1000;
    const LOOKING_MS = 15 * 1000;
    const BEFORE_MS = 5 * 60 * 1000; // before its end a token is renewed
    const SIGNED_IN = "signedIn";
    const SIGNED_OUT = "signedOut";

    let how = null;
    let renewed = null; // what to do once somebody has signed in again
    let behind = () => {}; // gives models the headers that they could not take yet
    let warnedOf = 0;
    let ending = null; // the promise of whoever waits for it, while it is needed
    let asked = null; // the dialog that asks for a sign-in

    function close(dialog) {
      asked = dialog === asked ? null : asked;
      dialog.close();
      dialog.attachAfterClose(() => dialog.destroy());
    }

    async function aside(dialog, fault, texts) {
      const channel = new window.BroadcastChannel(CHANNEL);
      // Opened before anything is waited for, or browsers take it for a window that nobody asked for.
      const popup = window.open("about:blank", "", "popup,width=520,height=720");
      if (!popup) {
        fault.setText(texts.getText("session.noPopup")).setVisible(true);
        return;
      }
      popup.opener = null; // so that no page of the issuer can lead this one anywhere
      const question = await CodeFlow.aside(how);
      channel.onmessage = async ({data: answer}) => {
        if (!question.isFor(answer)) {
          return;
        }
        channel.close();
        try {
          CodeFlow.keep(await question.redeem(answer));
          await renewed();
          close(dialog);
          tell(SIGNED_IN);
        } catch (error) {
          const {key, values} = error.key ? error : new Fault("unreachable");
          fault.setText(texts.getText(`session.${key}Text`, values)).setVisible(true);
        }
      };
      popup.location = question.address;
    }

    function issuerDialog(texts, hasEnded) {
      const fault = new MessageStrip({type: "Error", showIcon: true, visible: false});
      fault.addStyleClass("sapUiSmallMarginTop");
      const words = new Text({text: texts.getText(hasEnded ? "session.endedText" : "session.endingText")});
      const again = new Button({
        text: texts.getText("session.again"),
        type: "Emphasized",
        press: () => aside(dialog, fault, texts)
      });
      const other = hasEnded
        ? new Button({text: texts.getText("session.leave"), press: () => CodeFlow.leave(how)})
        : new Button({text: texts.getText("session.later"), press: () => close(dialog)});
      const dialog = new Dialog({
        closeOnNavigation: false,
        title: texts.getText(hasEnded ? "session.ended" : "session.ending"),
        type: "Message",
        state: hasEnded ? "Error" : "Warning",
        initialFocus: again,
        content: [new VBox({items: [words, fault]})],
        beginButton: again,
        endButton: other
      });
      return dialog;
    }

    function passwordDialog(texts) {
      const form = new PasswordForm({texts, isSetUp: true, entered: renewed});
      const dialog = new Dialog({
        closeOnNavigation: false,
        title: texts.getText("session.ended"),
        type: "Message",
        state: "Error",
        content: form.controls(),
        afterOpen: () => form.focus()
      });
      form.done().then(() => close(dialog));
      return dialog;
    }

    function tell(news) {
      const channel = new window.BroadcastChannel(CHANNEL);
      channel.postMessage({news});
      channel.close();
    }

    /** Another tab has signed in: the dialog that asks for it here is done, if the sign-in is shared. */
    async function onSignedIn() {
      const dialog = asked;
      if (dialog && (await Renewal.quietly())) {
        await renewed();
        if (dialog === asked) {
          close(dialog);
        }
      }
    }

    async function ended() {
      if (await Renewal.quietly()) {
        await renewed();
        return undefined;
      }
      const texts = await Pages.texts();
      const dialog = how.clientId ? issuerDialog(texts, true) : passwordDialog(texts);
      asked = dialog;
      // Nothing behind it can be done without a sign-in, so Escape leads nowhere.
      dialog.setEscapeHandler(({reject}) => reject());
      return new Promise((resolve) => {
        dialog.attachAfterClose(resolve);
        dialog.open();
      });
    }

    async function look() {
      behind();
      const endsAt = Store.endsAt();
      if (Date.now() >= endsAt) {
        await Renewal.require();
      } else if (Store.renewsAt() - Date.now() <= BEFORE_MS && endsAt - Store.renewsAt() > BEFORE_MS) {
        if (await Renewal.quietly()) {
          await renewed({waits: true});
        }
      } else if (endsAt - Date.now() <= WARNING_MS && warnedOf !== endsAt) {
        warnedOf = endsAt;
        issuerDialog(await Pages.texts(), false).open();
      }
    }

    const Renewal = {
      /** Begins to look after a sign-in; `onRenewed` is called, and waited for, when there is a new one. */
      watch(howToSignIn, onRenewed, onSignedOut, catchUp) {
        behind = catchUp;
        how = howToSignIn;
        renewed = onRenewed;
        if (how.clientId) {
          new window.BroadcastChannel(CHANNEL).addEventListener("message", ({data}) => {
            if (data.news === SIGNED_OUT && how.sessionEndpoint && Store.renewsAt() < Infinity) {
              onSignedOut();
            } else if (data.news === SIGNED_IN) {
              onSignedIn();
            }
          });
          window.setInterval(look, LOOKING_MS);
          document.addEventListener("visibilitychange", look);
          look();
        }
        // Models send requests that nobody here sees; what comes of them is told to all.
        new window.PerformanceObserver((seen) => {
          const requests = /** @type {PerformanceResourceTiming[]} */ (seen.getEntries());
          if (requests.some(({name, responseStatus}) => responseStatus === 401 && Renewal.isService(name))) {
            Renewal.require();
          }
        }).observe({type: "resource"});
      },

      /** Whether an address answers 401 to whom nobody has signed in; a store's `/pos` asks for its key. */
      isService(address) {
        const {origin, pathname} = new URL(address, window.location.href);
        const guarded = how.clientId
          ? /^\/(admin|reporting|pos|api|ui\/me)(\/|$)/
          : /^\/(admin|reporting|ui\/me|local-admin\/(getApiKey|regenerateApiKey))(\/|$)/;
        return origin === window.location.origin && guarded.test(pathname);
      },

      /** Gets a token by the sign-in that tabs share, and resolves to whether there is one; asks nobody. */
      async quietly() {
        try {
          return await Shared.renew(how);
        } catch {
          return false; // nobody answers: whoever asks again later finds out
        }
      },

      /** Tells other tabs that the person has signed out. */
      tellSignedOut() {
        tell(SIGNED_OUT);
      },

      /** Asks for a sign-in, unless that is being done, and resolves once there is one. */
      require() {
        ending =
          ending ||
          ended().finally(() => {
            ending = null;
          });
        return ending;
      },

      /** Hands the issuer's answer to the tab that has asked for it, and closes this window. */
      handOver(answer) {
        window.history.replaceState(null, "", "/");
        new window.BroadcastChannel(CHANNEL).postMessage(answer);
        window.close();
      }
    };

    return Renewal;
  }
);
