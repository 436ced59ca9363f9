sap.ui.define(
  [
    "promenade/generic/Extensions",
    "promenade/generic/FieldDialog",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/net/Http"
  ],
  function (Extensions, FieldDialog, Messages, Texts, Http) {
    "use strict";

    /** Rows of a part: asked for in a dialog, written at once, through their draft or by themselves. */
    const SERVICE = "/admin";

    function fieldsOf(part, target, isNew) {
      const owner = part.partner ? `${part.partner}_ID` : null;
      const all = target.groups.filter((group) => group.id !== "Administrative").flatMap((group) => group.fields);
      return all.filter((field) => !field.isReadOnly && field.path !== owner && (isNew || !field.isImmutable));
    }

    /** The names of what links refer to, for a dialog that has not read them itself. */
    function textsOf(fields, context) {
      return Object.fromEntries(
        fields
          .filter((field) => field.textPath && field.valueList && !field.valueList.isFixed)
          .map((field) => [field.path, context.getProperty(field.textPath)])
      );
    }

    const pathOf = (target, context) => target.path(context.getProperty("ID"), context.getProperty("IsActiveEntity"));

    async function read(path, context, fields) {
      const navigations = new Map(
        fields
          .filter((field) => field.textPath && field.textPath.includes("/"))
          .map((field) => field.textPath.split("/"))
      );
      const expand = Object.fromEntries([...navigations].map(([name, text]) => [name, {$select: text}]));
      const select = fields.map((field) => field.path).join(",");
      const binding = context.getModel().bindContext(path, undefined, {
        $select: select,
        $expand: expand,
        $$groupId: "$auto"
      });
      const values = await binding.requestObject();
      return {values, binding};
    }

    /** @type {(values: any) => Record<string, string>} */
    const tag = (values) => (values["@odata.etag"] ? {"If-Match": values["@odata.etag"]} : {});

    return {
      /** Asks for a new row of a part and creates it; resolves with whether that was done. */
      async create({part, target, owner, table}) {
        const isThroughDraft = target.isNode;
        const url = isThroughDraft ? `${owner.getPath()}/${part.navigation}` : `/${target.set}`;
        const fixed = isThroughDraft ? {} : {[`${part.partner}_ID`]: owner.getProperty("ID")};
        const done = await FieldDialog.open({
          title: Texts.of("addTo", target.label),
          action: Texts.of("add"),
          fields: fieldsOf(part, target, true),
          submit: async (values) => {
            const row = {...values, ...fixed};
            return (await Extensions.mayCreate(target.set, row)) && Http.post(`${SERVICE}${url}`, row);
          }
        });
        if (done) {
          table.getBinding("items").refresh();
        }
        return Boolean(done);
      },

      /** Shows a row's values and writes what was changed; resolves with whether that was done. */
      async change({part, target, context, table}) {
        const fields = fieldsOf(part, target, false);
        const path = pathOf(target, context);
        const {values, binding} = await read(path, context, fields);
        const done = await FieldDialog.open({
          title: target.label,
          action: Texts.of("apply"),
          fields,
          isNew: false,
          values: Object.fromEntries(fields.map((field) => [field.path, values[field.path]])),
          texts: textsOf(fields, binding.getBoundContext()),
          submit: async (changed) => {
            if (Object.keys(changed).length) {
              await Http.request("PATCH", `${SERVICE}${path}`, {body: changed, headers: tag(values)});
            }
            return true;
          }
        });
        binding.destroy();
        if (done) {
          table.getBinding("items").refresh();
        }
        return Boolean(done);
      },

      /** Takes a row away, once the person has said so; resolves with whether that was done. */
      async remove({target, context, table}) {
        const may = await Messages.confirm(Texts.of("confirmDelete", target.label), {
          action: Texts.of("delete"),
          isCritical: true
        });
        if (may) {
          const values = context.getObject();
          await Http.request("DELETE", `${SERVICE}${pathOf(target, context)}`, {headers: tag(values)});
          table.getBinding("items").refresh();
        }
        return may;
      }
    };
  }
);
