sap.ui.define(
  [
    "promenade/generic/ListState",
    "promenade/reports/Cards",
    "promenade/reports/Numbers",
    "promenade/reports/Part",
    "promenade/reports/Period",
    "promenade/reports/Service"
  ],
  function (ListState, Cards, Numbers, Part, Period, Service) {
    "use strict";

    const UUID = /^[0-9a-f-]{36}$/i;
    const DAY = /^\d{4}-\d{2}-\d{2}$/;
    const KEYS = ["promotion", "posGroup", "budget", "couponType"];

    /** What an address says of a report's filters; nonsense counts as nothing. */
    function stateOf(query) {
      const period = Period.of("last28");
      const isPeriod = DAY.test(query.from) && DAY.test(query.to) && query.from <= query.to;
      const state = isPeriod ? {from: query.from, to: query.to} : period;
      KEYS.filter((key) => UUID.test(query[key])).forEach((key) => {
        state[key] = query[key];
      });
      state.currency = /^[A-Z]{3}$/.test(query.currency) ? query.currency : null;
      state.compare = Period.COMPARISONS.includes(query.compare) ? query.compare : null;
      state.difference = Number(query.difference) > 0 && Number(query.difference) <= 100 ? Number(query.difference) : 5;
      state.advice = query.advice || null;
      state.measure = query.measure === "discount" ? "discount" : "applications";
      return state;
    }

    /** What a report works with: its texts, its filters, answers of the service and addresses. */
    return class Desk {
      /** `bundle` has the texts, `query` is the address' part after `?`, `go(changes)` changes the address. */
      constructor({bundle, report, query, go}) {
        this.t = (key, ...values) => bundle.getText(`reports.${key}`, values);
        this.report = report;
        this.query = query;
        this.state = stateOf(query);
        /** The period to compare with, and the filters with it. */
        this.comparison = Period.compared(this.state, this.state.compare);
        this.go = go;
        this.read = Service.read;
      }

      /** Boxes that are read by themselves: resolves with one in the place `{id, title}` when they cannot be. */
      part(place, load) {
        return Part.of(this.t, place, load);
      }

      /** Currencies of what promotions gave, most applications first; picks the first unless one is chosen. */
      async findCurrencies() {
        const {promotion, from, to} = this.state;
        const query = (filter) => ({
          set: "PromotionUsageByDay",
          apply: Service.sums(filter, ["currency"], {times: "applications"}),
          orderby: "times desc"
        });
        const of = promotion && `promotionId eq ${promotion}`;
        const [{rows}, {rows: ever}] = await Service.read("reporting", [
          query(Service.all(`day ge ${from} and day le ${to}`, of)),
          query(of || "")
        ]);
        const found = [...new Set([...rows, ...ever].map(({currency}) => currency))];
        this.state.currency ||= found[0] || "EUR";
        return found.includes(this.state.currency) ? found : [this.state.currency, ...found];
      }

      /** The filters of the period to compare with, null without one. */
      get earlier() {
        return this.comparison && {...this.state, ...this.comparison};
      }

      /** Keeps what a field says for links from here, without reading anew. */
      keep(changes) {
        Object.assign(this.query, changes);
      }

      /** The address of this report with other filters. */
      href(changes) {
        return this.hrefOf(this.report, changes);
      }

      /** The address of another report with the filters of this one. */
      hrefOf(report, changes = {}) {
        const all = Object.entries({...this.query, ...changes}).filter(([, value]) => value);
        return `#reports/${report}${all.length ? `?${new URLSearchParams(all)}` : ""}`;
      }

      /** The address of a list of administration, searched or filtered as by hand: `FilterBar` says how. */
      listHref(set, state) {
        return `#/list/${set}?q=${encodeURIComponent(ListState.write(state))}`;
      }

      /** Names by ID. */
      async namesOfPosGroups(ids) {
        if (!ids.length) {
          return new Map();
        }
        const filter = `IsActiveEntity eq true and ID in (${ids.join(",")})`;
        const [{rows}] = await Service.read("admin", [{set: "PosGroups", filter, select: "ID,name"}]);
        return new Map(rows.map(({ID, name}) => [ID, name]));
      }

      /** An amount in the report's currency. */
      writeMoney = (value) => Numbers.money(value, this.state.currency);

      /** A series of amounts in the report's currency. */
      money(label, rows, name) {
        return Cards.series(label, rows, (row) => row[name], this.writeMoney, {
          units: rows.map(() => this.state.currency)
        });
      }

      /** A series of counts. */
      whole(label, rows, name) {
        return Cards.series(
          label,
          rows,
          (row) => row[name],
          (value) => Numbers.whole(value)
        );
      }
    };
  }
);
