sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/Label",
    "sap/m/ObjectStatus",
    "sap/m/Text",
    "sap/m/TextArea",
    "sap/m/VBox",
    "sap/ui/core/Component",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/resources/Polling",
    "promenade/resources/Texts"
  ],
  function (
    Button,
    Dialog,
    Label,
    ObjectStatus,
    Text,
    TextArea,
    VBox,
    Component,
    Format,
    Messages,
    Http,
    Polling,
    Texts
  ) {
    "use strict";

    const COLOURS = {PENDING: "None", RETRYING: "Warning", DELIVERED: "Success", DEAD_LETTER: "Error"};
    const ENDS = ["DELIVERED", "DEAD_LETTER"];

    /** A body with line breaks where it is JSON. */
    function readable(body) {
      try {
        return JSON.stringify(JSON.parse(body), null, 2);
      } catch {
        return body;
      }
    }

    /** Text of somebody else: it is set as a value, never read as HTML or as a binding. */
    const area = () => new TextArea({width: "100%", editable: false, growing: true, growingMaxLines: 14});

    /** The parts of the dialog, and `show(delivery)`, which fills in what is known of it. */
    function partsOf(t) {
      const status = new ObjectStatus();
      const answer = new Text();
      const duration = new Text();
      const next = new Text();
      const body = area();
      const payload = area();
      const labelled = (key, control) => [
        new Label({text: t(key), labelFor: control, showColon: true}).addStyleClass("sapUiTinyMarginTop"),
        control
      ];
      const content = [
        ...labelled("resources.status", status),
        ...labelled("resources.answer", answer),
        next,
        ...labelled("resources.delivery.took", duration),
        ...labelled("resources.delivery.body", body),
        ...labelled("resources.delivery.payload", payload)
      ];
      return {
        content,
        payload,
        show(one) {
          status.setText(t(`resources.delivery.${one.status}`)).setState(COLOURS[one.status]);
          answer.setText([one.httpStatus, one.lastError].filter(Boolean).join(" · ") || t("resources.delivery.none"));
          next.setText(one.nextAttemptAt ? t("resources.nextTry", Format.dateTime(one.nextAttemptAt)) : "");
          next.setVisible(Boolean(one.nextAttemptAt));
          const took = one.durationInMs;
          duration.setText(took === null ? "–" : t("resources.delivery.milliseconds", Format.number(took)));
          body.setValue(one.responseBody || "").setPlaceholder(t("resources.delivery.noBody"));
        }
      };
    }

    return {
      COLOURS,

      /**
       * Shows what was sent with a delivery and what the receiver answered, and follows it while it is open, until
       * nothing more is sent.
       *
       * @param {string} id
       */
      async open(id) {
        const address = `/admin/NotificationLogs(${id})`;
        const [t, first, sent] = await Promise.all([
          Texts.of(Component.getComponentById("promenade")),
          Http.get(address),
          Http.get(`${address}/AdminService.payload()`)
        ]);
        const {content, payload, show} = partsOf(t);
        const stop = new AbortController();
        payload.setValue(sent ? readable(sent.value) : "").setPlaceholder(t("resources.delivery.gone"));
        show(first);
        const dialog = new Dialog({
          title: first.eventType,
          contentWidth: "40rem",
          content: [new VBox({items: content})],
          endButton: new Button({text: t("resources.delivery.close"), press: () => dialog.close()}),
          afterClose() {
            stop.abort();
            dialog.destroy();
          }
        }).addStyleClass("sapUiContentPadding");
        dialog.open();
        const {signal} = stop;
        Polling.until(
          () => Http.get(address, {signal}),
          ({status}) => ENDS.includes(status),
          {onValue: show, signal}
        ).catch((error) => (signal.aborted ? undefined : Messages.show(error)));
      }
    };
  }
);
