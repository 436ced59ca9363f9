sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/CustomTreeItem",
    "sap/m/Dialog",
    "sap/m/HBox",
    "sap/m/Link",
    "sap/m/Text",
    "sap/m/Tree",
    "sap/ui/core/Component",
    "sap/ui/core/InvisibleText",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Addresses",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/net/Http",
    "promenade/resources/Texts"
  ],
  function (
    Button,
    CustomTreeItem,
    Dialog,
    HBox,
    Link,
    Text,
    Tree,
    Component,
    InvisibleText,
    JSONModel,
    Addresses,
    Messages,
    Meta,
    Http,
    Texts
  ) {
    "use strict";

    const AT_ONCE = 500; // groups directly below one

    /** The groups below one, and of each whether it has any itself. */
    async function below(set, key, parent) {
      const filter = `parent_ID eq ${parent || "null"}`;
      const {value} = await Http.get(
        `/admin/${set}?$filter=${filter}&$orderby=name,ID&$top=${AT_ONCE}&$select=ID,name,${key}` +
          "&$expand=children($select=ID;$top=1)"
      );
      return value.map((one) => ({
        id: one.ID,
        name: one.name || one[key],
        key: one[key],
        href: Addresses.href(set, one.ID),
        // What stands for children that are not fetched yet makes the group one that can be opened.
        nodes: one.children.length ? [{isDummy: true, nodes: []}] : []
      }));
    }

    async function opened(event, model, set, key) {
      const context = event.getParameter("itemContext");
      const node = context.getObject();
      if (event.getParameter("expanded") && node.nodes[0]?.isDummy) {
        try {
          model.setProperty(`${context.getPath()}/nodes`, await below(set, key, node.id));
        } catch (error) {
          Messages.show(error);
        }
      }
    }

    function treeOf(model, {set, key, label, close, none}) {
      return new Tree({
        ariaLabelledBy: [label],
        noDataText: none,
        toggleOpenState: (event) => opened(event, model, set, key),
        items: {
          path: "/nodes",
          parameters: {arrayNames: ["nodes"]},
          templateShareable: false,
          template: new CustomTreeItem({
            content: [
              new HBox({
                alignItems: "Center",
                renderType: "Bare",
                visible: "{= !${isDummy} }",
                items: [
                  new Link({text: "{name}", href: "{href}", press: close}).addStyleClass("sapUiSmallMarginEnd"),
                  new Text({text: "{key}"}).addStyleClass("promenadeSmall")
                ]
              })
            ]
          })
        }
      }).setModel(model);
    }

    return {
      /** Shows the groups of a set as a tree, whose branches are fetched when they are opened. */
      async open(odata, set) {
        const meta = await Meta.of(odata, set);
        const t = await Texts.of(Component.getComponentById("promenade"));
        const [key] = meta.semanticKey;
        const model = new JSONModel({nodes: await below(set, key, null)});
        model.setSizeLimit(AT_ONCE);
        const dialog = new Dialog({
          title: meta.plural,
          contentWidth: "36rem",
          contentHeight: "36rem",
          resizable: true,
          draggable: true,
          endButton: new Button({text: t("resources.close"), press: () => dialog.close()}),
          afterClose: () => dialog.destroy()
        });
        const label = new InvisibleText({text: meta.plural});
        dialog.addContent(label);
        dialog.addContent(
          treeOf(model, {
            set,
            key,
            label,
            close: () => dialog.close(),
            none: t("resources.noGroups")
          })
        );
        dialog.open();
      }
    };
  }
);
