sap.ui.define(["sap/ui/core/Element", "sap/ui/core/Fragment", "sap/ui/core/Lib"], function (Element, Fragment, Lib) {
  "use strict";

  const isSeen = (control) => control.getVisible() && Boolean(control.getDomRef());

  /** The focus leaves a button for the page around it: with the button disabled it would wander over the others. */
  function step(button) {
    const place = button.getDomRef().closest("[role=main]");
    place?.focus({preventScroll: true});
    return place;
  }

  /** Gives the focus back, once the button can have it, where it has not found another place meanwhile. */
  function giveBack(button, place) {
    const once = {
      onAfterRendering() {
        button.removeEventDelegate(once);
        if ([place, document.body].includes(document.activeElement)) {
          button.focus();
        }
      }
    };
    button.addEventDelegate(once);
  }

  return {
    /**
     * Loads the libraries that a page is made of, and then the page, into the controller's view.
     *
     * They are not part of what the first page waits for.
     */
    async fill(controller, libraries, name) {
      const view = controller.getView();
      for (const one of libraries) {
        await Lib.load({name: one}); // in this order: a later one may stand on those before
      }
      const content = await Fragment.load({id: view.getId(), name, controller});
      controller.byId("content").addItem(content);
      return content;
    },

    /**
     * Carries out a task during which none of the buttons can be pressed; resolves with what the task resolves with.
     *
     * A busy page swallows presses without a word, and what a task changes moves buttons from under the pointer. The
     * focus comes back to the button that had it, or to the first one when that has gone.
     */
    async during(buttons, task) {
      const pressed = buttons.find((one) => one === Element.closestTo(document.activeElement));
      const place = pressed && step(pressed);
      buttons.forEach((one) => one.setEnabled(false));
      try {
        return await task();
      } finally {
        const next = [pressed, ...buttons].find((one) => one && isSeen(one));
        if (place && next) {
          giveBack(next, place);
        }
        buttons.forEach((one) => one.setEnabled(true));
      }
    }
  };
});
