sap.ui.define(
  [
    "sap/m/MessageStrip",
    "sap/ui/core/Component",
    "promenade/generic/Export",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/net/Http",
    "promenade/resources/Following",
    "promenade/resources/Polling",
    "promenade/resources/Texts"
  ],
  function (MessageStrip, Component, Export, Format, Messages, Meta, Http, Following, Polling, Texts) {
    "use strict";

    const SET = "CouponCodeBatches";
    const UNDER_WAY = ["QUEUED", "RUNNING"];
    const NAMED = 3;
    /** @type {{rows: any[], count: number}} */
    const NOBODY = {rows: [], count: 0};
    const OF_ALL = "couponType_ID"; // the same in all rows

    const isUnderWay = ({status}) => UNDER_WAY.includes(status);

    const read = (id, signal) =>
      Http.get(`/admin/${SET}(${id})?$select=status,quantity,generatedCount,name&$expand=couponType($select=name)`, {
        signal
      });

    /** Who has downloaded the codes, the latest first, and how often that was done in all. */
    async function downloads(id, signal) {
      const filter = `ownerType eq '${SET}' and ownerId eq '${id}' and action eq 'EXPORT'`;
      const answer = await Http.get(
        `/admin/AuditLogs?$filter=${filter}&$orderby=timestamp desc&$top=${NAMED}&$count=true&$select=actor,timestamp`,
        {signal}
      );
      return {rows: answer.value, count: answer["@odata.count"]};
    }

    /** What to know before one downloads: `{text, type}` of a strip. */
    function about({status, generatedCount, quantity}, t, {rows, count} = NOBODY) {
      if (isUnderWay({status})) {
        return {text: t("resources.batchGoingOn", generatedCount, quantity), type: "Information"};
      }
      const failed = status === "FAILED" ? [t("resources.batchFailed", generatedCount, quantity)] : [];
      const named = rows.map((one) => t("resources.downloadedBy", one.actor, Format.dateTime(one.timestamp)));
      const earlier = count > rows.length ? [t("resources.downloadedMore", count - rows.length)] : [];
      const said = count
        ? t("resources.downloaded", [...named, ...earlier].join("; "))
        : t("resources.neverDownloaded");
      return {text: [...failed, said].join(" "), type: count || failed.length ? "Warning" : "Information"};
    }

    const strip = ({text, type}) => new MessageStrip({showIcon: true, type}).setText(text);

    /** Says how far the codes are, until all are there and the page is read again. */
    async function watch(id, shown, t, view, signal) {
      await Polling.until(
        () => read(id, signal),
        (batch) => !isUnderWay(batch),
        {signal, onValue: (batch) => isUnderWay(batch) && shown.setText(about(batch, t).text)}
      );
      if (!signal.aborted) {
        view.getController().reread();
      }
    }

    return {
      UNDER_WAY,

      /** The download of a batch's codes: not before all are there, and with the names of those who have them. */
      create(view, model) {
        const box = new Following();
        return box.follow(view, ["status"], async ({ID}, signal) => {
          const [t, codes, batch, before] = await Promise.all([
            Texts.of(Component.getComponentById("promenade")),
            Meta.of(model, "CouponCodes"),
            read(ID, signal),
            downloads(ID, signal)
          ]);
          const shown = strip(about(batch, t, before)).addStyleClass("sapUiSmallMarginBottom");
          if (isUnderWay(batch)) {
            watch(ID, shown, t, view, signal).catch((error) => signal.aborted || Messages.show(error));
            return [shown];
          }
          const button = Export.button({
            binding: () => ({getDownloadUrl: () => `/admin/${SET}(${ID})/codes`}),
            columns: () => codes.columns.filter((one) => one.path !== OF_ALL).map(Export.columnOf),
            title: t("resources.codesOf", batch.name || batch.couponType.name),
            onSaved: () => Following.refresh(view)
          });
          return [shown, button];
        });
      }
    };
  }
);
