sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/Input",
    "sap/m/Label",
    "sap/m/SearchField",
    "sap/m/StandardListItem",
    "sap/m/List",
    "sap/m/VBox",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/promotions/Bulk",
    "promenade/promotions/Filters",
    "promenade/promotions/Texts"
  ],
  function (
    Button,
    Dialog,
    Input,
    Label,
    SearchField,
    StandardListItem,
    List,
    VBox,
    Messages,
    Http,
    Bulk,
    Filters,
    Texts
  ) {
    "use strict";

    /**
     * A dialog that is gone when it is closed; `confirm` answers whether it may close.
     *
     * @param {any} view
     * @param {object} options
     * @param {string} options.title
     * @param {any[]} options.content
     * @param {string} [options.action]
     * @param {() => unknown} [options.confirm]
     * @param {any} [options.initialFocus]
     * @param {string} [options.width]
     */
    function ask(view, {title, content, action, confirm, initialFocus, width = "28rem"}) {
      const dialog = new Dialog({
        title,
        content,
        initialFocus,
        contentWidth: width,
        beginButton: action && new Button({text: action, type: "Emphasized", press: () => finish()}),
        endButton: new Button({text: Texts.get("cancel"), press: () => dialog.close()}),
        afterClose: () => dialog.destroy()
      });

      async function finish() {
        dialog.setBusy(true);
        try {
          if (await confirm?.()) {
            dialog.close();
          }
        } catch (error) {
          await Messages.show(error);
        } finally {
          dialog.setBusy(false);
        }
      }

      view.addDependent(dialog);
      dialog.addStyleClass("sapUiContentPadding sapUiSizeCompact");
      dialog.open();
      return dialog;
    }

    function labelled(label, input) {
      return new VBox({items: [new Label({text: label, labelFor: input, required: input.getRequired()}), input]});
    }

    /** What begins a promotion, from nothing or from something there is. */
    const Creating = {
      ask,
      labelled,

      /** Opens the page of a promotion. */
      open(view, key) {
        view.getController().getOwnerComponent().getRouter().navTo("promotion", {key});
      },

      /** Asks for code and name of a copy, makes it, and opens it. */
      copyOf(view, id, name) {
        const newName = new Input({required: true, maxLength: 255, value: Texts.plain(Texts.get("copyName", [name]))});
        const code = new Input({maxLength: 50});
        ask(view, {
          title: Texts.plain(Texts.get("copyTitle", [name])),
          content: [labelled(Texts.get("field.name"), newName), labelled(Texts.get("field.code"), code)],
          action: Texts.get("copy"),
          initialFocus: newName,
          async confirm() {
            const given = {name: newName.getValue().trim(), ...(code.getValue() ? {code: code.getValue().trim()} : {})};
            const made = await Http.post(`/admin/Promotions(ID=${id},IsActiveEntity=true)/copy`, given);
            Messages.toast("promotions.copied", [given.name]);
            Creating.open(view, made.ID);
            return true;
          }
        });
      },

      /**
       * Asks for a campaign and puts promotions, `[{id, name}]`, into it at one go; resolves with whether that was
       * done. Why not, and because of which, is shown.
       */
      toCampaign(view, promotions) {
        return new Promise((resolve) => {
          let isDone = false;
          const list = new List({
            growing: true,
            growingThreshold: 20,
            mode: "SingleSelectMaster",
            noDataText: Texts.get("noCampaigns"),
            items: {
              path: "/Campaigns",
              parameters: {$select: "ID,code,name", $orderby: "name", $filter: "locked ne true"},
              template: new StandardListItem({title: "{name}", description: "{code}"})
            },
            async selectionChange(event) {
              const campaign = event.getParameter("listItem").getBindingContext().getObject();
              dialog.setBusy(true);
              try {
                await Http.post(`/admin/Campaigns(${campaign.ID})/addPromotions`, {
                  promotionIds: promotions.map(({id}) => id)
                });
                isDone = true;
                Messages.toast("promotions.inCampaign", [promotions.length, campaign.name]);
                dialog.close();
              } catch (error) {
                dialog.setBusy(false);
                list.removeSelections();
                const [, place] = /^promotionIds\/(\d+)$/.exec(error.target || "") || [];
                Bulk.refused(promotions[place], error).catch((other) => Messages.show(other));
              }
            }
          });
          const search = new SearchField({
            ariaLabelledBy: [],
            tooltip: Texts.get("search"),
            placeholder: Texts.get("campaignHint"),
            search(event) {
              const typed = Filters.quoted(event.getParameter("query").toLowerCase());
              const found = `(contains(tolower(name),${typed}) or contains(tolower(code),${typed}))`;
              list.getBinding("items").changeParameters({$filter: `locked ne true and ${found}`});
            }
          });
          const title = Texts.get("toCampaignTitle", [promotions.length]);
          const dialog = ask(view, {title, content: [search, list], initialFocus: search});
          dialog.attachAfterClose(() => resolve(isDone));
        });
      }
    };

    return Creating;
  }
);
