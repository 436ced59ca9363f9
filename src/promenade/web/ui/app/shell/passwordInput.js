sap.ui.define(["sap/m/Input"], function (Input) {
  "use strict";

  /** A field for a password; `kind` is what browsers call it: `current-password` or `new-password`. */
  return function passwordInput(id, kind, submit) {
    const input = new Input(id, {type: "Password", required: true, width: "100%", submit});
    // Password managers fill in and keep what they know the kind of.
    input.addEventDelegate({
      onAfterRendering: () => input.getFocusDomRef().setAttribute("autocomplete", kind)
    });
    return input;
  };
});
