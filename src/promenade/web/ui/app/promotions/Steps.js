sap.ui.define(
  [
    "sap/m/Select",
    "sap/ui/core/Item",
    "promenade/generic/Messages",
    "promenade/promotions/Forms",
    "promenade/promotions/Links",
    "promenade/promotions/Parts",
    "promenade/promotions/Period",
    "promenade/promotions/Recipes",
    "promenade/promotions/Summary",
    "promenade/promotions/Texts",
    "promenade/resources/NeedsCoupon",
    "promenade/rules/Quick",
    "promenade/rules/Rows"
  ],
  function (Select, Item, Messages, Forms, Links, Parts, Period, Recipes, Summary, Texts, NeedsCoupon, Quick, Rows) {
    "use strict";

    const EXPERT = [
      ["identity", ["code", "description", "campaign_ID", "externalReference", "currency"]],
      ["order", ["priority", "exclusivityLevel", "mutualExclusionGroup_ID"]],
      ["limits", ["maxApplicationsPerTransaction", "maxApplicationsPerCustomer", "maxApplicationsTotal"]],
      ["counting", ["countsTowardsThreshold", "excludedCountsTowardsThreshold"]],
      ["returns", ["returnPolicy"]],
      ["experiment", ["isExperiment", "experimentGroupId", "controlGroupId"]]
    ];
    /** The rules that each step asks for. */
    const RULES = {
      what: [
        {kind: "DiscountActions", key: "benefit"},
        {kind: "LoyaltyActions", key: "points"},
        {kind: "Conditions", families: ["basket"], key: "basket"}
      ],
      who: [{kind: "Conditions", families: ["customer", "payment"], key: "customers"}],
      where: [{kind: "Conditions", families: ["other"], key: "channel"}],
      when: [{kind: "Conditions", families: ["time"], key: "time"}]
    };
    const MONTHS = 12;

    /** The steps of the guided way to a promotion. */
    return class Steps extends Parts {
      constructor(controller, meta, saving) {
        super(controller, meta, saving);
        this._summary = new Summary();
        controller.byId("summary").addContent(this._summary.control);
        this._links = new Links({onChange: () => this._tell()});
        controller.byId("linksContent").addItem(this._links.control);
        /** @type {Quick[]} */
        this._quicks = [];
      }

      _contents() {
        return {
          places: Forms.around([["", [[Texts.get("field.posGroups"), this._places.control]]]]),
          calculation: Forms.around([[Texts.get("group.calculation"), this._calculation.rows]]),
          check: this.check.control,
          forecast: this._forecast.control
        };
      }

      _forms() {
        return ["what", "when", "expert"];
      }

      _form(isEditable) {
        const of = (groups) => Forms.of(this._meta, groups, isEditable);
        this._fill("what", of([[null, ["name"]]]));
        this._fill("expert", of(EXPERT));
        const months = isEditable ? [Forms.around([["", [[Texts.get("guide.month"), this._months()]]]])] : [];
        this._fill("when", ...months, of([[null, ["validFrom", "validTo"]]]));
      }

      /** A whole month as the validity, at one go. */
      _months() {
        const now = Period.of(new Date(), "month");
        const months = Array.from({length: MONTHS}, (_, at) => Period.step(now, "month", at));
        const windows = months.map((first) => ({first, ...Period.bounds(first, "month")}));
        const isOf = (shown, bound) => Date.parse(shown) === Date.parse(bound);
        const keyOf = (from, to) => windows.find((one) => isOf(from, one.from) && isOf(to, one.to))?.first || "";
        const items = windows.map(({first}) => new Item({key: first, text: Period.title(first, "month")}));
        return new Select({
          width: "100%",
          items: [new Item({key: "", text: Texts.get("guide.month.none")}), ...items],
          selectedKey: {
            parts: ["validFrom", "validTo"].map((path) => ({path, targetType: "any"})),
            formatter: keyOf
          },
          change: (event) => this._setMonth(event.getParameter("selectedItem").getKey())
        });
      }

      _setMonth(first) {
        if (first) {
          const {from, to} = Period.bounds(first, "month");
          const context = this._controller.byId("page").getBindingContext();
          // What the service does not take is told at its field, and named in the page's foot.
          context.setProperty("validFrom", from).catch(() => undefined);
          context.setProperty("validTo", to).catch(() => undefined);
        }
      }

      async show(shown) {
        await Promise.all([super.show(shown), this._links.show(shown)]);
        if (shown === this._shown) {
          this._tell();
        }
      }

      _empty() {
        super._empty();
        Object.keys(RULES).forEach((step) => this._controller.byId(`${step}Rules`).destroyItems());
        this._quicks = [];
      }

      _take(editor) {
        super._take(editor);
        const {desk} = editor;
        this._type = this._shown.type;
        this._begin(desk);
        this._quicks = Object.entries(RULES).map(([step, adds]) => {
          const quick = new Quick(desk, adds);
          this._controller.byId(`${step}Rules`).addItem(quick.control);
          return quick;
        });
        desk.listeners.push(() => this._onRules(desk));
        this._tell();
      }

      /** The rules that a new promotion starts with, by what was chosen in the gallery. */
      _begin(desk) {
        const {isNew, isEditable, start} = this._shown;
        const recipe = isNew && isEditable && !desk.all().length && Recipes.of(start);
        if (recipe) {
          recipe.rules.forEach(([kind, type, values]) => desk.add(kind, type, JSON.parse(JSON.stringify(values))));
        }
        if (recipe && recipe.hasCoupon) {
          this._links.addCoupon();
        }
      }

      _onRules(desk) {
        this._tell();
        const type = Recipes.typeOf(
          desk.rows("DiscountActions").map((row) => Rows.type(row)),
          desk.rows("LoyaltyActions").length > 0
        );
        if (this._shown.isEditable && desk.isChanged() && type && type !== this._type) {
          this._type = type;
          this._saving.change({type});
        }
      }

      /** Says at the side how it stands. */
      _tell() {
        const desk = this.editor && this.editor.desk;
        const page = this._controller.byId("page");
        this._summary.control.setBindingContext(page.getBindingContext());
        this._summary.tell({desk, places: this._places.names(), ...this._links.words()});
      }

      _showLinks() {
        // The step for coupons and budgets reads them itself, for drafts as well.
      }

      isUnsaved() {
        return super.isUnsaved() || this._links.isChanged();
      }

      forget() {
        super.forget();
        this._links.forget();
      }

      isValid() {
        if (!this.editor) {
          return false;
        }
        const faults = this.editor.validate();
        if (faults.length) {
          Messages.toast("promotions.rulesWrong", [faults.length]);
          setTimeout(() => this._lead()); // after the editor, which puts the cursor where it is not seen
        }
        return this._links.isValid() && !faults.length;
      }

      _lead() {
        if (!this._quicks.some((one) => one.lead())) {
          this._controller.byId("advanced").setExpanded(true);
          this.goTo("what");
        }
      }

      async maySave() {
        return this._shown.isNew || !this._links.isNewlyBound() || NeedsCoupon.mayLink(this._shown.id);
      }

      requests() {
        const {name} = this._controller.byId("page").getBindingContext().getObject();
        return [...super.requests(), ...this._links.requests(this._shown.id, name)];
      }

      _reveal({target}) {
        const [set] = target.split("/");
        const step = {Promotions: "when", PromotionPosGroups: "where", Budgets: "with", CouponTypes: "with"}[set];
        this.goTo(step || "what");
      }
    };
  }
);
