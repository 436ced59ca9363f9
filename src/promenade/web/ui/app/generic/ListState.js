sap.ui.define([], function () {
  "use strict";

  /** What a list shows, as one parameter of an address: only what differs from a list just opened. */
  return {
    /** A state -> text, "" when nothing was asked for. */
    write({search, filters, status, sort}) {
      const said = {
        ...(search ? {search} : {}),
        ...(Object.keys(filters || {}).length ? {filters} : {}),
        ...(status && status !== "all" ? {status} : {}),
        ...(sort ? {sort} : {})
      };
      return Object.keys(said).length ? JSON.stringify(said) : "";
    },

    /** The query of an address -> a state; what cannot be read asks for nothing. */
    read({q}) {
      try {
        return q ? JSON.parse(q) : {};
      } catch {
        return {};
      }
    }
  };
});
