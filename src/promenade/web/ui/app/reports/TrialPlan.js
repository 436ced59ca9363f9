sap.ui.define(
  [
    "sap/m/FlexBox",
    "sap/m/Label",
    "sap/m/MessageStrip",
    "sap/m/StepInput",
    "sap/m/Text",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/reports/Cards",
    "promenade/reports/Numbers",
    "promenade/reports/Verdict"
  ],
  function (FlexBox, Label, MessageStrip, StepInput, Text, Messages, Http, Cards, Numbers, Verdict) {
    "use strict";

    /** What the service says a trial needs until a difference of so many percent would show. */
    const ask = (promotion, difference) =>
      Http.get(`/reporting/planTrial(promotionId=${promotion},difference=${difference})`);

    function needed(t, plan) {
      if (plan.baskets === null) {
        return t("planUnknown");
      }
      const texts = [
        t(
          "planNeeds",
          Numbers.percent(plan.difference),
          Numbers.money(plan.avgBasket, plan.currency),
          Numbers.whole(plan.baskets),
          Numbers.whole(plan.days),
          Numbers.decimal(plan.basketsPerDay, plan.basketsPerDay < 10 ? 1 : 0),
          Numbers.date(plan.paceFrom),
          Numbers.date(plan.paceTo)
        )
      ];
      if (plan.basketsSoFar) {
        texts.push(
          plan.moreBaskets
            ? t(
                "planMore",
                Numbers.whole(plan.basketsSoFar),
                Numbers.whole(plan.moreBaskets),
                Numbers.whole(plan.moreDays)
              )
            : t("planEnough", Numbers.whole(plan.basketsSoFar))
        );
      }
      return texts.join(" ");
    }

    /** The field of the difference; `onAnswer(plan)` is told what another one takes. */
    function field(desk, promotion, onAnswer) {
      const input = new StepInput({
        value: desk.state.difference,
        min: 0.5,
        max: 100,
        step: 0.5,
        displayValuePrecision: 1,
        width: "9rem",
        change: async (event) => {
          const difference = event.getParameter("value");
          try {
            const plan = await ask(promotion, difference);
            if (!input.isDestroyed() && input.getValue() === difference) {
              desk.keep({difference: String(difference)});
              onAnswer(plan);
            }
          } catch (error) {
            Messages.show(error);
          }
        }
      });
      const label = new Label({text: desk.t("planDifference"), labelFor: input, showColon: true});
      return new FlexBox({
        wrap: "Wrap",
        alignItems: "Center",
        items: [label.addStyleClass("sapUiTinyMarginEnd"), input]
      }).addStyleClass("sapUiTinyMarginBottom");
    }

    /** Of one trial: the verdict on top, and how long it takes; a difference of one's own changes both in place. */
    return {
      /** Resolves with `{tops, boxes}`; `results` are its rows, one for each verdict, none before it begins. */
      async create(desk, promotion, results) {
        const {t, state} = desk;
        const first = await ask(promotion, state.difference);
        if (!first.trial && !results.length) {
          return {tops: [], boxes: []};
        }
        const judged = results.length ? results : [null];
        const tops = judged.map(() => new MessageStrip({showIcon: true}).addStyleClass("promWide promHeadline"));
        const words = new Text().addStyleClass("promVerdict");
        function show(plan) {
          judged.forEach((row, index) => {
            const {text, isReal} = Verdict.headline(t, row, plan, judged.length > 1);
            tops[index].setText(text).setType(isReal ? "Success" : "Information");
          });
          words.setText(`${needed(t, plan)} ${t("planNote")}`);
        }
        show(first);
        const content = [field(desk, promotion, show), words];
        const box = Cards.box({id: "trialPlan", title: t("planTitle"), isWide: true, content});
        return {tops, boxes: first.trial ? [box] : []};
      }
    };
  }
);
