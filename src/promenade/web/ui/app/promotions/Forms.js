sap.ui.define(
  [
    "sap/m/Label",
    "sap/ui/core/Title",
    "sap/ui/layout/form/ColumnLayout",
    "sap/ui/layout/form/Form",
    "sap/ui/layout/form/FormContainer",
    "sap/ui/layout/form/FormElement",
    "promenade/generic/Extensions",
    "promenade/generic/Fields",
    "promenade/promotions/Texts"
  ],
  function (Label, Title, ColumnLayout, Form, FormContainer, FormElement, Extensions, Fields, Texts) {
    "use strict";

    ["countsTowardsThreshold", "excludedCountsTowardsThreshold"].forEach((path) => {
      Extensions.words("Promotions", path, "promotions.counting");
    });

    const layout = () => new ColumnLayout({columnsM: 1, columnsL: 2, columnsXL: 3, labelCellsLarge: 5});

    /** Forms of the promotion's page. */
    return {
      /** A form of groups `[[key of the title, paths of fields]]`, to read or to fill in. */
      of(meta, groups, isEditable) {
        return new Form({
          editable: isEditable,
          layout: layout(),
          formContainers: groups.map(
            ([key, paths]) =>
              new FormContainer({
                ...(key ? {title: new Title({text: Texts.get(`group.${key}`), level: "H3"})} : {}),
                formElements: paths.map((path) => {
                  const field = meta.field(path);
                  return Fields.labelled(field, isEditable ? Fields.input(field) : Fields.display(field));
                })
              })
          )
        });
      },

      /** A form of groups `[[title, [[label, control]]]]` of controls that are there. */
      around(groups, isEditable = true) {
        return new Form({
          editable: isEditable,
          layout: layout(),
          formContainers: groups.map(
            ([title, rows]) =>
              new FormContainer({
                ...(title ? {title: new Title({text: title, level: "H3"})} : {}),
                formElements: rows.map(
                  ([label, control]) =>
                    new FormElement({
                      label: new Label({text: label, required: Boolean(control.getRequired && control.getRequired())}),
                      fields: [control]
                    })
                )
              })
          )
        });
      }
    };
  }
);
