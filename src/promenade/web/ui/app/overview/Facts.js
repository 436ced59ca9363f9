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

    /** What waits for an approval, the longest waiting first. */
    const QUEUE = {
      set: "PromotionApprovals",
      filter: "status eq 'PENDING'",
      orderby: "submittedAt,ID",
      select: "promotion_ID,promotionName,submittedAt,submittedBy,forecastCost,currency",
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

    function ofPlans(t, {queue, waiting, ending, deliveries, imports}) {
      const link = (ID) => `promotion/${ID}`;
      return [
        // Who may decide has them in a list of their own.
        ...(queue ? [] : waiting.rows).map(({ID, name}) =>
          entry(name, t("waitsForApproval"), link(ID), "pending", t("mark.approve"), "Information")
        ),
        ...ending.rows.map(({ID, name, validTo}) =>
          entry(name, t("endsAt", Numbers.moment(validTo)), link(ID), "date-time", t("mark.ends"))
        ),
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

    /** What the first page tells, in as few requests as can be. */
    return {
      /** Of `/admin`: promotions that run, wait and end, what failed, and my drafts. */
      ofPlans({hasQueue}) {
        const week = inDays(-SOON_DAYS);
        return named("admin", {
          ...(hasQueue ? {queue: QUEUE} : {}),
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
          ending: few(
            "Promotions",
            `${ACTIVE} and validTo ge ${inDays(0)} and validTo lt ${inDays(SOON_DAYS)}`,
            "validTo",
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

      /** Of `/reporting`, from its sums: discount of 28 days by currency, and budgets near their end. */
      ofSums() {
        const {from, to} = Period.of("last28");
        const filter = `day ge ${from} and day le ${to}`;
        const sums = {given: "totalDiscount", times: "applications"};
        return named("reporting", {
          totals: {set: "PromotionUsageByDay", apply: Service.sums(filter, ["currency"], sums), orderby: "times desc"},
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
        const {begin, end} = Period.moments(Period.of("last28"));
        const filter = `confirmedAt ge ${begin} and confirmedAt lt ${end} and ${Service.applied()}`;
        return named("reporting", {
          revenue: {
            set: "CalculationLogs",
            apply: Service.sums(filter, ["currency"], {revenue: "grandTotal", times: "$count"}),
            orderby: "times desc"
          }
        });
      },

      /** The queue of approvals as entries of a list. */
      queue: (t, {rows}) =>
        rows.map(({promotion_ID: ID, promotionName, submittedAt, submittedBy, forecastCost, currency}) =>
          entry(
            promotionName,
            t("submittedAt", Numbers.moment(submittedAt), submittedBy),
            `promotion/${ID}`,
            "pending",
            forecastCost === null ? t("costUnknown") : t("cost", Numbers.money(forecastCost, currency)),
            forecastCost === null ? "Warning" : "Information"
          )
        ),

      /** What somebody should look at, the most pressing first. */
      attention: (t, plans, sums) => [...(sums ? ofSums(t, sums) : []), ...(plans ? ofPlans(t, plans) : [])]
    };
  }
);
