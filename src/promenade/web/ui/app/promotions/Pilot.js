sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/CheckBox",
    "sap/m/FlexBox",
    "sap/m/Input",
    "sap/m/Link",
    "sap/m/StepInput",
    "sap/m/Text",
    "sap/m/VBox",
    "promenade/generic/Clock",
    "promenade/generic/Format",
    "promenade/generic/Marks",
    "promenade/generic/Messages",
    "promenade/generic/Moment",
    "promenade/generic/Unsaved",
    "promenade/generic/Zone",
    "promenade/net/Http",
    "promenade/promotions/Creating",
    "promenade/promotions/Forms",
    "promenade/promotions/Places",
    "promenade/promotions/Texts",
    "promenade/session/Session"
  ],
  function (
    Button,
    CheckBox,
    FlexBox,
    Input,
    Link,
    StepInput,
    Text,
    VBox,
    Clock,
    Format,
    Marks,
    Messages,
    Moment,
    Unsaved,
    Zone,
    Http,
    Creating,
    Forms,
    Places,
    Texts,
    Session
  ) {
    "use strict";

    const SET = "PromotionPilotConfigs";
    const DAYS = 28;
    const names = (rows) => rows.map((row) => row.posGroup.name).join(", ") || Texts.get("pilot.nowhere");

    /** The part of one as percent, without passing through a fraction: `0.25` -> 25. */
    const percentOf = (share) => Math.round(Number(share) * 100);
    const shareOf = (percent) => (percent / 100).toFixed(2);

    class Dialog {
      constructor(view, promotionId, config) {
        this._view = view;
        this._promotionId = promotionId;
        this._config = config;
        const today = Zone.day(new Date());
        this._start = new Moment({
          required: true,
          label: Texts.get("pilot.start"),
          value: config ? config.pilotStartAt : Zone.begin(today)
        });
        this._end = new Moment({
          required: true,
          isEnd: true,
          label: Texts.get("pilot.end"),
          value: config ? config.pilotEndAt : Zone.end(Clock.later(today, DAYS - 1))
        });
        this._share = new StepInput({
          min: 1,
          max: 100,
          value: config ? percentOf(config.pilotShare) : 100,
          description: "%"
        });
        this._auto = new CheckBox({selected: Boolean(config && config.autoPromote)});
        this._threshold = new Input({
          type: "Number",
          description: "%",
          value: (config && config.autoPromoteThreshold) ?? ""
        });
        this._pilot = new Places({placeholder: Texts.get("pilot.choose")});
        this._control = new Places({placeholder: Texts.get("pilot.choose")});
        this._pilot.setRows(config ? config.pilotPosGroups : []);
        this._control.setRows(config ? config.controlPosGroups : []);
      }

      open(onSaved) {
        const row = (key, control) => [Texts.get(`pilot.${key}`), control];
        Creating.ask(this._view, {
          title: Texts.get(this._config ? "pilot.change" : "pilot.setUp"),
          width: "36rem",
          content: [
            Forms.around([
              [
                null,
                [
                  row("start", this._start),
                  row("end", this._end),
                  row("groups", this._pilot.control),
                  row("control", this._control.control),
                  row("share", this._share),
                  row("auto", this._auto),
                  row("threshold", this._threshold)
                ]
              ]
            ])
          ],
          action: Texts.get("save"),
          initialFocus: this._start,
          confirm: async () => {
            await Unsaved.taken();
            if (!this._isComplete()) {
              return false;
            }
            await this._save();
            onSaved();
            return true;
          }
        });
      }

      _isComplete() {
        const wanted = [this._start, this._end].map((one) => [one, one.isGiven(), "pilot.moment"]);
        wanted.push([
          this._threshold,
          !this._auto.getSelected() || Boolean(this._threshold.getValue()),
          "pilot.uplift"
        ]);
        for (const [control, isGiven, text] of wanted) {
          control.setValueState(isGiven ? "None" : "Error");
          control.setValueStateText(Texts.get(text));
        }
        const unnamed = [this._pilot.control, this._control.control].find((one) => Marks.has(one));
        unnamed?.focus();
        return !unnamed && wanted.every(([, isGiven]) => isGiven);
      }

      _values() {
        return {
          pilotStartAt: this._start.getValue(),
          pilotEndAt: this._end.getValue(),
          pilotShare: shareOf(this._share.getValue()),
          autoPromote: this._auto.getSelected(),
          autoPromoteThreshold: this._threshold.getValue() || null,
          pilotPosGroups: this._pilot.rows(),
          controlPosGroups: this._control.rows()
        };
      }

      _save() {
        const headers = {"Content-Type": "application/json;IEEE754Compatible=true"};
        const values = this._values();
        if (this._config) {
          const at = `/admin/${SET}(ID=${this._config.ID},IsActiveEntity=true)`;
          return Http.request("PATCH", at, {body: JSON.stringify(values), headers});
        }
        const body = JSON.stringify({...values, promotion_ID: this._promotionId, IsActiveEntity: true});
        return Http.request("POST", `/admin/${SET}`, {body, headers});
      }
    }

    /** How a promotion is tried out, and the way to what came of it. */
    return class Pilot {
      constructor({view, onChange}) {
        this._view = view;
        this._onChange = onChange;
        this.control = new VBox();
      }

      /** Shows a promotion's configuration, null: it has none. */
      setConfig(promotionId, config) {
        this.control.destroyItems();
        this.control.addItem(config ? this._shown(config) : new Text({text: Texts.get("pilot.none")}));
        const change = new Button({
          text: Texts.get(config ? "pilot.change" : "pilot.setUp"),
          icon: "sap-icon://lab",
          visible: Session.may(config ? "update" : "create", SET),
          press: () => new Dialog(this._view, promotionId, config).open(() => this._onChange())
        });
        const report = new Link({
          text: Texts.get("pilot.report"),
          href: `#/reports/abTests?promotion=${promotionId}`,
          visible: Boolean(config) && Session.current().services.reporting
        });
        const bottom = new FlexBox({wrap: "Wrap", alignItems: "Center", items: [change, report]});
        this.control.addItem(bottom.addStyleClass("promenadeGap"));
      }

      _shown(config) {
        const text = (value) => new Text({text: Texts.plain(value)});
        return Forms.around(
          [
            [
              null,
              [
                [Texts.get("pilot.window"), text(Texts.validity(config.pilotStartAt, config.pilotEndAt))],
                [Texts.get("pilot.groups"), text(names(config.pilotPosGroups))],
                [Texts.get("pilot.control"), text(names(config.controlPosGroups))],
                [Texts.get("pilot.share"), text(`${percentOf(config.pilotShare)} %`)],
                [
                  Texts.get("pilot.auto"),
                  text(
                    config.autoPromote
                      ? Texts.get("pilot.from", [Format.percent(config.autoPromoteThreshold || "0")])
                      : Texts.get("pilot.no")
                  )
                ]
              ]
            ]
          ],
          false
        );
      }
    };
  }
);
