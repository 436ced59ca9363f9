sap.ui.define([], function () {
  "use strict";

  const SIZE = 8;

  /** What is drawn into a square of the pattern: nothing, stripes, dots, stripes the other way, a grid. */
  const STROKES = [
    null,
    (pen) => lines(pen, [[0, SIZE, SIZE, 0]]),
    (pen) => {
      pen.beginPath();
      pen.arc(SIZE / 2, SIZE / 2, 1.6, 0, 2 * Math.PI);
      pen.fill();
    },
    (pen) => lines(pen, [[0, 0, SIZE, SIZE]]),
    (pen) => lines(pen, [[0, SIZE / 2, SIZE, SIZE / 2]]),
    (pen) => lines(pen, [[SIZE / 2, 0, SIZE / 2, SIZE]])
  ];

  function lines(pen, all) {
    all.forEach(([x1, y1, x2, y2]) => {
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.lineTo(x2, y2);
      pen.stroke();
    });
  }

  function parameter(name) {
    return window.getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  /** Colours of charts as the theme has them now. */
  return {
    text: () => parameter("sapTextColor"),
    muted: () => parameter("sapContent_LabelColor"),
    grid: () => parameter("sapGroup_ContentBorderColor"),
    background: () => parameter("sapTile_Background"),

    /** The colour of a series, which lines and borders have. */
    line(index) {
      return parameter(`sapChart_OrderedColor_${(index % 11) + 1}`);
    },

    /** The same with a pattern of its own, so that series differ without colour too. */
    fill(index) {
      const colour = this.line(index);
      const draw = STROKES[index % STROKES.length];
      if (!draw) {
        return colour;
      }
      const square = document.createElement("canvas");
      square.width = square.height = SIZE;
      const pen = /** @type {CanvasRenderingContext2D} */ (square.getContext("2d"));
      pen.fillStyle = colour;
      pen.fillRect(0, 0, SIZE, SIZE);
      pen.strokeStyle = pen.fillStyle = this.background();
      pen.lineWidth = 1.5;
      draw(pen);
      return pen.createPattern(square, "repeat");
    }
  };
});
