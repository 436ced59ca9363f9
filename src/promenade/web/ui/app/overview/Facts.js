sap.ui.define(
  [
    "promenade/promotions/Filters",
    "promenade/reports/Numbers",
    "promenade/reports/Period",
    "promenade/reports/Service"
  ],
  function (Filters, Numbers, Period, Service) {
    "use strict";

    const SHOWN = 5;
    const QUEUED = 20;
    const SOON_DAYS = 7;
    const ACTIVE = "IsActiveEntity eq true and status eq 'ACTIVE'";

    /** Days from today on, as OData writes the moment. */
    function inDays(days) {
      return new Date(Date.now() + days * 86_400_000).toISOString();
    }

    async function named(service, queries) {
      const answers = await Service.read(service, Object.values(queries));
      return Object.fromEntries(Object.keys(queries).map((name, index) => [name, answers[index]]));
    }

    const few = (set, filter, orderby, select) => ({set, filter, orderby, select, top: SHOWN, count: true});

    const PERFORMANCE = "reports/performance";

    /** The seven days up to yesterday, and the seven before them: a day that is not over compares with none. */
    function weeks() {
      const days = Period.days(Period.of("last28")).slice(0, -1);
      const [before, now] = [days.slice(-2 * SOON_DAYS, -SOON_DAYS), days.slice(-SOON_DAYS)];
      return [now, before].map((week) => ({from: week[0], to: week.at(-1)}));
    }

    const between = ({from, to}) => `day ge ${from} and day le ${to}`;

    /** What waits for an approval, the longest waiting first. */
    const QUEUE = {
      set: "PromotionApprovals",
      filter: "status eq 'PENDING'",
      orderby: "submittedAt,ID",
      select: "promotion_ID,promotionName,submittedAt,submittedBy,forecastCost,currency",
      top: QUEUED,
      count: true
    };

    /** Requested budgets, the longest waiting first. */
    const ASKED = {
      set: "BudgetRequests",
      filter: "status eq 'OPEN'",
      orderby: "askedAt,ID",
      select: "ID,promotionName,askedAt,askedBy,amount,currency",
      top: QUEUED,
      count: true
    };

    const entry = (title, text, href, icon, mark, state = "Warning") => ({
      title,
      text,
      href,
      icon: `sap-icon://${icon}`,
      mark,
      state
    });

    const linkTo = (ID) => `promotion/${ID}`;

    function ofPlans(t, {deliveries, imports}) {
      return [
        ...(deliveries.count
          ? [
              entry(
                t("deliveries", Numbers.whole(deliveries.count)),
                t("deliveriesText"),
                "list/NotificationLogs",
                "disconnected",
                t("mark.failed"),
                "Error"
              )
            ]
          : []),
        ...(imports.count
          ? [
              entry(
                t("imports", Numbers.whole(imports.count)),
                t("importsText"),
                "imports",
                "upload",
                t("mark.failed"),
                "Error"
              )
            ]
          : [])
      ];
    }

    function ofSums(t, {nearEnd, troubles}) {
      return [
        ...nearEnd.rows.map((row) =>
          entry(
            row.budgetName,
            row.projectedExhaustion
              ? t("emptyOn", Numbers.date(row.projectedExhaustion))
              : t("budgetLeft", Numbers.money(row.remainingAmount, row.currency)),
            `reports/budgets?budget=${row.budgetId}`,
            "money-bills",
            t("mark.used", Numbers.percent(row.utilizationPct))
          )
        ),
        ...(troubles.count
          ? [entry(t("troubles"), t("troublesText"), "reports", "message-warning", t("mark.failed"), "Error")]
          : [])
      ];
    }

    /** What begins or ends, the soonest first, with the moment to sort by. */
    function due(t, rows, property, verb, state) {
      return rows.map((row) => ({
        at: row[property],
        ...entry(
          row.name,
          t(`${verb}At`, Numbers.moment(row[property])),
          linkTo(row.ID),
          "date-time",
          t(`mark.${verb}`),
          state
        )
      }));
    }

    /** What the first page tells, in as few requests as can be. */
    return {
      /** Of `/admin`: promotions that run, wait and end, what failed, and my drafts. */
      ofPlans({hasQueue, mayGive}) {
        const week = inDays(-SOON_DAYS);
        return named("admin", {
          ...(hasQueue ? {queue: QUEUE} : {}),
          ...(mayGive ? {asked: ASKED} : {}),
          running: {
            set: "Promotions",
            filter: `IsActiveEntity eq true and ${Filters.state("RUNNING", Date.now())}`,
            top: 0,
            count: true
          },
          waiting: few(
            "Promotions",
            "IsActiveEntity eq true and status eq 'PENDING_APPROVAL'",
            "modifiedAt desc",
            "ID,name"
          ),
          starting: few(
            "Promotions",
            `${ACTIVE} and validFrom ge ${inDays(0)} and validFrom lt ${inDays(SOON_DAYS)}`,
            "validFrom,ID",
            "ID,name,validFrom"
          ),
          ending: few(
            "Promotions",
            `${ACTIVE} and validTo ge ${inDays(0)} and validTo lt ${inDays(SOON_DAYS)}`,
            "validTo,ID",
            "ID,name,validTo"
          ),
          drafts: few("Promotions", "IsActiveEntity eq false", "modifiedAt desc", "ID,name,code,modifiedAt"),
          deliveries: {
            set: "NotificationLogs",
            filter: `status eq 'DEAD_LETTER' and lastAttemptAt ge ${week}`,
            top: 0,
            count: true
          },
          imports: {
            set: "ImportJobs",
            filter: `(status eq 'FAILED' or rowsFailed gt 0) and completedAt ge ${week}`,
            top: 0,
            count: true
          }
        });
      },

      /** Of `/reporting`, from its sums: discount by currency of 28 days and two weeks, budgets near their end. */
      ofSums() {
        const filter = between(Period.of("last28"));
        const [now, before] = weeks();
        const sums = {given: "totalDiscount", times: "applications"};
        return named("reporting", {
          totals: {set: "PromotionUsageByDay", apply: Service.sums(filter, ["currency"], sums), orderby: "times desc"},
          now: {set: "PromotionUsageByDay", apply: Service.sums(between(now), ["currency"], sums)},
          before: {set: "PromotionUsageByDay", apply: Service.sums(between(before), ["currency"], sums)},
          days: {set: "PromotionUsageByDay", apply: Service.sums(filter, ["day", "currency"], sums), orderby: "day"},
          nearEnd: few(
            "BudgetUtilization",
            "utilizationPct gt 80 and status ne 'EXPIRED'",
            "utilizationPct desc",
            "budgetName,utilizationPct,remainingAmount,currency,projectedExhaustion"
          ),
          troubles: {set: "AggregatorRuns", filter: "status ne 'COMPLETED'", top: 0, count: true}
        });
      },

      /** Revenue with promotions, read from the sales themselves: it may take its time and holds up nothing. */
      ofSales() {
        const [now, before] = weeks().map((week) => {
          const {begin, end} = Period.moments(week);
          const filter = `confirmedAt ge ${begin} and confirmedAt lt ${end} and ${Service.applied()}`;
          return {set: "CalculationLogs", apply: Service.sums(filter, ["currency"], {revenue: "grandTotal"})};
        });
        return named("reporting", {now, before});
      },

      /** The promotions that gave most within the week in one currency. */
      async ofTop(t, currency) {
        const [now] = weeks();
        const filter = Service.all(between(now), `currency eq ${Service.text(currency)}`);
        const sums = {given: "totalDiscount", times: "applications"};
        const {rows} = (
          await named("reporting", {
            top: {
              set: "PromotionUsageByDay",
              apply: Service.sums(filter, ["promotionId", "promotionName"], sums),
              orderby: "given desc,promotionId",
              top: SHOWN
            }
          })
        ).top;
        return rows.map(({promotionId, promotionName, given, times}) =>
          entry(
            promotionName,
            t("appliedTimes", Numbers.whole(times)),
            `${PERFORMANCE}?promotion=${promotionId}&currency=${currency}`,
            "tags",
            Numbers.money(given, currency),
            "None"
          )
        );
      },

      /** How a sum has changed since the week before, in percent; null without anything to compare. */
      change: (now, before) => (before ? ((now - before) / before) * 100 : null),

      /** What begins and ends within a week, and how much more of it there is. */
      week(t, {starting, ending}) {
        const rows = [
          ...due(t, starting.rows, "validFrom", "starts", "Success"),
          ...due(t, ending.rows, "validTo", "ends", "Warning")
        ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
        return {rows, more: starting.count + ending.count - rows.length};
      },

      /** Promotions that wait for somebody else's approval, or for anybody's where approvals bind nobody. */
      waiting: (t, {rows, count}) => ({
        rows: rows.map(({ID, name}) =>
          entry(name, t("waitsForApproval"), linkTo(ID), "pending", t("mark.approve"), "Information")
        ),
        more: count - rows.length
      }),

      /** The queue of approvals as entries of a list. */
      queue: (t, {rows}) =>
        rows.map(({promotion_ID: ID, promotionName, submittedAt, submittedBy, forecastCost, currency}) =>
          entry(
            promotionName,
            t("submittedAt", Numbers.moment(submittedAt), submittedBy),
            linkTo(ID),
            "pending",
            forecastCost === null ? t("costUnknown") : t("cost", Numbers.money(forecastCost, currency)),
            forecastCost === null ? "Warning" : "Information"
          )
        ),

      /** The queue of budgets that were asked for as entries of a list. */
      asked: (t, {rows}) =>
        rows.map(({ID, promotionName, askedAt, askedBy, amount, currency}) =>
          entry(
            promotionName || t("unnamed"),
            t("askedAt", Numbers.moment(askedAt), askedBy),
            `object/BudgetRequests/${ID}`,
            "money-bills",
            Numbers.money(amount, currency),
            "Information"
          )
        ),

      /** What somebody should look at, the most pressing first. */
      attention: (t, plans, sums) => [...(sums ? ofSums(t, sums) : []), ...(plans ? ofPlans(t, plans) : [])]
    };
  }
);
