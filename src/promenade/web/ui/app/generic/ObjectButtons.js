sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/DraftIndicator",
    "sap/m/ObjectStatus",
    "sap/m/OverflowToolbar",
    "sap/m/ToolbarSpacer",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Actions",
    "promenade/generic/Extensions",
    "promenade/generic/Messages",
    "promenade/generic/Texts",
    "promenade/session/Session"
  ],
  function (
    Button,
    DraftIndicator,
    ObjectStatus,
    OverflowToolbar,
    ToolbarSpacer,
    JSONModel,
    Actions,
    Extensions,
    Messages,
    Texts,
    Session
  ) {
    "use strict";

    /** What can be pressed on the page of an entity: in its title, and in its footer while it is edited. */
    return class ObjectButtons {
      constructor(controller) {
        this._page = controller;
        this._state = new JSONModel({
          isEditing: false,
          isShown: false,
          mayEdit: false,
          mayDelete: false,
          isNode: false,
          unsent: ""
        });
        controller.getView().setModel(this._state, "object");
        this._messages = Messages.button();
        this._indicator = new DraftIndicator({minDisplayTime: 500});
      }

      /** A press: one at a time, and what goes wrong is shown. */
      _press(what) {
        return async (event) => {
          const button = event.getSource();
          button.setEnabled(false);
          try {
            await what.call(this._page);
          } catch (error) {
            Messages.show(error);
          } finally {
            button.setEnabled(true);
          }
        };
      }

      /** The buttons of the title of a set's page. */
      title(meta) {
        const view = this._page.getView();
        const added = Extensions.of(meta.set).actions;
        const own = added.map((one) => this._added(one, view));
        const bound =
          Session.may("update", meta.set) || !meta.canUpdate
            ? Actions.buttons(meta, {
                after: (action, result) => this._page.afterAction(action, result),
                except: added.concat(Extensions.of(meta.set).sections).flatMap((one) => one.replaces || [])
              })
            : [];
        bound.forEach((one) => this._onlyWhileShown(one));
        return [
          new Button({
            text: "{i18n>generic.edit}",
            type: "Emphasized",
            visible: "{object>/mayEdit}",
            press: this._press(this._page.edit)
          }),
          ...own,
          ...bound,
          new Button({
            text: "{i18n>generic.delete}",
            type: "Transparent",
            visible: "{object>/mayDelete}",
            press: this._press(this._page.remove)
          })
        ];
      }

      _added(one, view) {
        const button = new Button({
          text: `{i18n>${one.textKey}}`,
          icon: one.icon,
          type: "Transparent",
          press: this._press(async () => {
            await one.press({view, model: view.getModel(), context: view.getBindingContext()});
            this._page.reread();
          })
        });
        if (one.isEnabled) {
          button.bindProperty("visible", {
            parts: (one.paths || ["ID"]).map((path) => ({path, targetType: "any"})),
            formatter: () => Boolean(button.getBindingContext()) && one.isEnabled(button.getBindingContext())
          });
        }
        return button;
      }

      /** Actions are for what is saved: while something is edited in place they wait. */
      _onlyWhileShown(button) {
        button.bindProperty("enabled", {path: "object>/isEditing", formatter: (isEditing) => !isEditing});
      }

      /** The footer: messages, whether the draft is kept, and how editing ends. */
      footer() {
        this._toolbar = new OverflowToolbar({
          visible: "{object>/isEditing}",
          content: [
            this._messages,
            this._indicator,
            new ObjectStatus({
              text: "{object>/unsent}",
              state: "Error",
              icon: "sap-icon://alert",
              visible: "{= !!${object>/unsent} }"
            }),
            new ToolbarSpacer(),
            new Button({
              text: "{i18n>generic.save}",
              type: "Emphasized",
              visible: "{= !${object>/isNode} }",
              press: this._press(this._page.save)
            }),
            new Button({
              text: "{= ${object>/isDraft} ? ${i18n>generic.discardDraft} : ${i18n>generic.cancel} }",
              visible: "{= !${object>/isNode} }",
              press: this._press(this._page.discard)
            }),
            new Button({
              text: "{i18n>generic.done}",
              type: "Emphasized",
              visible: "{object>/isNode}",
              press: () => window.history.back() // to the page that it is a part of
            })
          ]
        });
        return this._toolbar;
      }

      /** Which of the buttons there are, on a page that shows a draft, something new, or what is active. */
      show({meta, isNew, isDraft, isEditing = isNew || isDraft}) {
        const {set} = meta;
        this._state.setData({
          isEditing,
          isDraft,
          isNode: meta.isNode,
          mayEdit: !isEditing && !meta.isNode && meta.canUpdate && Session.may("update", set),
          mayDelete: !isEditing && !meta.isNode && meta.canDelete && Session.may("delete", set),
          unsent: ""
        });
        this._page.byId("page").setShowFooter(isEditing);
      }

      /** Nothing is shown or said any more. */
      reset() {
        this._indicator.clearDraftState();
        this._state.setData({isEditing: false, unsent: ""});
      }

      /** A change is on its way, or has arrived. */
      saving(isUnderWay, isSaved = true) {
        if (!this._state.getProperty("/isDraft")) {
          return;
        }
        if (isUnderWay) {
          this._indicator.showDraftSaving();
        } else if (isSaved) {
          this._indicator.showDraftSaved();
        } else {
          this._indicator.clearDraftState();
        }
      }

      /** Which fields of the draft the service has not taken, in words; "" when it has all. */
      unsent(words) {
        this._state.setProperty("/unsent", words);
      }

      /** Whether something is edited. */
      isEditing() {
        return this._state.getProperty("/isEditing");
      }

      /** Opens the messages. */
      showMessages() {
        this._messages.firePress();
      }
    };
  }
);
