sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/Link",
    "sap/m/Table",
    "sap/m/Text",
    "sap/ui/core/Component",
    "sap/ui/core/InvisibleText",
    "sap/ui/model/Filter",
    "sap/ui/model/Sorter",
    "promenade/generic/Addresses",
    "promenade/generic/Displays",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/net/Http",
    "promenade/resources/Doing",
    "promenade/resources/Following",
    "promenade/resources/Texts",
    "promenade/resources/TimeBar",
    "promenade/resources/style"
  ],
  function (
    Button,
    Column,
    ColumnListItem,
    Link,
    Table,
    Text,
    Component,
    InvisibleText,
    Filter,
    Sorter,
    Addresses,
    Displays,
    Format,
    Messages,
    Meta,
    Http,
    Doing,
    Following,
    Texts,
    TimeBar,
    style
  ) {
    "use strict";

    const SET = "Campaigns";
    const DAY_MS = 86_400_000;

    /** The window that bars are drawn in: the campaign's, and where that is open its promotions', with some air. */
    async function windowOf({ID, startAt, endAt}, signal) {
      const apply = `filter(campaign_ID eq ${ID})/aggregate(validFrom with min as first,validTo with max as last)`;
      const {
        value: [found = {}]
      } =
        startAt && endAt
          ? {value: []}
          : await Http.get(`/admin/Promotions?$apply=${encodeURIComponent(apply)}`, {signal});
      const from = startAt || found.first || new Date(Date.now() - 14 * DAY_MS).toISOString();
      const last = endAt || found.last;
      return {
        from,
        to: last && last > from ? last : new Date(Math.max(Date.now(), Date.parse(from)) + 28 * DAY_MS).toISOString()
      };
    }

    const period = (t, from, to) =>
      t("resources.period", from ? Format.begin(from) : t("resources.ever"), to ? Format.end(to) : t("resources.ever"));

    function remover({t, context, view}) {
      return new Button({
        icon: "sap-icon://less",
        type: "Transparent",
        tooltip: t("resources.removePromotion"),
        async press(event) {
          const row = event.getSource().getBindingContext();
          try {
            const question = t("resources.removeQuestion", row.getProperty("name"));
            if (await Messages.confirm(question, {action: t("resources.removePromotion")})) {
              const action = await Doing.action(context.getModel(), SET, "removePromotion");
              await Doing.call(context, action, {promotionId: row.getProperty("ID")});
              Following.refresh(view);
            }
          } catch (error) {
            Messages.show(error);
          }
        }
      });
    }

    function rowOf(given) {
      const {t, meta, frame, mayRemove} = given;
      const unread = (path) => ({path, targetType: "any"});
      return new ColumnListItem({
        cells: [
          new Link({
            text: "{name}",
            wrapping: true,
            href: {...unread("ID"), formatter: (id) => (id ? Addresses.href("Promotions", id) : "")}
          }),
          new Text({text: "{code}"}),
          Displays.display(meta.field("status"), {isInList: true}),
          new TimeBar({
            ...frame,
            startsAt: unread("validFrom"),
            endsAt: unread("validTo"),
            text: {parts: [unread("validFrom"), unread("validTo")], formatter: (from, to) => period(t, from, to)}
          }),
          ...(mayRemove ? [remover(given)] : [])
        ]
      });
    }

    function table(given) {
      const {t, meta, id, frame, mayRemove} = given;
      const column = (text, settings) => new Column({...settings, header: new Text().setText(text)});
      const label = new InvisibleText({text: t("resources.timeline")}).toStatic();
      const made = new Table({
        growing: true,
        growingThreshold: 30,
        noDataText: t("resources.noPromotions"),
        ariaLabelledBy: [label],
        columns: [
          column(meta.field("name").label),
          column(meta.field("code").label, {minScreenWidth: "Desktop", width: "10rem"}),
          column(meta.field("status").label, {width: "9rem"}),
          column(period(t, frame.from, frame.to), {width: "40%", minScreenWidth: "Tablet", demandPopin: true}),
          ...(mayRemove
            ? [new Column({width: "3.5rem", header: new Text({text: t("resources.removePromotion"), visible: false})})]
            : [])
        ]
      });
      made.addDependent(label);
      made.bindItems({
        path: "/Promotions",
        template: rowOf(given),
        templateShareable: false,
        filters: [new Filter("campaign_ID", "EQ", id)],
        sorter: [new Sorter("validFrom"), new Sorter("name")],
        parameters: {$count: true, $select: "ID,IsActiveEntity,validFrom,validTo"}
      });
      return made;
    }

    return {
      /** The promotions of a campaign and when each of them runs. */
      create(view, model) {
        return new Following().follow(view, ["startAt", "endAt", "locked"], async (values, signal) => {
          style();
          const [t, meta, frame] = await Promise.all([
            Texts.of(Component.getComponentById("promenade")),
            Meta.of(model, "Promotions"),
            windowOf(values, signal)
          ]);
          const context = view.getBindingContext();
          const mayRemove = Doing.isOpen(SET, context) && values.locked !== true;
          return [
            table({t, meta, frame, id: values.ID, mayRemove, context, view}),
            new Link({
              text: t("resources.calendar"),
              href: `#/promotions/calendar?from=${frame.from.slice(0, 8)}01&rows=campaign`
            }).addStyleClass("sapUiSmallMarginTop")
          ];
        });
      }
    };
  }
);
