sap.ui.define(
  ["sap/ui/core/Control", "promenade/framework/chart", "promenade/reports/chartOptions"],
  function (Control, ChartJs, chartOptions) {
    "use strict";

    /**
     * A chart and its twin, a table of the same figures. One is seen at a time; a screen reader always has the table.
     *
     * `data` is `{labels, series: [{label, values, texts}], title}`: `texts` are the values as they are read, `title`
     * is what the labels are. `links` are where a bar leads, and its label in the table, which shows the series `extra`
     * too.
     */
    const Chart = Control.extend("promenade.reports.Chart", {
      metadata: {
        properties: {
          kind: {type: "string", defaultValue: "bar"},
          data: {type: "object", defaultValue: null},
          gist: {type: "string", defaultValue: ""},
          caption: {type: "string", defaultValue: ""},
          height: {type: "sap.ui.core.CSSSize", defaultValue: "18rem"},
          isTable: {type: "boolean", defaultValue: false},
          axis: {type: "function", defaultValue: null}
        }
      },

      renderer: {
        apiVersion: 2,

        render(rm, chart) {
          const isTable = chart.getIsTable();
          rm.openStart("div", chart).class("promChart").openEnd();
          rm.openStart("div").class("promChartPicture").attr("role", "img").attr("aria-label", chart.getGist());
          rm.style("height", isTable ? "0" : chart.getHeight())
            .class(isTable ? "promUnseen" : "promSeen")
            .openEnd();
          rm.openStart("canvas", `${chart.getId()}-canvas`).openEnd().close("canvas");
          rm.close("div");
          rm.openStart("div").class(isTable ? "promTwin" : "promUnseen");
          if (isTable) {
            rm.attr("tabindex", "0").attr("role", "region").attr("aria-label", chart.getCaption());
          }
          rm.openEnd();
          renderTable(rm, chart);
          rm.close("div").close("div");
        }
      },

      onBeforeRendering() {
        this._end();
      },

      onAfterRendering() {
        const canvas = document.getElementById(`${this.getId()}-canvas`);
        if (!this.getIsTable() && this.getData() && canvas) {
          this._drawn = new ChartJs(canvas, chartOptions(this.getKind(), this.getData(), this.getAxis()));
        }
      },

      /** Colours are read while it is drawn: another theme draws it again. */
      onThemeChanged() {
        if (this._drawn) {
          this.invalidate();
        }
      },

      exit() {
        this._end();
      },

      _end() {
        if (this._drawn) {
          this._drawn.destroy();
          this._drawn = null;
        }
      }
    });

    function renderTable(rm, chart) {
      const {labels = [], links = [], series: drawn = [], extra = [], title = ""} = chart.getData() || {};
      const series = [...drawn, ...extra];
      rm.openStart("table").openEnd();
      rm.openStart("caption").openEnd().text(chart.getCaption()).close("caption");
      rm.openStart("thead").openEnd().openStart("tr").openEnd();
      [title, ...series.map((one) => one.label)].forEach((text) => {
        rm.openStart("th").attr("scope", "col").openEnd().text(text).close("th");
      });
      rm.close("tr").close("thead").openStart("tbody").openEnd();
      labels.forEach((label, index) => {
        rm.openStart("tr").openEnd().openStart("th").attr("scope", "row").openEnd();
        if (links[index] && chart.getIsTable()) {
          rm.openStart("a").attr("href", links[index]).openEnd().text(label).close("a");
        } else {
          rm.text(label);
        }
        rm.close("th");
        series.forEach((one) => rm.openStart("td").openEnd().text(one.texts[index]).close("td"));
        rm.close("tr");
      });
      rm.close("tbody").close("table");
    }

    return Chart;
  }
);
