sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/HBox",
    "sap/m/Link",
    "sap/m/List",
    "sap/m/MessageStrip",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/VBox",
    "sap/ui/core/InvisibleMessage",
    "sap/ui/core/dnd/DragDropInfo",
    "promenade/rules/Card",
    "promenade/rules/Texts",
    "promenade/rules/TypePicker"
  ],
  function (
    Button,
    HBox,
    Link,
    List,
    MessageStrip,
    Text,
    Title,
    VBox,
    InvisibleMessage,
    DragDropInfo,
    Card,
    Texts,
    TypePicker
  ) {
    "use strict";

    /** The first field that is seen in a card; else the card. */
    const firstField = (item) =>
      item.getDomRef().querySelector(".promenadeRuleForm :is(input, textarea, [role=combobox]):not([tabindex='-1'])") ||
      item.getFocusDomRef();

    /** All rules of a kind: a title, what they do, the cards in their order, and how to add one. */
    class Section {
      constructor(desk, kind) {
        this._desk = desk;
        this._kind = kind;
        this._cards = new Map();
        this._title = new Title({text: Texts.of(`${kind}.title`), level: "H3"});
        this._list = new List({
          showSeparators: "None",
          noDataText: Texts.of(`${kind}.none`),
          ariaLabelledBy: [this._title],
          keyboardMode: "Edit"
        });
        this._undo = this._undoStrip();
        this._add = new Button({
          text: Texts.of(`${kind}.add`),
          icon: "sap-icon://add",
          press: () => this._ask(),
          visible: {path: "rules>/isEditable"}
        });
        const bar = new HBox({items: [this._title, this._add]}).addStyleClass("promenadeRulesBar");
        const says = new Text({text: Texts.of(`${kind}.says`)}).addStyleClass("promenadeRuleKind");
        this.control = new VBox({items: [bar, says, this._undo, this._list]}).addStyleClass("promenadeRulesSection");
        this._listen();
      }

      _listen() {
        if (this._kind !== "LoyaltyActions") {
          this._list.addDragDropConfig(
            new DragDropInfo({
              sourceAggregation: "items",
              targetAggregation: "items",
              dropPosition: "Between",
              dropLayout: "Vertical",
              enabled: {path: "rules>/isEditable"},
              drop: (event) => this._drop(event)
            })
          );
          this._list.addEventDelegate({onkeydown: (event) => this._onKey(event)});
        }
        this._desk.listeners.push((event) => this._on(event));
      }

      _undoStrip() {
        const link = new Link({
          text: Texts.of("undo"),
          press: () => this._focus(this._desk.restore(this._kind).key)
        });
        return new MessageStrip({type: "Information", showIcon: true, visible: false, link});
      }

      async _ask() {
        const type = await TypePicker.ask(this._kind, this.control);
        if (type) {
          this._focus(this._desk.add(this._kind, type).key, firstField);
        } else {
          this._add.focus();
        }
      }

      _on({row, isStructure, retyped, moved}) {
        if (retyped && retyped.kind === this._kind) {
          this._drop1(retyped.key);
          this._arrange();
          this._focus(retyped.key);
        } else if (isStructure) {
          this._arrange();
        } else if (row && row.kind === this._kind) {
          this._mark(row);
        }
        if (moved && this._cards.has(moved)) {
          this._focus(moved);
          const at = this._desk.rows(this._kind).findIndex((one) => one.key === moved) + 1;
          InvisibleMessage.getInstance().announce(Texts.of("movedTo", at), "Assertive");
        }
      }

      _drop1(key) {
        const card = this._cards.get(key);
        if (card) {
          card.item.destroy();
          this._cards.delete(key);
        }
      }

      /** Shows the rows as they stand; cards that stay are moved, never made anew, so that nothing typed is lost. */
      _arrange() {
        const rows = this._desk.rows(this._kind);
        const keys = new Set(rows.map((row) => row.key));
        [...this._cards.keys()].filter((key) => !keys.has(key)).forEach((key) => this._drop1(key));
        const wasFirst = this._first;
        this._first = rows.length ? rows[0].key : null;
        if (wasFirst !== this._first) {
          [wasFirst, this._first].forEach((key) => this._drop1(key)); // "if" becomes "and", and the other way round
        }
        rows.forEach((row, place) => {
          if (!this._cards.has(row.key)) {
            const card = Card.create(this._desk, row, place === 0);
            card.item.addDelegate({onsaptabnext: (event) => this._enter(card.item, event)}, true);
            this._cards.set(row.key, card);
          }
          const {item} = this._cards.get(row.key);
          if (this._list.indexOfItem(item) !== place) {
            this._list.removeItem(item);
            this._list.insertItem(item, place);
          }
          this._mark(row);
        });
        this._showUndo();
      }

      _mark(row) {
        const card = this._cards.get(row.key);
        const isOr = row.values.logicalConnector === "OR" && row.key !== this._first;
        card.item.toggleStyleClass("promenadeRuleOr", isOr);
        card.item.toggleStyleClass("promenadeRuleFaulty", Object.keys(row.faults).length > 0 || Boolean(row.trouble));
      }

      _showUndo() {
        const last = this._desk.lastRemoved(this._kind);
        this._undo.setVisible(Boolean(last) && this._desk.model.getProperty("/isEditable"));
        if (last) {
          this._undo.setText(Texts.of("removed", last.row.sentence));
        }
      }

      _focus(key, find = (item) => item) {
        const {item} = this._cards.get(key);
        if (item.getDomRef()) {
          find(item).focus();
          return;
        }
        const once = {
          onAfterRendering() {
            item.removeEventDelegate(once);
            find(item).focus();
          }
        };
        item.addEventDelegate(once);
      }

      /** From a card the next stop is what is in it: a list would lead past all of its fields. */
      _enter(item, event) {
        const first = firstField(item);
        if (event.target === item.getDomRef() && first !== event.target) {
          event.preventDefault();
          event.stopImmediatePropagation(true);
          first.focus();
        }
      }

      /** Opens a card and puts the cursor into its first field that something is wrong with, else on the card. */
      open(key) {
        if (!this._cards.has(key)) {
          return;
        }
        const {item, setOpen} = this._cards.get(key);
        setOpen(true);
        setTimeout(() => {
          // when what has just been opened is there
          const isWrong = (one) =>
            one.getValueState && one.getValueState() === "Error" && one.getDomRef() && one.getVisible();
          const [first] = item.findAggregatedObjects(true, isWrong);
          (first || item).focus();
        });
      }

      _drop(event) {
        const {draggedControl, droppedControl, dropPosition} = event.getParameters();
        const from = this._list.indexOfItem(draggedControl);
        let to = this._list.indexOfItem(droppedControl) + (dropPosition === "After" ? 1 : 0);
        if (from < to) {
          to -= 1;
        }
        this._desk.moveTo(draggedControl.data("key"), to);
      }

      _onKey(event) {
        const isMove = event.ctrlKey && (event.key === "ArrowUp" || event.key === "ArrowDown");
        const item = isMove && this._list.getItems().find((one) => one.getDomRef() === document.activeElement);
        if (item && this._desk.model.getProperty("/isEditable")) {
          event.preventDefault();
          event.stopImmediatePropagation();
          this._desk.move(item.data("key"), event.key === "ArrowUp" ? -1 : 1);
        }
      }
    }

    return Section;
  }
);
