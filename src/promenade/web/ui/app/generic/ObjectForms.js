sap.ui.define(
  [
    "sap/ui/layout/form/ColumnLayout",
    "sap/ui/layout/form/Form",
    "sap/ui/layout/form/FormContainer",
    "promenade/generic/Displays",
    "promenade/generic/Fields",
    "promenade/generic/Marks",
    "promenade/generic/Meta",
    "promenade/generic/Texts"
  ],
  function (ColumnLayout, Form, FormContainer, Displays, Fields, Marks, Meta, Texts) {
    "use strict";

    /** The groups of fields of an entity as forms: `{group, form, isReadOnly}` each. */
    const ADMINISTRATIVE = "Administrative";

    /** Whether fields without a value are shown, of the model of `EmptyFields`. */
    const ALL = "fields>/isAll";
    const raw = (path) => ({path, targetType: "any"});
    const isEmpty = (value) => value === null || value === undefined || value === "" || value.length === 0;

    function elementOf(field, isEditing, isNew) {
      // Lists of values are asked for in a dialog: the model of a page takes single values alone.
      const isTaken = isEditing && !field.isReadOnly && !field.isCollection && (isNew || !field.isImmutable);
      const control = isTaken ? Fields.input(field, {isNew}) : Displays.display(field);
      return Fields.labelled(field, control);
    }

    function formOf(group) {
      const form = new Form({
        layout: new ColumnLayout({columnsM: 2, columnsL: 3, columnsXL: 4, labelCellsLarge: 12, emptyCellsLarge: 0}),
        formContainers: [new FormContainer()]
      });
      form.data("group", group.id);
      return form;
    }

    function fill({form, group, isReadOnly}, {isEditing, isNew}) {
      const [container] = form.getFormContainers();
      const isTaken = isEditing && !isReadOnly;
      container.destroyFormElements();
      group.fields.forEach((field) => {
        const element = elementOf(field, isTaken, isNew);
        if (!isEditing) {
          element.bindProperty("visible", {
            parts: [{path: ALL}, raw(field.path)],
            formatter: (isAll, value) => isAll || !isEmpty(value)
          });
        }
        container.addFormElement(element);
      });
      form.setEditable(isTaken);
    }

    /** The group of fields of a part that there is one of. */
    async function groupOfPart(model, meta, part) {
      const target = await Meta.of(model, part.set);
      const found = target.groups.find((one) => one.id === part.group) || target.groups[0];
      const owner = part.partner ? `${part.partner}_ID` : null;
      const fields = found.fields
        .filter((one) => one.path !== owner)
        .map((one) => meta.field(`${part.navigation}/${one.path}`));
      return {id: part.id, label: part.label, fields};
    }

    return {
      /** The forms of an entity: of its own groups, and of parts that there is one of, which are only shown. */
      async create(model, meta) {
        const own = meta.groups.map((group) => ({group, form: formOf(group), isReadOnly: group.id === ADMINISTRATIVE}));
        const single = meta.parts
          .filter((part) => !part.isCollection)
          .map(async (part) => {
            const group = await groupOfPart(model, meta, part);
            return {group, form: formOf(group), isReadOnly: true, isPart: true};
          });
        return [...own, ...(await Promise.all(single))];
      },

      fill,

      /** Shows a section of a form that is read while there is a value in it; what was not read yet may be one. */
      showSection(section, {group}) {
        section.bindProperty("visible", {
          parts: [{path: ALL}, ...group.fields.map(({path}) => raw(path))],
          formatter: (isAll, ...values) => isAll || values.some((one) => one === undefined || !isEmpty(one))
        });
      },

      /** Marks what has to be filled in and is not, and leads to the first mistake; whether there is none. */
      isComplete(forms) {
        const inputs = forms
          .flatMap(({form}) => form.getFormContainers()[0].getFormElements())
          .flatMap((one) => one.getFields())
          .filter((one) => one.getRequired && one.getValue);
        const empty = inputs.filter((one) => one.getRequired() && one.getValue().trim() === "");
        empty.forEach((one) => Marks.set(one, Texts.of("required")));
        const wrong = inputs.find((one) => Marks.has(one));
        wrong?.focus();
        return !wrong;
      }
    };
  }
);
