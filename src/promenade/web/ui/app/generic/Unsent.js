sap.ui.define(
  ["sap/ui/core/Element", "sap/ui/core/LabelEnablement", "promenade/generic/Marks", "promenade/generic/Texts"],
  function (Element, LabelEnablement, Marks, Texts) {
    "use strict";

    /** Fields of a draft whose last change the service has not taken: the next one, or Save, sends it again. */
    const TAKING = ["value", "selectedKey", "selected"];

    const bindingsOf = (control, name) => {
      const binding = control.getBinding(name);
      return binding && binding.getBindings ? binding.getBindings() : [binding];
    };

    const isUnsent = (control) =>
      TAKING.some((name) => bindingsOf(control, name).some((one) => one?.hasPendingChanges && one.hasPendingChanges()));

    const isInvalid = (binding) => Boolean(binding) && binding.getDataState().getInvalidValue() !== undefined;

    /** What was typed is none of the field's type, or nothing that there is: no model has it, only the screen. */
    const isWrong = (control) =>
      TAKING.some((name) => [control.getBinding(name), ...bindingsOf(control, name)].some(isInvalid)) ||
      (control instanceof Element && Marks.has(control) && Boolean(control.getValue?.()));

    function labelOf(control) {
      const [label] = LabelEnablement.getReferencingLabels(control).map((id) => Element.getElementById(id));
      return label ? label.getText() : "";
    }

    return {
      /** Says which fields below a control these are; `others`: names of what is unsent besides. */
      words(container, others = []) {
        const names = container.findAggregatedObjects(true, isUnsent).map(labelOf);
        const all = [...new Set([...names, ...others])].filter(Boolean);
        return all.length ? Texts.of("unsent", all.join(", ")) : Texts.of("unsentSome");
      },

      /** Whether a field below a control holds what it cannot take. */
      hasWrong: (container) => container.findAggregatedObjects(true, isWrong).length > 0,

      /** Leads to the first of them; whether there is one. */
      leadToWrong(container) {
        const [wrong] = container.findAggregatedObjects(true, isWrong);
        wrong?.focus();
        return Boolean(wrong);
      },

      /** What leaving means: for changes that the service has not taken, or for what the fields themselves have not. */
      leaving(container, isRefused) {
        if (isRefused) {
          return Texts.of("unsentLeave");
        }
        const names = [...new Set(container.findAggregatedObjects(true, isWrong).map(labelOf))].filter(Boolean);
        return names.length ? Texts.of("wrongLeave", names.join(", ")) : Texts.of("wrongSomeLeave");
      }
    };
  }
);
