sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/HBox",
    "sap/m/FlexItemData",
    "sap/m/Input",
    "sap/m/Label",
    "sap/m/Text",
    "sap/m/ToggleButton",
    "sap/m/VBox",
    "sap/ui/core/Component",
    "promenade/generic/Texts",
    "promenade/session/Session",
    "promenade/shell/Kept"
  ],
  function (
    Button,
    Dialog,
    HBox,
    FlexItemData,
    Input,
    Label,
    Text,
    ToggleButton,
    VBox,
    Component,
    Texts,
    Session,
    Kept
  ) {
    "use strict";

    /**
     * Views of a list that a person has named, kept by this browser for that person: `[{name, view, isStandard}]`.
     * What a view is, the list knows: what it shows of which rows, and its columns.
     */
    const NAME_MAX = 60;

    function nameOf(list) {
      const {tenantId, user} = Session.current();
      return `views.${tenantId}.${user}.${list}`;
    }

    function read(list) {
      try {
        const kept = JSON.parse(Kept.read(nameOf(list)) || "[]");
        return Array.isArray(kept) ? kept.filter((one) => one && typeof one.name === "string" && one.view) : [];
      } catch {
        return []; // not what was written here
      }
    }

    const write = (list, views) => Kept.write(nameOf(list), JSON.stringify(views));

    const starOf = (isStandard) => (isStandard ? "sap-icon://favorite" : "sap-icon://unfavorite");

    /** Which view the list opens with; no row is made anew, for one of them has the focus. */
    function showStars(rows, views) {
      rows.forEach((one, at) => {
        const isStandard = Boolean(views[at].isStandard);
        one.getItems()[1].setPressed(isStandard).setIcon(starOf(isStandard));
      });
    }

    /** A view with what can be done with it. */
    function row({list, apply}, one, {close, show}) {
      // Set, never given to the constructor, which takes what has braces for a binding.
      const shown = new Button({
        type: "Transparent",
        layoutData: new FlexItemData({growFactor: 1}),
        press() {
          close();
          apply(one.view);
        }
      }).setText(one.name);
      const standard = new ToggleButton({
        type: "Transparent",
        press(event) {
          const isStandard = event.getParameter("pressed");
          const views = read(list).map((each) => ({...each, isStandard: isStandard && each.name === one.name}));
          write(list, views);
          showStars(standard.getParent().getParent().getItems(), views);
        }
      }).setTooltip(Texts.of("views.standard", one.name));
      const remove = new Button({
        icon: "sap-icon://delete",
        type: "Transparent",
        press() {
          write(
            list,
            read(list).filter(({name}) => name !== one.name)
          );
          show();
        }
      }).setTooltip(Texts.of("views.remove", one.name));
      return new HBox({alignItems: "Center", items: [shown, standard, remove]});
    }

    /** What the list shows now, under a name; of the same name there is one. */
    function saving({list, view}, show) {
      const save = () => {
        const name = input.getValue().trim();
        input.setValueState(name ? "None" : "Error");
        if (name) {
          const others = read(list).filter((one) => one.name !== name);
          const {isStandard = false} = read(list).find((one) => one.name === name) || {};
          const views = [...others, {name, view: view(), isStandard}];
          write(
            list,
            views.sort((one, other) => one.name.localeCompare(other.name))
          );
          input.setValue("");
          show();
        }
      };
      const input = new Input({maxLength: NAME_MAX, width: "100%", submit: save, valueStateText: Texts.of("required")});
      input.setLayoutData(new FlexItemData({growFactor: 1}));
      const button = new Button({text: Texts.of("save"), press: save});
      const label = new Label({text: Texts.of("views.name"), labelFor: input});
      return {input, content: new VBox({items: [label, new HBox({items: [input, button]})]})};
    }

    function open(given) {
      const rows = new VBox();
      const dialog = new Dialog({
        title: Texts.of("views"),
        contentWidth: "26rem",
        endButton: new Button({text: Texts.of("close"), press: () => dialog.close()}),
        afterClose: () => dialog.destroy()
      }).addStyleClass("sapUiContentPadding");
      const show = () => {
        const views = read(given.list);
        rows.destroyItems();
        views.forEach((one) => rows.addItem(row(given, one, {show, close: () => dialog.close()})));
        showStars(rows.getItems(), views);
        if (!views.length) {
          rows.addItem(new Text({text: Texts.of("views.none")}).addStyleClass("sapUiSmallMarginBottom"));
        }
        input.focus(); // what had it may be gone
      };
      const {input, content} = saving(given, show);
      show();
      dialog.addContent(rows).addContent(content).setInitialFocus(input);
      Component.getComponentById("promenade").getRootControl().addDependent(dialog);
      dialog.open();
    }

    return {
      /** The view that a list opens with when nothing else is asked for, or null. */
      standard: (list) => read(list).find((one) => one.isStandard)?.view || null,

      /** A button with the views of a list: `list` is its name; `view()` what it shows now, `apply(view)` shows one. */
      button: (given) =>
        new Button({
          text: Texts.of("views"),
          icon: "sap-icon://bookmark",
          type: "Transparent",
          ariaHasPopup: "Dialog",
          press: () => open(given)
        })
    };
  }
);
