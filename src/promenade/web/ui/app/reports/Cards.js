sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/OverflowToolbar",
    "sap/m/Panel",
    "sap/m/SegmentedButton",
    "sap/m/SegmentedButtonItem",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/ToolbarSpacer",
    "sap/m/VBox",
    "promenade/generic/Messages",
    "promenade/reports/Chart",
    "promenade/reports/Figure",
    "promenade/reports/Plain",
    "promenade/reports/TableFile"
  ],
  function (
    Button,
    OverflowToolbar,
    Panel,
    SegmentedButton,
    SegmentedButtonItem,
    Text,
    Title,
    ToolbarSpacer,
    VBox,
    Messages,
    Chart,
    Figure,
    plain,
    TableFile
  ) {
    "use strict";

    /** The boxes that reports are made of. `id` becomes a CSS class, `t` gives texts of reports. */
    const Cards = {
      /**
       * A box with a title, what `beside(title)` makes to stand next to it, and a content.
       *
       * @param {object} options
       * @param {string} options.id
       * @param {string} options.title
       * @param {string} [options.note]
       * @param {boolean} [options.isWide]
       * @param {(heading: any) => any[]} [options.beside]
       * @param {any[]} [options.content]
       */
      box({id, title, note, isWide, beside = () => [], content = []}) {
        const heading = new Title(plain({text: title, level: "H2", titleStyle: "H5", wrapping: true}));
        const notes = note ? [new Text(plain({text: note})).addStyleClass("promNote sapThemeTextLight")] : [];
        const box = new Panel({
          accessibleRole: "Region",
          width: "auto",
          headerToolbar: new OverflowToolbar({
            style: "Clear",
            content: [heading, new ToolbarSpacer(), ...beside(heading)]
          }),
          content: [...notes, ...content]
        });
        return box.addStyleClass(`promCard promCard-${id}${isWide ? " promWide" : ""}`);
      },

      /**
       * A chart that can be turned into its table, which is saved as a file; without figures it says so.
       *
       * `whole()` brings what the file has, where that is more than is shown.
       *
       * @param {(key: string, ...values: any[]) => string} t
       * @param {object} options
       * @param {string} options.id
       * @param {string} options.title
       * @param {string} [options.note]
       * @param {boolean} [options.isWide]
       * @param {string} options.kind
       * @param {{title?: string, labels: any[], links?: any[], series: any[], extra?: any[]}} options.data
       * @param {(value: any) => string} [options.axis]
       * @param {string} [options.height]
       * @param {string} [options.gist]
       * @param {(chart: any) => any} [options.more]
       * @param {() => any} [options.whole]
       */
      chart(t, {id, title, note, isWide, kind, data, axis, height, gist, more, whole}) {
        if (!data.labels.length) {
          return Cards.box({id, title, note, isWide, content: [new Text({text: t("nothing")})]});
        }
        const chart = new Chart(
          plain({kind, axis, caption: title, gist: gist || Cards.gist(t, title, data), height})
        ).setData(data);
        const content = more ? [chart, more(chart)] : [chart];
        const file = TableFile.button(t, title, whole || (() => chart.getData()));
        const beside = (heading) => [file, toggle(t, chart, heading)];
        return Cards.box({id, title, note, isWide, beside, content});
      },

      /**
       * Bars across, of which `load(top)` brings the first so many as `{data, count}`, and more of them on demand.
       *
       * @param {(key: string, ...values: any[]) => string} t
       * @param {any} options
       */
      async ranking(t, {step = 10, load, ...card}) {
        const first = await load(step);
        const heightOf = ({data}) => `${Math.max(8, data.labels.length * 2 + 3)}rem`;
        const button = new Button({text: t("more"), type: "Transparent", visible: first.count > step});
        let top = step;
        const more = (chart) =>
          button.attachPress(async () => {
            top += step;
            try {
              const found = await load(top);
              chart
                .setHeight(heightOf(found))
                .setData(found.data)
                .setGist(Cards.gist(t, card.title, found.data));
              button.setVisible(found.count > top);
            } catch (error) {
              Messages.show(error);
            }
          });
        const whole = async () => (await load(Math.max(first.count, step))).data;
        return Cards.chart(t, {kind: "ranking", ...card, data: first.data, height: heightOf(first), more, whole});
      },

      /** Figures side by side: `[{label, value, note, href, isUrgent}]`. */
      figures(all) {
        return new VBox({renderType: "Bare", items: all.map((one) => new Figure(plain(one)))}).addStyleClass(
          "promFigures promWide"
        );
      },

      /** What a chart says in one sentence, for who does not see it. */
      gist(t, title, {labels, series}) {
        const [{values, texts}] = series;
        const known = values.map((value, index) => ({value, index})).filter(({value}) => Number.isFinite(value));
        if (!known.length) {
          return title;
        }
        const sorted = known.toSorted((one, other) => one.value - other.value);
        const [low, high] = [sorted[0].index, sorted.at(-1).index];
        return t("gist", title, labels.length, texts[high], labels[high], texts[low], labels[low]);
      },

      /** A column of words that only the table has. */
      words: (label, rows, write) => ({label, values: [], texts: rows.map(write)}),

      /** A series of chart data: the values of a column, and how each is read. */
      series(label, rows, value, write, more) {
        return {label, values: rows.map(value), texts: rows.map((row) => write(value(row), row)), ...more};
      }
    };

    function toggle(t, chart, heading) {
      const title = heading.getText();
      return new SegmentedButton({
        ariaLabelledBy: [heading],
        selectedKey: "chart",
        items: [
          new SegmentedButtonItem(plain({key: "chart", icon: "sap-icon://bar-chart", tooltip: t("asChart", title)})),
          new SegmentedButtonItem(plain({key: "table", icon: "sap-icon://table-view", tooltip: t("asTable", title)}))
        ],
        selectionChange: (event) => chart.setIsTable(event.getParameter("item").getKey() === "table")
      });
    }

    return Cards;
  }
);
