sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Column",
    "sap/m/ColumnListItem",
    "sap/m/HBox",
    "sap/m/Label",
    "sap/m/Link",
    "sap/m/Table",
    "sap/m/Text",
    "promenade/generic/Export",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/reports/Cards",
    "promenade/reports/Comparison",
    "promenade/reports/Numbers",
    "promenade/reports/Period",
    "promenade/reports/Plain",
    "promenade/reports/SaleDialog",
    "promenade/reports/Service"
  ],
  function (
    Button,
    Column,
    ColumnListItem,
    HBox,
    Label,
    Link,
    Table,
    Text,
    Export,
    Messages,
    Texts,
    Cards,
    Comparison,
    Numbers,
    Period,
    plain,
    SaleDialog,
    Service
  ) {
    "use strict";

    const STEP = 25;
    const ORDER = "confirmedAt desc,ID";
    const EXPORTED = [
      ["confirmedAt", "confirmedAt"],
      ["receiptId", "receipt"],
      ["transactionId", "transaction"],
      ["channel", "channel"],
      ["subtotal", "subtotal"],
      ["discount", "discount"],
      ["grandTotal", "grandTotal"],
      ["currency", "currency"]
    ];
    const COLUMNS = [
      ["confirmedAt"],
      ["receipt"],
      ["channel"],
      ["subtotal", "End"],
      ["discount", "End"],
      ["grandTotal", "End"]
    ];

    function conditionsOf({promotion, posGroup, from, to, currency}) {
      const {begin, end} = Period.moments({from, to});
      return Service.all(
        `confirmedAt ge ${begin} and confirmedAt lt ${end}`,
        `currency eq ${Service.text(currency)}`,
        promotion && Service.applied(promotion),
        posGroup && `posGroup_ID eq ${posGroup}`
      );
    }

    function rowOf(desk, row) {
      const money = (value) => new Text({text: Numbers.money(value, row.currency), textAlign: "End"});
      const open = new Link(
        plain({
          text: row.receiptId || row.transactionId,
          press: () => SaleDialog.open(desk, row.ID).catch((error) => Messages.show(error))
        })
      );
      return new ColumnListItem({
        cells: [
          new Text({text: Numbers.moment(row.confirmedAt)}),
          open,
          new Text(plain({text: row.channel || ""})),
          money(row.subtotal),
          money(row.discount),
          money(row.grandTotal)
        ]
      });
    }

    /** All of them as a file, as lists are saved. */
    function saving({t}, filter) {
      const query = `$filter=${encodeURIComponent(filter)}&$orderby=${encodeURIComponent(ORDER)}`;
      return Export.button({
        root: "/reporting/",
        binding: () => ({getDownloadUrl: () => `/reporting/CalculationLogs?${query}`}),
        columns: () => EXPORTED.map(([path, key]) => ({path, label: t(key)})),
        title: t("saleList")
      });
    }

    /** The sales themselves, a portion at a time. */
    async function table(desk, filter) {
      const {t, read} = desk;
      await Texts.ready();
      const rows = new Table({
        fixedLayout: false,
        noDataText: t("nothing"),
        columns: COLUMNS.map(([key, hAlign]) => new Column({header: new Label({text: t(key)}), hAlign}))
      });
      const more = new Button({text: t("moreSales"), type: "Transparent", visible: false});
      const state = new Text();
      async function load() {
        const skip = rows.getItems().length;
        const [{rows: found, count}] = await read("reporting", [
          {
            set: "CalculationLogs",
            filter,
            orderby: ORDER,
            skip,
            top: STEP,
            count: true,
            select: "ID,receiptId,transactionId,channel,subtotal,discount,grandTotal,currency,confirmedAt"
          }
        ]);
        found.forEach((row) => rows.addItem(rowOf(desk, row)));
        const shown = skip + found.length;
        state.setText(t("shownOf", Numbers.whole(shown), Numbers.whole(count)));
        more.setVisible(shown < count);
      }
      await load();
      more.attachPress(() => load().catch((error) => Messages.show(error)));
      return Cards.box({
        id: "sales",
        title: t("saleList"),
        note: t("saleListNote"),
        isWide: true,
        beside: () => [saving(desk, filter)],
        content: [rows, new HBox({items: [state, more], alignItems: "Center"}).addStyleClass("sapUiTinyMarginTop")]
      });
    }

    const SUMS = {revenue: "grandTotal", given: "discount", times: "$count"};

    const queries = (filter) => [
      {set: "CalculationLogs", apply: Service.sums(filter, [], SUMS)},
      {
        set: "CalculationLogs",
        apply: `filter(${filter})/compute(date(confirmedAt) as day)/${Service.sums("", ["day"], SUMS)}`,
        orderby: "day"
      }
    ];

    function figures(desk, total, then) {
      const {t, comparison} = desk;
      const figure = (label, name, write) => ({
        label: t(label),
        value: write(total?.[name] ?? 0),
        ...(comparison && {note: Comparison.note(desk, total?.[name], then?.[name], write)})
      });
      return Cards.figures([
        figure("sales", "times", Numbers.whole),
        figure("revenue", "revenue", desk.writeMoney),
        figure("discount", "given", desk.writeMoney)
      ]);
    }

    function byDay(desk, days, before) {
      const {t, state, comparison} = desk;
      const everyDay = (period, rows) => {
        const found = new Map(rows.map((row) => [row.day, row]));
        return Period.days(period).map((day) => found.get(day) || {day, revenue: 0, given: 0, times: 0});
      };
      const shown = comparison ? everyDay(state, days) : days;
      const then = comparison ? everyDay(comparison, before) : [];
      const revenue = desk.money(t("revenue"), shown, "revenue");
      const thens = shown.map((_, index) => then[index]?.revenue);
      const [earlier, change] = Comparison.columns(desk, revenue, thens, desk.writeMoney);
      return Cards.chart(t, {
        id: "salesByDay",
        title: t("salesByDay"),
        note: t("daysInUtc"),
        kind: "bar",
        isWide: true,
        data: {
          title: t("day"),
          labels: shown.map(({day}) => Numbers.day(day)),
          links: shown.map(({day}) => desk.href({from: day, to: day})),
          series: [revenue, earlier].filter(Boolean),
          extra: [change, desk.money(t("discount"), shown, "given"), desk.whole(t("sales"), shown, "times")].filter(
            Boolean
          )
        }
      });
    }

    /** All of them, and day by day; and those to compare with. */
    async function overall(desk, filter) {
      const earlier = desk.comparison ? queries(conditionsOf(desk.earlier)) : [];
      const answers = await desk.read("reporting", [...queries(filter), ...earlier]);
      const [[total], days, [then] = [], before = []] = answers.map(({rows}) => rows);
      return [figures(desk, total, then), byDay(desk, days, before)];
    }

    /** Confirmed sales, one by one: what each was calculated from. */
    return async function sales(desk) {
      const {state, t} = desk;
      const filter = conditionsOf(state);
      const parts = await Promise.all([
        desk.part({id: "salesByDay", title: t("salesByDay")}, () => overall(desk, filter)),
        desk.part({id: "sales", title: t("saleList")}, async () => [await table(desk, filter)])
      ]);
      return parts.flat();
    };
  }
);
