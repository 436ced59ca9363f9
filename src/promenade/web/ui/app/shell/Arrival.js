sap.ui.define(["sap/ui/core/InvisibleMessage", "sap/ui/core/library"], function (InvisibleMessage, coreLibrary) {
  "use strict";

  /** How many rows a list has is no part of its name: it changes with each search. */
  const COUNT = /\s*\([\d\s.,'’]+\)$/u;
  /** From these places a person goes elsewhere; the focus that stays in any other is where it is wanted. */
  const LEFT_BEHIND = "aside, .promSkip";

  const isSeen = (element) => element.checkVisibility({visibilityProperty: true});
  const pathOf = (hash = "") => hash.split("?")[0]; // none yet, where the browser begins at an address that is no page

  /**
   * Tells where the person is, whatever page it is: its heading of the first level names the window and the main part
   * of it. When another page has opened, that part takes the focus that was left behind on the page before; a focus
   * that has a place stays there, and the name is read out.
   */
  return class Arrival {
    /** `root`: the element that all pages are in. Unlike their headings it is not drawn anew while they are filled. */
    constructor(root, product) {
      this._root = root;
      root.setAttribute("role", "main");
      root.tabIndex = -1;
      this._product = product;
      this._name = "";
      this._path = null;
      this._frame = 0;
      this._isOnTheWay = false;
      this._message = InvisibleMessage.getInstance();
      this._observer = new MutationObserver(() => this._plan());
      this._observer.observe(root, {subtree: true, childList: true, characterData: true, attributeFilter: ["class"]});
    }

    destroy() {
      this._observer.disconnect();
      window.cancelAnimationFrame(this._frame);
    }

    /** An address was opened. The first one is where the browser begins, which it says by itself. */
    onRoute(hash) {
      this._isOnTheWay ||= this._path !== null && this._path !== pathOf(hash);
      this._path = pathOf(hash);
      this._plan();
    }

    /** The focus goes to the page in front, past all that is around it. */
    enter() {
      this._root.focus({preventScroll: true});
    }

    _heading() {
      return [...this._root.querySelectorAll("h1")].find((one) => one.textContent && isSeen(one));
    }

    /** Pages are built in many steps: one look for each picture that is drawn. */
    _plan() {
      window.cancelAnimationFrame(this._frame);
      this._frame = window.requestAnimationFrame(() => this._look());
    }

    _look() {
      const name = (this._heading()?.textContent || "").replace(COUNT, "");
      if (!name || name === this._name) {
        return;
      }
      const [before, isOnTheWay] = [this._name, this._isOnTheWay];
      this._name = name;
      this._isOnTheWay = false;
      this._root.setAttribute("aria-label", name);
      document.title = `${name} – ${this._product}`;
      if (before && this._isFocusLost(isOnTheWay)) {
        this.enter();
      } else if (isOnTheWay) {
        this._message.announce(name, coreLibrary.InvisibleMessageMode.Polite);
      }
    }

    /** A page has steps of its own, which lead to no other address; then nobody came from the navigation. */
    _isFocusLost(isOnTheWay) {
      const {activeElement} = document;
      const isNowhere = !activeElement || activeElement === document.body || !isSeen(activeElement);
      return isNowhere || (isOnTheWay && Boolean(activeElement.closest(LEFT_BEHIND)));
    }
  };
});
