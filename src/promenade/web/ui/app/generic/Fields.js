sap.ui.define(
  [
    "sap/m/Label",
    "sap/m/Text",
    "sap/ui/layout/form/ColumnElementData",
    "sap/ui/layout/form/FormElement",
    "promenade/generic/Displays",
    "promenade/generic/Extensions",
    "promenade/generic/Inputs"
  ],
  function (Label, Text, ColumnElementData, FormElement, Displays, Extensions, Inputs) {
    "use strict";

    /** A sentence of what a field means, and its default. */
    function explanation(field, prefix) {
      const {parts, formatter} = Displays.boundText(field);
      const shown = (...words) => formatter(field.defaultValue, ...words);
      return new Text({
        text: {
          parts: [{path: `i18n>${prefix}`}, {path: "i18n>generic.default"}, ...parts.slice(1)],
          formatter: (text, standard, ...words) =>
            [text, field.defaultValue === null ? "" : (standard || "").replace("{0}", shown(...words))]
              .filter(Boolean)
              .join(" ")
        },
        layoutData: new ColumnElementData({cellsLarge: 12, cellsSmall: 12})
      }).addStyleClass("promExplanation");
    }

    /** Controls for properties: what shows a value, and what takes one. */
    return {
      isLink: Displays.isLink,
      formatterOf: Displays.formatterOf,

      /** The text of a field as a binding, for a property of any control. */
      boundText: Displays.boundText,

      /** A control that shows a field, bound relative to its row or page; options as of `Displays.display`. */
      display(field, options) {
        return Displays.display(field, options);
      },

      /**
       * A control that takes a field's value and refuses what its type cannot hold.
       *
       * `model`: the name of the model that it is bound to, none for the page's; `isNew`: what may only be said on
       * creation can be said; `onChange(control)` when a value was taken.
       */
      input(field, options = {}) {
        return Inputs.create(field, options);
      },

      /** A form's element: the label and the control, which the label names for screen readers. */
      labelled(field, control, {isRequired = field.isRequired} = {}) {
        const isInput = Boolean(control.setRequired || control.setEditable);
        const label = new Label({text: field.label, required: isInput && isRequired, showColon: !isInput});
        const prefix = Extensions.explanationOf(field);
        const said = prefix ? [explanation(field, prefix)] : [];
        said.forEach((one) => control.addAriaDescribedBy?.(one));
        return new FormElement({label, fields: [control, ...said]});
      }
    };
  }
);
