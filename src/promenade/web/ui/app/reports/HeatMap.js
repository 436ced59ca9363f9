sap.ui.define(["sap/ui/core/Control", "promenade/reports/Numbers"], function (Control, Numbers) {
  "use strict";

  const STEPS = 5;
  const HOURS = Array.from({length: 24}, (_, hour) => hour);
  const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7];
  const MOVES = {
    ArrowRight: ([row, column]) => [row, column + 1],
    ArrowLeft: ([row, column]) => [row, column - 1],
    ArrowDown: ([row, column]) => [row + 1, column],
    ArrowUp: ([row, column]) => [row - 1, column],
    Home: ([row]) => [row, 0],
    End: ([row]) => [row, HOURS.length - 1]
  };

  /**
   * The hours of a week as a grid of shades with values; arrow keys move within it.
   *
   * `data` is `{values: Map of "weekday hour" -> number, write(value) -> text, short(value) -> text in the cell}`.
   */
  const HeatMap = Control.extend("promenade.reports.HeatMap", {
    metadata: {
      properties: {
        data: {type: "object", defaultValue: null},
        caption: {type: "string", defaultValue: ""},
        legend: {type: "string", defaultValue: ""}
      }
    },

    renderer: {
      apiVersion: 2,

      render(rm, map) {
        const {values, write, short} = map.getData();
        const highest = Math.max(0, ...values.values());
        rm.openStart("div", map).openEnd();
        rm.openStart("div").class("promHeatFrame").openEnd();
        rm.openStart("table").class("promHeat").attr("role", "grid").attr("aria-label", map.getCaption()).openEnd();
        renderHead(rm);
        rm.openStart("tbody").openEnd();
        WEEKDAYS.forEach((weekday) => {
          rm.openStart("tr").attr("role", "row").openEnd();
          rm.openStart("th")
            .attr("scope", "row")
            .attr("role", "rowheader")
            .openEnd()
            .text(Numbers.weekdayShort(weekday))
            .close("th");
          HOURS.forEach((hour) => {
            const value = values.get(`${weekday} ${hour}`) || 0;
            renderCell(rm, {
              weekday,
              hour,
              step: stepOf(value, highest),
              text: write(value),
              short: value ? short(value) : ""
            });
          });
          rm.close("tr");
        });
        rm.close("tbody").close("table").close("div");
        renderLegend(rm, map, highest, write);
        rm.close("div");
      }
    },

    onkeydown(event) {
      const move = MOVES[event.key];
      const cell = event.target.closest("td");
      if (!move || !cell) {
        return;
      }
      const [row, column] = move([Number(cell.dataset.weekday) - 1, Number(cell.dataset.hour)]);
      const next = this.getDomRef().querySelector(`td[data-weekday="${row + 1}"][data-hour="${column}"]`);
      if (next) {
        cell.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      }
      event.preventDefault();
    }
  });

  const stepOf = (value, highest) => (value > 0 ? Math.max(1, Math.ceil((value / highest) * STEPS)) : 0);

  function renderHead(rm) {
    rm.openStart("thead").openEnd().openStart("tr").attr("role", "row").openEnd();
    rm.openStart("td").attr("role", "gridcell").openEnd().close("td");
    HOURS.forEach((hour) => {
      rm.openStart("th")
        .attr("scope", "col")
        .attr("role", "columnheader")
        .attr("aria-label", Numbers.hour(hour))
        .openEnd();
      rm.text(String(hour)).close("th");
    });
    rm.close("tr").close("thead");
  }

  function renderCell(rm, {weekday, hour, step, text, short}) {
    const said = `${Numbers.weekday(weekday)}, ${Numbers.hour(hour)}: ${text}`;
    rm.openStart("td").attr("role", "gridcell").class(`promHeat${step}`).attr("title", said).attr("aria-label", said);
    rm.attr("data-weekday", String(weekday)).attr("data-hour", String(hour));
    rm.attr("tabindex", weekday === 1 && hour === 0 ? "0" : "-1")
      .openEnd()
      .text(short)
      .close("td");
  }

  function renderLegend(rm, map, highest, write) {
    rm.openStart("ul").class("promHeatLegend").attr("aria-label", map.getLegend()).openEnd();
    const bound = (step) => (highest * step) / STEPS;
    for (let step = 0; step <= STEPS; step += 1) {
      rm.openStart("li").openEnd();
      rm.openStart("span").class(`promHeat${step}`).attr("aria-hidden", "true").openEnd().close("span");
      rm.text(step ? `≤ ${write(bound(step))}` : write(0)).close("li");
    }
    rm.close("ul");
  }

  return HeatMap;
});
