sap.ui.define(
  ["promenade/framework/chart", "promenade/reports/Colours", "promenade/reports/Numbers"],
  function (ChartJs, Colours, Numbers) {
    "use strict";

    const POINTS = ["circle", "rectRot", "triangle", "rect"];
    const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
    const LABEL_MAX = 34;
    const CAP = 6;

    const isCalm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const cut = (text) => (text.length > LABEL_MAX ? `${text.slice(0, LABEL_MAX - 1)}…` : text);

    /** Writes each value at the end of its bar: who sees the chart need not look it up. */
    const valuesAtBars = {
      id: "promenadeValues",

      afterDatasetsDraw(chart, _, {texts, bounds}) {
        if (!texts) {
          return;
        }
        const pen = chart.ctx;
        pen.save();
        pen.fillStyle = Colours.text();
        pen.font = `12px ${ChartJs.defaults.font.family}`;
        pen.textBaseline = "middle";
        chart.getDatasetMeta(0).data.forEach((bar, index) => {
          const ends = (bounds?.[index] || []).map((one) => chart.scales.x.getPixelForValue(one));
          pen.fillText(texts[index], Math.max(bar.x, bar.base, ...ends) + 6, bar.y);
        });
        pen.restore();
      }
    };

    /** Draws how far each value may be off: a line from bound to bound, with its ends. */
    const errorsAtBars = {
      id: "promenadeErrors",

      afterDatasetsDraw(chart, _, {bounds, isAcross}) {
        if (!bounds) {
          return;
        }
        const pen = chart.ctx;
        const values = isAcross ? chart.scales.x : chart.scales.y;
        pen.save();
        pen.strokeStyle = Colours.text();
        pen.lineWidth = 2;
        chart.getDatasetMeta(0).data.forEach((bar, index) => {
          if (bounds[index]) {
            whisker(
              pen,
              bounds[index].map((one) => values.getPixelForValue(one)),
              bar,
              isAcross
            );
          }
        });
        pen.restore();
      }
    };

    function whisker(pen, [low, high], bar, isAcross) {
      const across = isAcross ? bar.y : bar.x;
      const line = (along, aside, toAlong, toAside) => {
        pen.moveTo(...(isAcross ? [along, across + aside] : [across + aside, along]));
        pen.lineTo(...(isAcross ? [toAlong, across + toAside] : [across + toAside, toAlong]));
      };
      pen.beginPath();
      line(low, 0, high, 0);
      [low, high].forEach((end) => line(end, -CAP, end, CAP));
      pen.stroke();
    }

    function dataset(kind, one, index, count) {
      const colour = Colours.line(index);
      const shared = {label: one.label, data: one.values, borderColor: colour, stack: one.stack};
      if (kind === "line") {
        return {
          ...shared,
          backgroundColor: colour,
          borderWidth: 2,
          tension: 0.2,
          spanGaps: false,
          pointRadius: 3,
          borderDash: one.isForecast ? [4, 4] : DASHES[index % DASHES.length],
          pointStyle: POINTS[index % POINTS.length]
        };
      }
      if (kind === "doughnut") {
        return {
          ...shared,
          borderColor: Colours.background(),
          borderWidth: 2,
          backgroundColor: one.values.map((_, slice) => Colours.fill(slice))
        };
      }
      return {
        ...shared,
        borderWidth: count > 1 ? 1 : 0,
        borderRadius: 3,
        backgroundColor: one.isEachOwn ? one.values.map((_, bar) => Colours.fill(bar)) : Colours.fill(index),
        maxBarThickness: 44
      };
    }

    function scale(isOfValues, isStacked, axis) {
      const ticks = {color: Colours.muted(), maxRotation: 0, autoSkipPadding: 12};
      if (isOfValues) {
        ticks.callback = (value) => (axis || Numbers.short)(value);
        ticks.maxTicksLimit = 7;
      }
      return {
        stacked: isStacked,
        beginAtZero: true,
        ticks,
        border: {display: false},
        grid: {display: isOfValues, color: Colours.grid()}
      };
    }

    function legend(kind, {series, labels}) {
      const isOfSlices = kind === "doughnut";
      return {
        display: isOfSlices || series.length > 1,
        position: isOfSlices ? "right" : "bottom",
        // What is hidden by a press is not told to anybody who does not see it.
        onClick: null,
        labels: {
          color: Colours.text(),
          usePointStyle: kind === "line",
          boxWidth: 22,
          boxHeight: kind === "line" ? 7 : 12,
          ...(isOfSlices && {
            generateLabels: () =>
              labels.map((label, index) => ({
                text: `${cut(label)}: ${series[0].texts[index]}`,
                fillStyle: Colours.fill(index),
                index,
                fontColor: Colours.text(),
                strokeStyle: Colours.background()
              }))
          })
        }
      };
    }

    /** The values must leave room for how far they may be off. */
    function reach({series}) {
      const bounds = series.flatMap((one) => (one.bounds || []).filter(Boolean).flat());
      return bounds.length ? {suggestedMin: Math.min(0, ...bounds), suggestedMax: Math.max(0, ...bounds)} : {};
    }

    function scales(kind, data, axis) {
      if (kind === "doughnut") {
        return {};
      }
      const isStacked = kind === "stacked" || kind === "ranking stacked";
      const isAcross = kind.startsWith("ranking");
      const ofLabels = scale(false, isStacked, null);
      if (isAcross) {
        ofLabels.ticks.autoSkip = false;
        ofLabels.ticks.callback = (_, index) => cut(data.labels[index]);
      }
      const ofValues = {...scale(true, isStacked, axis), ...reach(data)};
      return isAcross ? {x: ofValues, y: ofLabels} : {x: ofLabels, y: ofValues};
    }

    /** A press on a bar opens what stands behind it; the pointer says where. */
    function presses({links = []}) {
      const linkOf = ([hit]) => (hit ? links[hit.index] : null);
      return {
        onClick(_, hits) {
          const link = linkOf(hits);
          if (link) {
            window.location.hash = link;
          }
        },
        onHover({native}, hits) {
          native.target.style.cursor = linkOf(hits) ? "pointer" : "";
        }
      };
    }

    /** What Chart.js is told: `kind` is bar, stacked, ranking (bars across), ranking stacked, line or doughnut. */
    return function chartOptions(kind, data, axis) {
      const isRanking = kind.startsWith("ranking");
      const hasValues = isRanking && data.series.length === 1;
      const bounds = data.series[0]?.bounds || null;
      ChartJs.defaults.font.family = window.getComputedStyle(document.body).fontFamily;
      return {
        type: kind === "line" || kind === "doughnut" ? kind : "bar",
        data: {
          labels: data.labels,
          datasets: data.series.map((one, index) => dataset(kind, one, one.colour ?? index, data.series.length))
        },
        plugins: [errorsAtBars, valuesAtBars],
        options: {
          responsive: true,
          maintainAspectRatio: false,
          ...presses(data),
          animation: isCalm() ? false : {duration: 300},
          indexAxis: isRanking ? "y" : "x",
          cutout: "62%",
          layout: {padding: {right: hasValues ? 110 : 8, top: 8}},
          interaction: {
            mode: kind === "doughnut" ? "nearest" : "index",
            intersect: kind === "doughnut",
            axis: isRanking ? "y" : "x"
          },
          scales: scales(kind, data, axis),
          plugins: {
            legend: legend(kind, data),
            promenadeValues: {texts: hasValues ? data.series[0].texts : null, bounds},
            promenadeErrors: {bounds, isAcross: isRanking},
            tooltip: {
              callbacks: {
                label: ({dataset: {label}, datasetIndex, dataIndex}) =>
                  `${label}: ${data.series[datasetIndex].texts[dataIndex]}`
              }
            }
          }
        }
      };
    };
  }
);
