sap.ui.define(
  [
    "sap/m/DatePicker",
    "sap/m/Text",
    "sap/m/TimePicker",
    "sap/ui/core/Control",
    "sap/ui/core/InvisibleText",
    "sap/ui/core/library",
    "sap/ui/core/message/MessageMixin",
    "sap/ui/model/ParseException",
    "sap/ui/model/SimpleType",
    "sap/ui/model/ValidateException",
    "promenade/generic/Clock",
    "promenade/generic/Texts",
    "promenade/generic/Zone"
  ],
  function (
    DatePicker,
    Text,
    TimePicker,
    Control,
    InvisibleText,
    coreLibrary,
    MessageMixin,
    ParseException,
    SimpleType,
    ValidateException,
    Clock,
    Texts,
    Zone
  ) {
    "use strict";

    const {ValueState} = coreLibrary;
    const DAY = /^\d{4}-\d\d-\d\d$/;
    const TIME = /^\d\d:\d\d$/;
    const NEEDS = {date: "needsDate", time: "needsTime", day: "needsDay"};

    /** Moments as the service writes them; a field that holds none of them gives what is wrong with it instead. */
    const Instant = SimpleType.extend("promenade.generic.Instant", {
      formatValue: (value) => value || "",

      parseValue(value) {
        if (value in NEEDS) {
          throw new ParseException(Texts.of(NEEDS[value]));
        }
        return value || null;
      },

      validateValue(value) {
        if (value === null && this.oConstraints?.isRequired) {
          throw new ValidateException(Texts.of("required"));
        }
      }
    });

    const isMoment = (value) => Boolean(value) && !(value in NEEDS);

    /** The day and the time that stand for a moment; no time for a whole day. */
    function partsOf(value, isEnd, zone) {
      if (!isMoment(value)) {
        return {day: "", time: ""};
      }
      if (Clock.isBegin(value, zone)) {
        return {day: Clock.day(isEnd ? Date.parse(value) - 1 : value, zone), time: ""};
      }
      const wall = Clock.wall(value, zone);
      return {day: wall.slice(0, 10), time: wall.slice(11, 16)};
    }

    /** The moment that a day and a time stand for, "" for none, or what is wrong with them. */
    function momentOf(day, time, isEnd, zone) {
      if (!day) {
        return time ? "day" : "";
      }
      if (!DAY.test(day)) {
        return "date";
      }
      if (time) {
        return TIME.test(time) ? Clock.moment(`${day}T${time}`, zone) : "time";
      }
      return isEnd ? Clock.end(day, zone) : Clock.begin(day, zone);
    }

    const forwarded = (name) =>
      function (value) {
        this.setProperty(name, value);
        this._pickers().forEach((one) => one.setProperty(name, value));
        return this;
      };

    /**
     * Takes a moment as people say it: a day, and a time where it matters. Without one it is the beginning of the day,
     * or with `isEnd` its end, which is the first moment of the next day. The zone that is meant stands beside it: that
     * of the pages, or `zone`. With `isWall` the value is what the clock there shows, whichever zone that is.
     *
     * Who has given the day or the time sees what they gave until they leave the field. The answer to an older change,
     * which does not know the newer one yet, may come while they type the rest, and must not empty it.
     */
    const Moment = Control.extend("promenade.generic.Moment", {
      metadata: {
        interfaces: ["sap.ui.core.IFormContent"],
        properties: {
          value: {type: "string", defaultValue: "", bindable: "bindable"},
          label: {type: "string", defaultValue: ""},
          isEnd: {type: "boolean", defaultValue: false},
          zone: {type: "string", defaultValue: ""},
          isWall: {type: "boolean", defaultValue: false},
          placeholder: {type: "string", defaultValue: ""},
          required: {type: "boolean", defaultValue: false},
          editable: {type: "boolean", defaultValue: true},
          enabled: {type: "boolean", defaultValue: true},
          valueState: {type: "sap.ui.core.ValueState", defaultValue: ValueState.None},
          valueStateText: {type: "string", defaultValue: ""}
        },
        associations: {ariaLabelledBy: {type: "sap.ui.core.Control", multiple: true}},
        aggregations: {
          _day: {type: "sap.m.DatePicker", multiple: false, visibility: "hidden"},
          _time: {type: "sap.m.TimePicker", multiple: false, visibility: "hidden"},
          _zone: {type: "sap.m.Text", multiple: false, visibility: "hidden"},
          _timeLabel: {type: "sap.ui.core.InvisibleText", multiple: false, visibility: "hidden"}
        },
        events: {change: {parameters: {value: {type: "string"}}}}
      },

      init() {
        const change = () => this._taken();
        const zone = new Text({text: Zone.current()}).addStyleClass("promMuted");
        this._timeLabel = new InvisibleText();
        this._day = new DatePicker(`${this.getId()}-day`, {
          valueFormat: "yyyy-MM-dd",
          change,
          ariaDescribedBy: [zone]
        });
        this._time = new TimePicker(`${this.getId()}-time`, {
          valueFormat: "HH:mm",
          displayFormat: "short",
          support2400: false,
          change,
          ariaLabelledBy: [this._timeLabel],
          ariaDescribedBy: [zone]
        });
        this.setAggregation("_day", this._day);
        this.setAggregation("_time", this._time);
        this.setAggregation("_zone", zone);
        this.setAggregation("_timeLabel", this._timeLabel);
        this._isBeingGiven = false;
        this._say();
      },

      onsapfocusleave(event) {
        const isInside = this.getDomRef()?.contains(document.getElementById(event.relatedControlId));
        if (this._isBeingGiven && !isInside) {
          this._isBeingGiven = false;
          this._show(this.getValue());
        }
      },

      _pickers() {
        return [this._day, this._time];
      },

      async _say() {
        await Texts.ready();
        this._time.setPlaceholder(Texts.of(this.getIsEnd() ? "endOfDay" : "startOfDay"));
        this._timeLabel.setText(Texts.of("timeOf", this.getLabel()));
      },

      _zone() {
        return this.getZone() || Zone.current();
      },

      _valueOf(day, time) {
        const zone = this._zone();
        const value = momentOf(day, time, this.getIsEnd(), zone);
        return this.getIsWall() && isMoment(value) ? Clock.wall(value, zone).slice(0, 16) : value;
      },

      _taken() {
        const value = this._valueOf(this._day.getValue(), this._time.getValue());
        if (value !== this.getValue()) {
          this._isBeingGiven = true;
          this.setProperty("value", value);
          this._show(value); // a time that the clock skips becomes the one that it shows
          this.fireChange({value});
        }
      },

      _show(value) {
        if (value in NEEDS) {
          return; // what was typed stays
        }
        const moment = this.getIsWall() ? Clock.moment(value, this._zone()) : value;
        const {day, time} = partsOf(moment, this.getIsEnd(), this._zone());
        this._day.setValue(day);
        this._time.setValue(time);
      },

      /** Whether it holds a moment. */
      isGiven() {
        return isMoment(this.getValue());
      },

      setValue(value) {
        this.setProperty("value", value || "");
        if (!this._isBeingGiven) {
          this._show(this.getValue());
        }
        return this;
      },

      setZone(zone) {
        this.setProperty("zone", zone || "");
        this.getAggregation("_zone").setText(this._zone());
        this._show(this.getValue());
        return this;
      },

      setIsWall(isWall) {
        this.setProperty("isWall", isWall);
        this._show(this.getValue());
        return this;
      },

      setPlaceholder(text) {
        this.setProperty("placeholder", text);
        this._day.setPlaceholder(text);
        return this;
      },

      setIsEnd(isEnd) {
        this.setProperty("isEnd", isEnd);
        this._say();
        this._show(this.getValue());
        return this;
      },

      setLabel(label) {
        this.setProperty("label", label);
        this._say();
        return this;
      },

      setRequired(isRequired) {
        this.setProperty("required", isRequired);
        this._day.setRequired(isRequired);
        return this;
      },

      setEditable: forwarded("editable"),
      setEnabled: forwarded("enabled"),
      setValueState: forwarded("valueState"),
      setValueStateText: forwarded("valueStateText"),

      addAriaLabelledBy(label) {
        this.addAssociation("ariaLabelledBy", label);
        this._day.addAriaLabelledBy(label);
        return this;
      },

      getIdForLabel() {
        return this._day.getIdForLabel();
      },

      getFocusDomRef() {
        return this._day.getFocusDomRef();
      },

      getAccessibilityInfo() {
        return {children: this._pickers()};
      },

      renderer: {
        apiVersion: 2,
        render(rm, control) {
          rm.openStart("div", control).class("promMoment").openEnd();
          ["_day", "_time", "_zone", "_timeLabel"].forEach((name) => rm.renderControl(control.getAggregation(name)));
          rm.close("div");
        }
      }
    });
    MessageMixin.call(Moment.prototype);

    /** The type of what it is bound to. */
    Moment.Instant = Instant;

    return Moment;
  }
);
