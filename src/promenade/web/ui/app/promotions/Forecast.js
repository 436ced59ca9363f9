sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/DateRangeSelection",
    "sap/m/FlexBox",
    "sap/m/Label",
    "sap/m/MessageStrip",
    "sap/m/ProgressIndicator",
    "sap/m/Select",
    "sap/m/VBox",
    "sap/ui/core/Item",
    "promenade/generic/Clock",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Zone",
    "promenade/net/Http",
    "promenade/promotions/ForecastResult",
    "promenade/promotions/Outdated",
    "promenade/promotions/Texts",
    "promenade/session/Session"
  ],
  function (
    Button,
    DateRangeSelection,
    FlexBox,
    Label,
    MessageStrip,
    ProgressIndicator,
    Select,
    VBox,
    Item,
    Clock,
    Format,
    Messages,
    Zone,
    Http,
    ForecastResult,
    Outdated,
    Texts,
    Session
  ) {
    "use strict";

    const WAITS_MS = [500, 1000, 2000, 3000, 5000];
    const RUNNING = new Set(["QUEUED", "RUNNING"]);

    function labelled(key, control) {
      return new VBox({items: [new Label({text: Texts.get(key), labelFor: control}), control]});
    }

    /** The forecast of a promotion: the sales of a period priced again as if it had run. */
    return class Forecast {
      constructor() {
        this._asking = new AbortController();
        const today = Zone.day(new Date());
        const daysAgo = (days) => Zone.dateOf(Clock.later(today, -days));
        this._period = new DateRangeSelection({
          width: "17rem",
          dateValue: daysAgo(7),
          secondDateValue: daysAgo(1),
          maxDate: daysAgo(0)
        });
        this._start = new Button({
          text: Texts.get("forecast.start"),
          icon: "sap-icon://lead-outdated",
          press: () => this._begin()
        });
        this._earlier = new Select({
          width: "17rem",
          forceSelection: false,
          change: () => this._follow(this._earlier.getSelectedKey())
        });
        this._progress = new ProgressIndicator({width: "17rem", visible: false, state: "Information"});
        this._result = new VBox();
        this._outdated = new Outdated(Session.may("update", "Promotions") ? () => this._beginAgain() : null);
        const asking = [labelled("forecast.period", this._period), this._start];
        const earlier = labelled("forecast.earlier", this._earlier);
        this.control = new VBox({
          items: [
            new FlexBox({
              wrap: "Wrap",
              alignItems: "End",
              items: Session.may("update", "Promotions") ? [...asking, earlier] : [earlier]
            }).addStyleClass("promenadeGap"),
            this._progress,
            this._outdated.control,
            this._result
          ]
        });
      }

      /** Shows the page of a promotion, with what was forecast for it before. */
      async show({id, isActive, modifiedAt}) {
        this.stop();
        this._asking = new AbortController();
        this._id = id;
        this._promotion = {id, modifiedAt};
        await this._outdated.look(this._promotion, null);
        this._result.destroyItems();
        this._earlier.destroyItems();
        if (isActive) {
          await this._list(false).catch((error) => Messages.show(error));
        }
      }

      /** Asks no more; called when the page is left. */
      stop() {
        this._asking.abort();
        this._progress.setVisible(false);
        this._start.setEnabled(true);
      }

      async _list(isKept) {
        const id = this._id;
        const query = `$filter=promotion_ID eq ${id}&$orderby=createdAt desc&$top=10&$select=ID,dateFrom,dateTo`;
        const {value} = await Http.get(`/admin/PromotionForecasts?${query}`, {signal: this._asking.signal});
        if (id !== this._id) {
          return;
        }
        this._earlier.destroyItems();
        value.forEach((one) =>
          this._earlier.addItem(
            new Item({
              key: one.ID,
              text: Texts.get("forecast.item", [Format.date(one.dateFrom), Format.date(one.dateTo)])
            })
          )
        );
        this._earlier.setEnabled(value.length > 0);
        if (value.length && !isKept) {
          this._earlier.setSelectedKey(value[0].ID);
          await this._follow(value[0].ID);
        }
      }

      async _begin() {
        const [from, to] = [this._period.getDateValue(), this._period.getSecondDateValue()];
        const isPeriod = Boolean(from && to);
        this._period.setValueState(isPeriod ? "None" : "Error");
        this._period.setValueStateText(Texts.get("forecast.periodMissing"));
        if (!isPeriod) {
          this._period.focus();
          return;
        }
        await this._ask(from, to);
      }

      /** The same days once more, with the promotion as it is now. */
      async _beginAgain() {
        const {dateFrom, dateTo} = this._forecast;
        const [from, to] = [dateFrom, dateTo].map((day) => Zone.dateOf(day));
        this._period.setDateValue(from).setSecondDateValue(to);
        await this._ask(from, to);
      }

      async _ask(from, to) {
        this._start.setEnabled(false);
        try {
          const at = `/admin/Promotions(ID=${this._id},IsActiveEntity=true)/forecast`;
          const {ID} = await Http.post(at, {dateFrom: Zone.day(from), dateTo: Zone.day(to)});
          await this._follow(ID);
          await this._list(true);
          this._earlier.setSelectedKey(ID);
        } catch (error) {
          await Messages.show(error);
        } finally {
          this._start.setEnabled(true);
        }
      }

      /** Shows a forecast, and until it is done how far it is. */
      async _follow(forecastId) {
        if (!forecastId) {
          return;
        }
        this.stop();
        const asking = (this._asking = new AbortController());
        try {
          for (let turn = 0; ; turn++) {
            const forecast = await this._read(forecastId, asking.signal);
            this._showState(forecast);
            if (!RUNNING.has(forecast.status)) {
              break;
            }
            await this._pause(WAITS_MS[Math.min(turn, WAITS_MS.length - 1)], asking.signal);
          }
        } catch (error) {
          if (!asking.signal.aborted) {
            await Messages.show(error);
          }
        }
      }

      _read(forecastId, signal) {
        return Http.get(`/admin/PromotionForecasts(${forecastId})?$expand=amounts,budgets,displacements`, {signal});
      }

      _pause(duration, signal) {
        return new Promise((resolve, reject) => {
          const timer = setTimeout(resolve, duration);
          signal.addEventListener("abort", () => {
            clearTimeout(timer);
            reject(signal.reason);
          });
        });
      }

      _showState(forecast) {
        const isRunning = RUNNING.has(forecast.status);
        this._progress.setVisible(isRunning);
        this._progress.setPercentValue(forecast.progress || 0);
        this._progress.setDisplayValue(Texts.get("forecast.progress", [forecast.progress || 0]));
        this._result.destroyItems();
        const isDone = forecast.status === "COMPLETED";
        this._forecast = forecast;
        this._outdated.look(this._promotion, isDone ? forecast.createdAt : null).catch((error) => Messages.show(error));
        if (isDone) {
          this._result.addItem(ForecastResult.of(forecast));
        } else if (!isRunning) {
          this._result.addItem(
            new MessageStrip({
              type: "Error",
              showIcon: true,
              text: Texts.plain(forecast.message) || Texts.get("forecast.failed")
            })
          );
        }
      }
    };
  }
);
