sap.ui.define([], function () {
  "use strict";

  const nameOf = (name) => `promenade.${name}`;

  /** What this browser keeps of choices; one that keeps nothing for pages forgets them when they are left. */
  return {
    write(name, value) {
      try {
        window.localStorage.setItem(nameOf(name), value);
      } catch {
        // The choice holds until the page is left.
      }
    },

    read(name) {
      try {
        return window.localStorage.getItem(nameOf(name));
      } catch {
        return null;
      }
    }
  };
});
