sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/GroupHeaderListItem",
    "sap/m/List",
    "sap/m/SearchField",
    "sap/m/StandardListItem",
    "promenade/rules/Shapes",
    "promenade/rules/Texts"
  ],
  function (Button, Dialog, GroupHeaderListItem, List, SearchField, StandardListItem, Shapes, Texts) {
    "use strict";

    /** What kind of rule it shall be: all types with what they are good for. */
    function items(kind, isOffered) {
      const families = new Map();
      for (const [type, shape] of Object.entries(Shapes[kind]).filter(([, one]) => isOffered(one))) {
        families.set(shape.family, [...(families.get(shape.family) || []), [type, shape]]);
      }
      return [...families].flatMap(([family, types]) => [
        new GroupHeaderListItem({title: Texts.of(`family.${family}`)}),
        ...types.map(([type, {icon}]) =>
          new StandardListItem({
            type: "Active",
            icon: `sap-icon://${icon}`,
            title: Texts.ofType(kind, type).name,
            description: Texts.ofType(kind, type).help,
            wrapping: true,
            wrapCharLimit: 300
          }).data("type", type)
        )
      ]);
    }

    function filter(list, text) {
      const words = text.toLowerCase();
      for (const item of list.getItems().filter((one) => one.data("type"))) {
        item.setVisible(`${item.getTitle()} ${item.getDescription()}`.toLowerCase().includes(words));
      }
      list
        .getItems()
        .filter((one) => !one.data("type"))
        .forEach((one) => one.setVisible(!words));
    }

    return {
      /** Asks for a type of a kind of rule that `isOffered(shape)`; resolves with its code, or null. */
      ask(kind, owner, isOffered = () => true) {
        return new Promise((resolve) => {
          let chosen = null;
          const list = new List({items: items(kind, isOffered)});
          const search = new SearchField({
            placeholder: Texts.of("searchTypes"),
            liveChange: (event) => filter(list, event.getParameter("newValue"))
          });
          const dialog = new Dialog({
            title: Texts.of(`${kind}.ask`),
            contentWidth: "38rem",
            contentHeight: "70%",
            verticalScrolling: true,
            initialFocus: search,
            content: [search, list],
            endButton: new Button({text: Texts.of("cancel"), press: () => dialog.close()}),
            afterClose() {
              dialog.destroy();
              resolve(chosen);
            }
          });
          list.attachItemPress((event) => {
            chosen = event.getParameter("listItem").data("type");
            dialog.close();
          });
          list.addAriaLabelledBy(dialog.getAriaLabelledBy()[0] || search);
          owner.addDependent(dialog);
          dialog.open();
        });
      }
    };
  }
);
