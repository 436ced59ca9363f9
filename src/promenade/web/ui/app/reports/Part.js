sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/MessageStrip",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/reports/Cards",
    "promenade/reports/Plain"
  ],
  function (Button, MessageStrip, Messages, Texts, Cards, plain) {
    "use strict";

    /** Parts of a report that are read by themselves: what cannot be read says so in its place, the others stay. */
    const Part = {
      /**
       * The boxes that `load` resolves with, or one that says why they could not be read and reads them again.
       *
       * `place` is the `id` and the `title` that this one has.
       */
      async of(t, place, load) {
        try {
          return await load();
        } catch (error) {
          return [await Part.failed(t, place, error, (box) => replace(box, Part.of(t, place, load)))];
        }
      },

      /** A box that says why something could not be read; its button calls `again(box)`. */
      async failed(t, {id, title}, error, again) {
        await Texts.ready();
        const button = new Button({
          text: t("tryAgain"),
          icon: "sap-icon://refresh",
          press: async () => {
            button.setBusy(true);
            await again(box);
          }
        });
        const text = t("unread", Messages.read(error).message);
        const told = new MessageStrip(plain({text, type: "Error", showIcon: true}));
        const box = Cards.box({
          id,
          title,
          isWide: true,
          content: [told.addStyleClass("sapUiSmallMarginBottom"), button]
        });
        return box.addStyleClass("promFailed");
      }
    };

    /** Puts what was read now where the box stood; nothing, when the page shows something else meanwhile. */
    async function replace(box, reading) {
      const boxes = await reading;
      const grid = box.getParent();
      if (!grid) {
        boxes.forEach((one) => one.destroy());
        return;
      }
      const place = grid.indexOfItem(box);
      boxes.forEach((one, index) => grid.insertItem(one, place + index));
      const {activeElement, body} = document;
      const isThere = activeElement === body || box.getDomRef()?.contains(activeElement);
      box.destroy();
      if (isThere && boxes.length) {
        await rendered(boxes[0]); // until then the focus that has lost its place is at some neighbour
        focus(boxes[0]);
      }
    }

    const rendered = (control) =>
      new Promise((resolve) => {
        control.addEventDelegate({onAfterRendering: () => setTimeout(resolve)});
      });

    /** Whoever pressed the button, and did not go elsewhere meanwhile, goes on where it was. */
    function focus(box) {
      if (box.hasStyleClass("promFailed")) {
        box.getContent().at(-1).focus();
      } else {
        // The box itself: not every one has something that can be pressed, and who cannot see hears its name.
        const place = box.getDomRef();
        place?.setAttribute("tabindex", "-1");
        place?.focus();
      }
    }

    return Part;
  }
);
