sap.ui.define(["promenade/generic/Editing"], function (Editing) {
  "use strict";

  /** What a list shows, as one parameter of an address: only what differs from a list just opened. */
  return {
    /**
     * A state -> text, "" when nothing was asked for.
     *
     * @param {{search?: string, filters?: any, status?: string | null, sort?: any}} state
     */
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
        return (q && JSON.parse(q)) || {};
      } catch {
        return {};
      }
    },

    /** What a list can make of a state that was read: anybody may have written the address. */
    sound({search, status, sort}, meta) {
      const isSorted = sort && meta.has(sort.path) && meta.field(sort.path).isSortable;
      return {
        search: typeof search === "string" ? search : "",
        status: meta.isDraft ? (Editing.states.includes(status) && status) || "all" : null,
        sort: isSorted ? {path: sort.path, isDescending: sort.isDescending === true} : null
      };
    }
  };
});
