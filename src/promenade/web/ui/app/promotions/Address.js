sap.ui.define([], function () {
  "use strict";

  /**
   * What a page shows, kept in its address: reload, bookmark and the browser's back button bring it again.
   *
   * A list of values is written with commas; what is as it is at first is left out.
   */
  return {
    /** The state that the query of an address says, of the shape and with the defaults of `defaults`. */
    read(query, defaults) {
      const given = query || {};
      return Object.fromEntries(
        Object.entries(defaults).map(([name, value]) => {
          const told = given[name];
          if (told === undefined) {
            return [name, Array.isArray(value) ? [...value] : value];
          }
          return [name, Array.isArray(value) ? told.split(",").filter(Boolean) : told];
        })
      );
    },

    /** The parameters of a route for a state: no query where all is as at first. */
    parameters(state, defaults) {
      const query = this.write(state, defaults);
      return Object.keys(query).length ? {"?query": query} : {};
    },

    /** The query for a state. */
    write(state, defaults) {
      const told = Object.keys(defaults)
        .map((name) => [name, [].concat(state[name]).join(",")])
        .filter(([name, value]) => value !== [].concat(defaults[name]).join(","));
      return Object.fromEntries(told);
    }
  };
});
