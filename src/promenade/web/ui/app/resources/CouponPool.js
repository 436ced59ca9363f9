sap.ui.define(
  [
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/FlexBox",
    "sap/m/Link",
    "sap/m/ObjectStatus",
    "sap/m/ProgressIndicator",
    "sap/m/Table",
    "sap/m/Text",
    "sap/m/Title",
    "sap/ui/core/Component",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/resources/Following",
    "promenade/resources/Polling",
    "promenade/resources/Texts",
    "promenade/session/Session"
  ],
  function (
    Column,
    ColumnListItem,
    FlexBox,
    Link,
    ObjectStatus,
    ProgressIndicator,
    Table,
    Text,
    Title,
    Component,
    JSONModel,
    Format,
    Messages,
    Http,
    Following,
    Polling,
    Texts,
    Session
  ) {
    "use strict";

    const SHOWN = 5;
    const STATES = {QUEUED: "None", RUNNING: "Information", COMPLETED: "Success", FAILED: "Error"};
    const isUnderWay = (batch) => batch.status === "QUEUED" || batch.status === "RUNNING";

    /** What became of the codes of a type, as reporting counts them; none before the first was made. */
    async function counts(id, signal) {
      if (!Session.current().services.reporting) {
        return null;
      }
      const {value} = await Http.get(`/reporting/CouponAnalytics?$filter=couponTypeId eq ${id}`, {signal});
      return value[0] || null;
    }

    async function batches(id, signal) {
      const {value} = await Http.get(
        `/admin/CouponCodeBatches?$filter=couponType_ID eq ${id}&$orderby=createdAt desc&$top=${SHOWN}` +
          "&$select=ID,name,quantity,generatedCount,status,createdAt,createdBy",
        {signal}
      );
      return value;
    }

    function figure(title, name) {
      return new ObjectStatus({
        title,
        text: {path: `pool>/counts/${name}`, formatter: (value) => Format.number(value)}
      }).addStyleClass("sapUiMediumMarginEnd sapUiSmallMarginBottom");
    }

    function figures(t) {
      const names = ["totalPooled", "totalIssued", "totalRedeemed", "totalReserved", "totalExpired", "totalCancelled"];
      return new FlexBox({
        wrap: "Wrap",
        renderType: "Bare",
        visible: "{= !!${pool>/counts} }",
        items: [
          ...names.map((name) => figure(t(`resources.${name}`), name)),
          new ObjectStatus({
            title: t("resources.redemptionRate"),
            text: {
              path: "pool>/counts/redemptionRate",
              formatter: (value) => (value === null ? "–" : Format.percent(value))
            }
          })
        ]
      });
    }

    function table(t) {
      const heading = new Title({text: t("resources.batches"), level: "H3"});
      const column = (key, settings) => new Column({...settings, header: new Text({text: t(key)})});
      return [
        heading,
        new Table({
          ariaLabelledBy: [heading],
          noDataText: t("resources.noBatches"),
          columns: [
            column("resources.batchStatus", {width: "10rem"}),
            column("resources.progress"),
            column("resources.batchBy", {minScreenWidth: "Tablet"}),
            column("resources.batchAt", {minScreenWidth: "Tablet"})
          ],
          items: {
            path: "pool>/batches",
            templateShareable: false,
            template: new ColumnListItem({
              cells: [
                new ObjectStatus({
                  text: {path: "pool>status", formatter: (status) => t(`resources.batch.${status}`)},
                  state: {path: "pool>status", formatter: (status) => STATES[status]}
                }),
                new ProgressIndicator({
                  width: "100%",
                  percentValue: "{= 100 * ${pool>generatedCount} / ${pool>quantity} }",
                  state: {path: "pool>status", formatter: (status) => STATES[status]},
                  displayValue: {
                    parts: ["pool>generatedCount", "pool>quantity"],
                    formatter: (done, all) => t("resources.doneOf", done, all)
                  }
                }),
                new Text({text: "{pool>createdBy}"}),
                new Text({text: {path: "pool>createdAt", formatter: (at) => Format.dateTime(at)}})
              ]
            })
          }
        })
      ];
    }

    return {
      /** What there is of codes, and how far those are that are being made. */
      create(view) {
        const model = new JSONModel({counts: null, batches: []});
        const box = new Following();
        let built = null;
        box.setModel(model, "pool");

        /** Looks on while codes are being made, and counts once more when they are. */
        async function watch(id, signal) {
          const read = () => batches(id, signal);
          await Polling.until(read, (rows) => !rows.some(isUnderWay), {
            signal,
            onValue: (rows) => model.setProperty("/batches", rows)
          });
          if (!signal.aborted) {
            view.getController().reread(); // what was made shows in the rest of the page too
          }
        }

        return box.follow(view, [], async ({ID}, signal) => {
          const t = await Texts.of(Component.getComponentById("promenade"));
          const [found, rows] = await Promise.all([counts(ID, signal), batches(ID, signal)]);
          model.setData({counts: found, batches: rows});
          if (rows.some(isUnderWay)) {
            watch(ID, signal).catch((error) => signal.aborted || Messages.show(error));
          }
          const isFirst = !built;
          built = built || [
            figures(t),
            ...table(t),
            new Link({text: t("resources.couponReport"), href: ""}).addStyleClass("sapUiSmallMarginTop")
          ];
          built.at(-1).setHref(`#/reports/coupons?couponType=${ID}`);
          return isFirst ? built : null;
        });
      }
    };
  }
);
