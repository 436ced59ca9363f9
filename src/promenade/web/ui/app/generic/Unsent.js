sap.ui.define(
  ["sap/ui/core/Element", "sap/ui/core/LabelEnablement", "promenade/generic/Texts"],
  function (Element, LabelEnablement, Texts) {
    "use strict";

    /** Fields of a draft whose last change the service has not taken: the next one, or Save, sends it again. */
    const TAKING = ["value", "selectedKey", "selected"];

    const bindingsOf = (control, name) => {
      const binding = control.getBinding(name);
      return binding && binding.getBindings ? binding.getBindings() : [binding];
    };

    const isUnsent = (control) =>
      TAKING.some((name) => bindingsOf(control, name).some((one) => one?.hasPendingChanges && one.hasPendingChanges()));

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

      /** What leaving them means. */
      leaving: () => Texts.of("unsentLeave")
    };
  }
);
