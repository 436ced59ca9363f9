sap.ui.define(
  [
    "sap/m/DateRangeSelection",
    "sap/m/HBox",
    "sap/m/Label",
    "sap/m/Select",
    "sap/m/VBox",
    "sap/ui/core/Item",
    "promenade/generic/Messages",
    "promenade/reports/Period",
    "promenade/reports/Picker"
  ],
  function (DateRangeSelection, HBox, Label, Select, VBox, Item, Messages, Period, Picker) {
    "use strict";

    function labelled(text, make) {
      const label = new Label({text, showColon: true});
      const control = make(label);
      label.setLabelFor(control);
      return new VBox({items: [label, control]}).addStyleClass("sapUiSmallMarginEnd sapUiTinyMarginBottom");
    }

    function picker({t, state, go}, kind, key) {
      return labelled(t(key), (label) => {
        const {input, show} = Picker.create({
          kind,
          label,
          placeholder: t(`${key}All`),
          onChoice: (chosen) => chosen !== (state[key] || null) && go({[key]: chosen})
        });
        if (state[key]) {
          Picker.nameOf(kind, state[key]).then(
            (name) => input.isDestroyed() || show(name || state[key]),
            (error) => Messages.show(error)
          );
        }
        return input;
      });
    }

    function comparison({t, state, go}) {
      return labelled(
        t("compare"),
        () =>
          new Select({
            selectedKey: state.compare || "none",
            items: ["none", ...Period.COMPARISONS].map((key) => new Item({key, text: t(`compare.${key}`)})),
            change(event) {
              const key = event.getParameter("selectedItem").getKey();
              go({compare: key === "none" ? null : key});
            }
          })
      );
    }

    const MADE = {
      promotion: (desk, {picks}) => picker(desk, picks, "promotion"),

      posGroup: (desk) => picker(desk, "posGroups", "posGroup"),

      period({t, state, go}, {isCompared}) {
        const presets = labelled(
          t("period"),
          () =>
            new Select({
              selectedKey: Period.nameOf(state),
              items: [...Period.PRESETS, "custom"].map(
                (key) => new Item({key, text: t(`period.${key}`), enabled: key !== "custom"})
              ),
              change: (event) => go(Period.of(event.getParameter("selectedItem").getKey()))
            })
        );
        const days = labelled(
          t("days"),
          () =>
            new DateRangeSelection({
              width: "16rem",
              dateValue: Period.dateOf(state.from),
              secondDateValue: Period.dateOf(state.to),
              change: (event) => {
                const {from, to, valid} = event.getParameters();
                if (valid && from && to) {
                  go({from: Period.isoOf(from), to: Period.isoOf(to)});
                }
              }
            })
        );
        const compared = isCompared ? [comparison({t, state, go})] : [];
        return new HBox({items: [presets, days, ...compared], wrap: "Wrap"});
      },

      currency({t, state, go}, _, currencies) {
        return labelled(
          t("currency"),
          () =>
            new Select({
              selectedKey: state.currency,
              items: currencies.map((key) => new Item({key, text: key})),
              change: (event) => go({currency: event.getParameter("selectedItem").getKey()})
            })
        );
      }
    };

    return {
      /** The fields of a report's filters; each changes the address. */
      create: (desk, report, currencies) =>
        new HBox({wrap: "Wrap", items: report.filters.map((one) => MADE[one](desk, report, currencies))})
    };
  }
);
