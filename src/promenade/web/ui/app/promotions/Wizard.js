sap.ui.define(
  [
    "sap/f/GridList",
    "sap/f/GridListItem",
    "sap/m/Button",
    "sap/m/DateTimePicker",
    "sap/m/Dialog",
    "sap/m/Input",
    "sap/m/NavContainer",
    "sap/m/ObjectStatus",
    "sap/m/Page",
    "sap/m/SearchField",
    "sap/m/Text",
    "sap/m/Title",
    "sap/m/VBox",
    "sap/ui/layout/cssgrid/GridBoxLayout",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Messages",
    "promenade/generic/Unsaved",
    "promenade/promotions/Adjusting",
    "promenade/promotions/Creating",
    "promenade/promotions/Filters",
    "promenade/promotions/Forms",
    "promenade/promotions/Places",
    "promenade/promotions/TemplateCopy",
    "promenade/promotions/Texts"
  ],
  function (
    GridList,
    GridListItem,
    Button,
    DateTimePicker,
    Dialog,
    Input,
    NavContainer,
    ObjectStatus,
    Page,
    SearchField,
    Text,
    Title,
    VBox,
    GridBoxLayout,
    JSONModel,
    Messages,
    Unsaved,
    Adjusting,
    Creating,
    Filters,
    Forms,
    Places,
    TemplateCopy,
    Texts
  ) {
    "use strict";

    function card(press) {
      const words = new VBox({
        items: [
          new Title({text: "{name}", level: "H3", titleStyle: "H6", wrapping: true}),
          new Text({text: "{description}"}),
          new ObjectStatus({
            text: {
              parts: ["type", "useCase"],
              formatter: (type, useCase) =>
                [Texts.type(type), Texts.code("useCase", useCase)].filter(Boolean).join(" · ")
            },
            state: "Information"
          })
        ]
      });
      return new GridListItem({
        type: "Active",
        press,
        content: [words.addStyleClass("sapUiSmallMargin promenadeCard")]
      });
    }

    function isFaulty(control) {
      return control.getValueState && control.getValueState() === "Error";
    }

    /** A promotion from a template: choose one, say what is different, done. */
    class Wizard {
      constructor(view) {
        this._view = view;
        /** @type {any[]} */
        this._values = [];
        /** @type {any} */
        this._places = null;
        this._model = view.getModel();
        this._choice = new Page({showHeader: false, content: this._cards()});
        this._details = new Page({showHeader: false});
        this._pages = new NavContainer({pages: [this._choice, this._details], height: "100%"});
        this._back = new Button({text: Texts.get("wizard.back"), visible: false, press: () => this._return()});
        this._make = new Button({
          text: Texts.get("wizard.make"),
          type: "Emphasized",
          visible: false,
          press: () => this._finish()
        });
        this._dialog = new Dialog({
          title: Texts.get("wizard.title"),
          contentWidth: "58rem",
          contentHeight: "36rem",
          resizable: true,
          verticalScrolling: false,
          content: [this._pages],
          initialFocus: this._search,
          buttons: [this._back, this._make, new Button({text: Texts.get("cancel"), press: () => this._dialog.close()})],
          afterClose: () => this._dialog.destroy()
        });
        this._dialog.addStyleClass("sapUiSizeCompact");
        view.addDependent(this._dialog);
      }

      open() {
        this._dialog.open();
      }

      _cards() {
        const list = new GridList({
          growing: true,
          growingThreshold: 24,
          noDataText: Texts.get("wizard.none"),
          customLayout: new GridBoxLayout({boxesPerRowConfig: "XL3 L3 M2 S1"}),
          items: {
            path: "/PromotionTemplates",
            parameters: {$orderby: "name,ID", $select: "ID,name,description,code,type,useCase"},
            template: card((event) => this._choose(event.getSource().getBindingContext().getProperty("ID")))
          }
        });
        this._search = new SearchField({
          placeholder: Texts.get("wizard.search"),
          search(event) {
            const typed = Filters.quoted((event.getParameter("query") || "").toLowerCase());
            const found = ["name", "code", "description"]
              .map((one) => `contains(tolower(${one}),${typed})`)
              .join(" or ");
            list.getBinding("items").changeParameters({$filter: found});
          }
        });
        return [new VBox({items: [this._search, list]}).addStyleClass("promenadeCards")];
      }

      async _choose(templateId) {
        this._dialog.setBusy(true);
        try {
          this._template = new JSONModel(await TemplateCopy.read(templateId));
          await this._ask(this._template.getData());
          this._pages.to(this._details);
          this._show(true);
        } catch (error) {
          await Messages.show(error);
        } finally {
          this._dialog.setBusy(false);
        }
      }

      async _ask({name}) {
        const [references, values] = await Promise.all([
          Adjusting.references(this._template),
          Adjusting.values(this._model, this._template)
        ]);
        this._name = new Input({
          required: true,
          maxLength: 255,
          value: Texts.plain(name),
          change: () => this._isNamed()
        });
        this._code = new Input({maxLength: 50});
        this._from = new DateTimePicker();
        this._to = new DateTimePicker();
        this._places = new Places();
        this._values = [...references, ...values].map(([, control]) => control);
        const general = [
          [Texts.get("field.name"), this._name],
          [Texts.get("field.code"), this._code],
          [Texts.get("wizard.from"), this._from],
          [Texts.get("wizard.to"), this._to],
          [Texts.get("field.posGroups"), this._places.control]
        ];
        const rules = [...references, ...values];
        const groups = [[Texts.get("wizard.general"), general]];
        this._details.destroyContent();
        this._details.addContent(Forms.around(rules.length ? [...groups, [Texts.get("wizard.rules"), rules]] : groups));
      }

      _show(isAsking) {
        this._back.setVisible(isAsking);
        this._make.setVisible(isAsking);
        this._dialog.setTitle(isAsking ? this._template.getProperty("/name") : Texts.get("wizard.title"));
        if (isAsking) {
          this._name.focus();
          this._name.selectText(0, this._name.getValue().length);
        }
      }

      _return() {
        this._pages.back();
        this._show(false);
      }

      _isNamed() {
        const isNamed = this._name.getValue().trim() !== "";
        this._name.setValueState(isNamed ? "None" : "Error");
        this._name.setValueStateText(Texts.get("wizard.nameMissing"));
        return isNamed;
      }

      _given() {
        const moment = (picker) => (picker.getDateValue() ? picker.getDateValue().toISOString() : null);
        return {
          name: this._name.getValue().trim(),
          code: this._code.getValue().trim(),
          validFrom: moment(this._from),
          validTo: moment(this._to),
          posGroups: this._places.rows()
        };
      }

      async _finish() {
        await Unsaved.taken();
        const wrong = [this._from, this._to, this._places.control, ...this._values].find(isFaulty);
        if (!this._isNamed() || wrong) {
          (wrong || this._name).focus();
          return;
        }
        this._dialog.setBusy(true);
        try {
          const given = this._given();
          const id = await TemplateCopy.make(this._model, this._template.getData(), given);
          this._dialog.close();
          Messages.toast("promotions.copied", [given.name]);
          Creating.open(this._view, id);
        } catch (error) {
          this._dialog.setBusy(false);
          await Messages.show(error);
        }
      }
    }

    return {
      /** Opens it. */
      open(view) {
        new Wizard(view).open();
      }
    };
  }
);
