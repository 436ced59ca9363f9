sap.ui.define(
  [
    "sap/m/Input",
    "sap/m/Link",
    "sap/m/TextArea",
    "sap/ui/core/Component",
    "promenade/promotions/Creating",
    "promenade/promotions/Texts",
    "promenade/resources/Secret"
  ],
  function (Input, Link, TextArea, Component, Creating, Texts, Secret) {
    "use strict";

    return {
      /** Words a request for a budget for the promotion that is shown, to be copied or sent by mail. */
      open(source) {
        const name = source.getBindingContext().getProperty("name") || Texts.get("unnamed");
        const id = source.getBindingContext().getProperty("ID");
        const address = `${window.location.origin}/#/promotion/${id}`;
        const amount = new Input({required: true});
        const text = new TextArea({width: "100%", rows: 5, editable: false});
        const mail = new Link({text: Texts.get("links.budget.mail")});
        const say = () => {
          const words = Texts.get("links.budget.request", [amount.getValue().trim() || "\u2026", name, address]);
          text.setValue(words);
          const subject = encodeURIComponent(Texts.get("links.budget.subject", [name]));
          mail.setHref(`mailto:?subject=${subject}&body=${encodeURIComponent(words)}`);
        };
        amount.attachLiveChange(say);
        say();
        Creating.ask(Component.getComponentById("promenade").getRootControl(), {
          title: Texts.get("links.budget.ask"),
          content: [
            Creating.labelled(Texts.get("links.budget.amount"), amount),
            Creating.labelled(Texts.get("links.budget.text"), text),
            mail
          ],
          action: Texts.get("links.budget.copy"),
          initialFocus: amount,
          confirm: () => Secret.copy(text)
        });
      }
    };
  }
);
