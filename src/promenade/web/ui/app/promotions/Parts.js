sap.ui.define(
  [
    "promenade/generic/History",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/promotions/Calculation",
    "promenade/promotions/Check",
    "promenade/promotions/Forecast",
    "promenade/promotions/Forms",
    "promenade/promotions/Linked",
    "promenade/promotions/Pilot",
    "promenade/promotions/Places",
    "promenade/promotions/Rejection",
    "promenade/promotions/Texts",
    "promenade/rules/Editor"
  ],
  function (
    History,
    Messages,
    Http,
    Calculation,
    Check,
    Forecast,
    Forms,
    Linked,
    Pilot,
    Places,
    Rejection,
    Texts,
    Editor
  ) {
    "use strict";

    const GENERAL = [
      ["identity", ["code", "name", "description", "type", "campaign_ID", "externalReference"]],
      ["validity", ["validFrom", "validTo", "currency"]],
      ["order", ["priority", "exclusivityLevel", "mutualExclusionGroup_ID"]],
      ["limits", ["maxApplicationsPerTransaction", "maxApplicationsPerCustomer", "maxApplicationsTotal"]],
      ["counting", ["countsTowardsThreshold", "excludedCountsTowardsThreshold"]],
      ["returns", ["returnPolicy"]],
      ["experiment", ["isExperiment", "experimentGroupId", "controlGroupId"]]
    ];
    const PLACE = "$expand=posGroup($select=ID,code,name)";
    const OF_DRAFT = `posGroups(${PLACE}),calculationConfig`;
    const BUDGET = "ID,code,name,status,statusCriticality,totalAmount,remainingAmount,currency";
    const OF_ACTIVE = [
      OF_DRAFT,
      "couponTypePromotions($expand=couponType($select=ID,code,name,status))",
      `budgetPromotions($expand=budget($select=${BUDGET}))`,
      `promotionPilotConfigs($expand=pilotPosGroups(${PLACE}),controlPosGroups(${PLACE}))`
    ].join(",");

    /** The sections of a promotion's page. */
    return class Parts {
      constructor(controller, meta, saving) {
        this._controller = controller;
        this._meta = meta;
        this._saving = saving;
        const keep = (name) => (value) => saving.change({[name]: value});
        this._places = new Places({onChange: keep("posGroups")});
        this._calculation = new Calculation({onChange: keep("calculationConfig")});
        this.check = new Check({reveal: (finding) => this._reveal(finding)});
        this._forecast = new Forecast();
        this._rejection = new Rejection(controller.byId("rejection"));
        Object.entries(this._contents()).forEach(([name, control]) => this._section(name).addItem(control));
      }

      /**
       * What stands in the sections, by their names.
       *
       * @returns {Record<string, any>}
       */
      _contents() {
        this._pilot = new Pilot({view: this._controller.getView(), onChange: () => this._controller.reload()});
        this._linked = new Linked();
        this._history = History.create();
        return {
          places: Forms.around([
            [Texts.get("group.places"), [[Texts.get("field.posGroups"), this._places.control]]],
            [Texts.get("group.calculation"), this._calculation.rows]
          ]),
          check: this.check.control,
          forecast: this._forecast.control,
          pilot: this._pilot.control,
          linked: this._linked.control,
          history: this._history
        };
      }

      _section(name) {
        return this._controller.byId(`${name}Content`);
      }

      /** Shows a promotion or a draft of one: `{id, isActive, isEditable, currency, status}`. */
      async show(shown) {
        this._shown = shown;
        this._forms().forEach((name) => this._section(name).setVisible(true));
        this._places.setEditable(shown.isEditable);
        this._calculation.setEditable(shown.isEditable);
        if (this._history) {
          const model = this._controller.getOwnerComponent().getModel();
          History.show(this._history, model, "Promotions", shown.isActive ? shown.id : null);
        }
        const tasks = [
          this._showRules(shown),
          this._showRows(shown),
          this.check.show(shown),
          this._forecast.show(shown),
          this._rejection.show(shown),
          shown.isActive && this._linked?.show(shown)
        ];
        await Promise.all(tasks);
      }

      /** Asks for nothing more. */
      stop() {
        this._forecast.stop();
      }

      /** Makes the form of what is shown next, before that is asked for: all that it shows comes with one answer. */
      prepare(isEditable) {
        if (this._isForm !== isEditable) {
          this._isForm = isEditable;
          this._form(isEditable);
        }
        // What is typed before a draft has been read would be lost.
        this._forms().forEach((name) => this._section(name).setVisible(!isEditable));
      }

      /** The sections with fields of the promotion itself. */
      _forms() {
        return ["general"];
      }

      _form(isEditable) {
        this._fill("general", Forms.of(this._meta, GENERAL, isEditable));
      }

      _fill(name, ...controls) {
        const section = this._section(name);
        section.destroyItems();
        controls.forEach((one) => section.addItem(one));
      }

      async _showRules(shown) {
        const {id, isEditable, currency} = shown;
        if (this.editor && this._editorOf === id) {
          this.editor.setEditable(isEditable);
          this.editor.setCurrency(currency || "");
          await this.editor.load();
          return;
        }
        this._empty();
        this.editor = null;
        this._editorOf = id;
        const editor = await Editor.create({promotionId: id, isEditable, currency: currency || ""});
        if (this._editorOf === id) {
          this._take(editor);
          this._fill("rules", editor.control);
        } else {
          editor.control.destroy();
        }
      }

      /** Shows no rules: those of another promotion are on their way. */
      _empty() {
        this._fill("rules");
      }

      /** Has an editor of the rules, which is loaded. */
      _take(editor) {
        this.editor = editor;
      }

      async _showRows(shown) {
        const {id, isActive} = shown;
        const expand = isActive ? OF_ACTIVE : OF_DRAFT;
        const row = await Http.get(
          `/admin/Promotions(ID=${id},IsActiveEntity=${isActive})?$select=ID&$expand=${expand}`
        );
        if (shown !== this._shown) {
          return;
        }
        this._places.setRows(row.posGroups);
        this._calculation.setConfig(row.calculationConfig);
        if (isActive) {
          this._showLinks(row);
        }
      }

      /** Shows what refers to a promotion that is active. */
      _showLinks(row) {
        this._linked?.setRows(row);
        this._pilot?.setConfig(row.ID, row.promotionPilotConfigs[0] || null);
      }

      /** Whether the rules were changed and not saved. */
      isUnsaved() {
        return Boolean(this.editor && this.editor.isChanged());
      }

      /** Whether it may be saved as it stands, after whatever is to be asked. */
      async maySave() {
        return true;
      }

      /** What a change set must hold, behind the activation of the draft, so that all that is shown is stored. */
      requests() {
        return this.editor.requests();
      }

      /** Shows what the change set was refused with; see `Editor.showError`. */
      showError(error) {
        return this.editor.showError(error);
      }

      /** Forgets changes of the rules, and what stands in fields that cannot take it. */
      forget() {
        this._isForm = null;
        this.editor = null;
        this._editorOf = null;
      }

      /** Whether the rules can be saved; what is wrong is shown at its field. */
      isValid() {
        if (!this.editor) {
          return false;
        }
        const faults = this.editor.validate();
        if (faults.length) {
          this.goTo("rules");
          Messages.toast("promotions.rulesWrong", [faults.length]);
        }
        return !faults.length;
      }

      /** Scrolls to a section and selects it: when the layout is computed again, it scrolls to the selected section. */
      goTo(section) {
        const page = this._controller.byId("page");
        const id = this._controller.byId(section).getId();
        page.scrollToSection(id);
        page.setSelectedSection(id);
      }

      /** Leads to what a finding is about. */
      _reveal({target}) {
        const [set] = target.split("/");
        const isRule = set !== "Promotions" && set !== "PromotionPosGroups";
        this.goTo(isRule ? "rules" : "general");
      }
    };
  }
);
