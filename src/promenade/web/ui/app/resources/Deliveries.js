sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/MessageToast",
    "sap/m/ObjectStatus",
    "sap/m/OverflowToolbar",
    "sap/m/SegmentedButton",
    "sap/m/SegmentedButtonItem",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/ToolbarSpacer",
    "sap/m/VBox",
    "sap/ui/core/Component",
    "sap/ui/core/InvisibleText",
    "sap/ui/model/Filter",
    "sap/ui/model/Sorter",
    "promenade/generic/Displays",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/net/Http",
    "promenade/resources/DeliveryDialog",
    "promenade/resources/Doing",
    "promenade/resources/Following",
    "promenade/resources/Polling",
    "promenade/resources/Texts",
    "promenade/resources/style"
  ],
  function (
    Button,
    Column,
    ColumnListItem,
    MessageToast,
    ObjectStatus,
    OverflowToolbar,
    SegmentedButton,
    SegmentedButtonItem,
    Table,
    Text,
    ToolbarSpacer,
    VBox,
    Component,
    InvisibleText,
    Filter,
    Sorter,
    Displays,
    Format,
    Messages,
    Meta,
    Http,
    DeliveryDialog,
    Doing,
    Following,
    Polling,
    Texts,
    style
  ) {
    "use strict";

    const SET = "NotificationLogs";
    const STATES = {
      all: [],
      failed: ["DEAD_LETTER", "RETRYING"],
      waiting: ["PENDING", "RETRYING"],
      done: ["DELIVERED"]
    };
    const FOLDED = {minScreenWidth: "Tablet", demandPopin: true}; // below the others on a telephone
    const LOOKS = 8; // for what became of a delivery that was sent again
    const unread = (path) => ({path, targetType: "any"});

    function filtersOf(id, state) {
      const states = STATES[state].map((status) => new Filter("status", "EQ", status));
      return [
        new Filter("subscription_ID", "EQ", id),
        ...(states.length ? [new Filter({filters: states, and: false})] : [])
      ];
    }

    const Deliveries = {
      /** Sends the event of a delivery once more. */
      async replay(model, context) {
        await Doing.call(context, await Doing.action(model, SET, "replay"));
        const t = await Texts.of(Component.getComponentById("promenade"));
        MessageToast.show(t("resources.sentAgain"));
      },

      /** The log of what was sent to a subscription. */
      create(view, model) {
        return new Following().follow(view, ["isActive"], async ({ID}, signal) => {
          style();
          const [t, meta] = await Promise.all([Texts.of(Component.getComponentById("promenade")), Meta.of(model, SET)]);
          return [tableOf({t, meta, model, id: ID, signal})];
        });
      }
    };

    /** What the receiver said, and when it is asked again. */
    function answer(t) {
      const next = new Text({
        visible: {...unread("nextAttemptAt"), formatter: Boolean},
        text: {...unread("nextAttemptAt"), formatter: (at) => (at ? t("resources.nextTry", Format.dateTime(at)) : "")}
      });
      return new VBox({
        items: [
          new Text({
            text: {
              parts: [unread("httpStatus"), unread("lastError")],
              formatter: (status, error) => [status, error].filter(Boolean).join(" · ")
            }
          }),
          next.addStyleClass("promenadeSmall")
        ]
      });
    }

    /** How many deliveries are still on their way, while there are any; the table is read again meanwhile. */
    function watch({t, id, signal}, table, progress) {
      const say = async () => {
        const apply = `filter(subscription_ID eq ${id} and status eq 'PENDING')/aggregate($count as waiting)`;
        const {value} = await Http.get(`/admin/${SET}?$apply=${encodeURIComponent(apply)}`, {signal});
        const waiting = value[0]?.waiting || 0;
        progress.setText(t("resources.beingSent", Format.number(waiting))).setVisible(waiting > 0);
      };
      const isUnderWay = (row) => row.getProperty("status") === "PENDING";
      const onValue = () => say().catch((error) => signal.aborted || Messages.show(error));
      Polling.rows(table.getBinding("items"), isUnderWay, signal, onValue);
    }

    /** Looks a few times what became of it: receivers answer within seconds or not at all. */
    async function look(id, table, signal) {
      let looks = 0;
      await Polling.until(
        () => Http.get(`/admin/${SET}(${id})?$select=status`, {signal}),
        ({status}) => ++looks >= LOOKS || !["PENDING", "RETRYING"].includes(status),
        {signal}
      );
      table.getBinding("items")?.refresh();
    }

    function replayButton({t, model, signal}, table) {
      return new Button({
        text: t("resources.replay"),
        type: "Transparent",
        async press(event) {
          const button = event.getSource();
          const row = button.getBindingContext();
          button.setBusy(true);
          try {
            await Deliveries.replay(model, row);
            await look(row.getProperty("ID"), table, signal);
          } catch (error) {
            if (!signal.aborted) {
              Messages.show(error);
            }
          } finally {
            button.setBusy(false);
          }
        }
      });
    }

    function detailsButton(t) {
      return new Button({
        icon: "sap-icon://detail-view",
        tooltip: t("resources.delivery.show"),
        type: "Transparent",
        async press(event) {
          try {
            await DeliveryDialog.open(event.getSource().getBindingContext().getProperty("ID"));
          } catch (error) {
            Messages.show(error);
          }
        }
      });
    }

    function toolbar({t, id}, table, label, progress) {
      return new OverflowToolbar({
        style: "Clear",
        content: [
          new SegmentedButton({
            ariaLabelledBy: [label],
            selectedKey: "all",
            items: Object.keys(STATES).map(
              (key) => new SegmentedButtonItem({key, text: t(`resources.deliveries.${key}`)})
            ),
            selectionChange: (event) =>
              table.getBinding("items").filter(filtersOf(id, event.getParameter("item").getKey()))
          }),
          progress,
          new ToolbarSpacer(),
          new Button({
            icon: "sap-icon://refresh",
            type: "Transparent",
            tooltip: t("resources.refresh"),
            press: () => table.getBinding("items").refresh()
          })
        ]
      });
    }

    /** Where a delivery stands, in words. */
    function statusOf(t) {
      return new ObjectStatus({
        text: {...unread("status"), formatter: (status) => (status ? t(`resources.delivery.${status}`) : "")},
        state: {...unread("status"), formatter: (status) => DeliveryDialog.COLOURS[status] || "None"}
      });
    }

    function rowOf(given, table, mayReplay) {
      const {t, meta} = given;
      return new ColumnListItem({
        cells: [
          Displays.display(meta.field("createdAt"), {isInList: true}),
          new VBox({
            items: [
              new Text({text: "{eventType}"}),
              new Text({
                text: {...unread("eventType"), formatter: (kind) => (kind ? t(`resources.event.${kind}`) : "")}
              }).addStyleClass("promenadeSmall")
            ]
          }),
          statusOf(t),
          new Text({text: "{attempts}"}),
          answer(t),
          detailsButton(t),
          ...(mayReplay ? [replayButton(given, table)] : [])
        ]
      });
    }

    function tableOf(given) {
      const {t, meta, id} = given;
      const mayReplay = meta.actions.length > 0 && Doing.may("update", "WebhookSubscriptions");
      const label = new InvisibleText({text: t("resources.deliveries")}).toStatic();
      const column = (text, settings) => new Column({...settings, header: new Text().setText(text)});
      const table = new Table({
        growing: true,
        growingThreshold: 20,
        noDataText: t("resources.noDeliveries"),
        ariaLabelledBy: [label],
        columns: [
          column(meta.field("createdAt").label, {width: "11rem"}),
          column(meta.field("eventType").label),
          column(meta.field("status").label, {width: "9rem", ...FOLDED}),
          column(meta.field("attempts").label, {width: "5rem", hAlign: "End", ...FOLDED}),
          column(t("resources.answer"), {minScreenWidth: "Desktop", demandPopin: true}),
          new Column({width: "3.5rem", header: new Text({text: t("resources.delivery.show"), visible: false})}),
          ...(mayReplay
            ? [
                new Column({
                  width: "8rem",
                  ...FOLDED,
                  popinDisplay: "WithoutHeader",
                  hAlign: "End",
                  header: new Text({text: t("resources.replay"), visible: false})
                })
              ]
            : [])
        ]
      });
      table.addDependent(label);
      const progress = new ObjectStatus({state: "Information", icon: "sap-icon://synchronize", visible: false});
      table.setHeaderToolbar(toolbar(given, table, label, progress));
      table.bindItems({
        path: `/${SET}`,
        templateShareable: false,
        filters: filtersOf(id, "all"),
        sorter: [new Sorter("createdAt", true)],
        parameters: {$count: true, $select: "ID,httpStatus,lastError,nextAttemptAt"},
        template: rowOf(given, table, mayReplay),
        events: {dataReceived: () => watch(given, table, progress)}
      });
      return table;
    }

    return Deliveries;
  }
);
