sap.ui.define([], function () {
  "use strict";

  /** What the controls of single fields have in common; of their `place` see `Controls`. */
  const to = (place, name) => `rules>${place.at}${name}`;
  const isEditable = () => ({path: "rules>/isEditable"}); // a binding of its own for each control

  function faulty(place, name) {
    const path = `rules>${place.faults}${name}`;
    return {
      valueState: {path, formatter: (fault) => (fault ? "Error" : "None")},
      valueStateText: {path}
    };
  }

  function settings(place, name, more) {
    return {
      width: "100%",
      editable: isEditable(),
      ...faulty(place, name),
      ...(place.labelledBy ? {ariaLabelledBy: [place.labelledBy]} : {}),
      ...more
    };
  }

  /** Where the value of a field is that a control shows. */
  const pathOf = (control, place, name) => `${control.getBindingContext("rules").getPath()}/${place.at}${name}`;

  return {to, isEditable, settings, pathOf};
});
