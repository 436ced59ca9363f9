sap.ui.define(
  [
    "sap/base/i18n/ResourceBundle",
    "sap/m/App",
    "sap/m/Button",
    "sap/m/FlexBox",
    "sap/m/Page",
    "sap/m/PageAccessibleLandmarkInfo",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/VBox",
    "sap/ui/dom/includeStylesheet",
    "promenade/session/PasswordForm"
  ],
  function (
    ResourceBundle,
    App,
    Button,
    FlexBox,
    Page,
    PageAccessibleLandmarkInfo,
    Text,
    Title,
    VBox,
    includeStylesheet,
    PasswordForm
  ) {
    "use strict";

    /** What is shown while nobody is signed in, before there is a component. */
    let bundle = null;

    async function texts() {
      bundle =
        bundle ||
        (await ResourceBundle.create({
          url: sap.ui.require.toUrl("promenade/i18n/session.properties"),
          supportedLocales: ["en", "de"],
          fallbackLocale: "en",
          async: true
        }));
      return bundle;
    }

    async function shown(heading, content) {
      await includeStylesheet({url: sap.ui.require.toUrl("promenade/session/session.css"), id: "session-css"});
      const card = new VBox({
        items: [
          new Text({text: "Promenade"}).addStyleClass("promenadeSignInProduct"),
          new Title({text: heading, level: "H1", titleStyle: "H3", wrapping: true}).addStyleClass(
            "sapUiSmallMarginBottom"
          ),
          ...content
        ]
      }).addStyleClass("promenadeSignInCard");
      const middle = {
        height: "100%",
        alignItems: "Center",
        justifyContent: "Center",
        renderType: "Bare",
        items: [card]
      };
      const landmarkInfo = new PageAccessibleLandmarkInfo({contentRole: "Main", contentLabel: heading});
      const page = new Page({showHeader: false, content: [new FlexBox(middle)], landmarkInfo});
      const app = new App({pages: [page], autoFocus: false, height: "100%"}).addStyleClass("promenadeSignIn");
      app.placeAt("content");
      return app;
    }

    return {
      texts,

      /** Shows a heading, words and a button, and resolves when that is pressed; without a button text, never. */
      async message(heading, words, button) {
        let pressed;
        const waited = new Promise((resolve) => {
          pressed = resolve;
        });
        // Set, never given to the constructor, which takes what has braces for a binding: others have chosen the words.
        const text = new Text().setText(words).addStyleClass("sapUiSmallMarginBottom");
        const content = button ? [text, new Button({text: button, type: "Emphasized", press: pressed})] : [text];
        const app = await shown(heading, content);
        await waited;
        app.destroy();
      },

      /** Lets the administrator of a store log in, or set the first password, and resolves once that is done. */
      async password(isSetUp) {
        const words = await texts();
        const form = new PasswordForm({texts: words, isSetUp});
        const app = await shown(words.getText(isSetUp ? "session.logIn" : "session.setUp"), form.controls());
        form.focus();
        await form.done();
        app.destroy();
      }
    };
  }
);
