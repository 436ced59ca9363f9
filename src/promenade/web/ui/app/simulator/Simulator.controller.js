sap.ui.define(
  [
    "sap/ui/core/mvc/Controller",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/session/Session",
    "promenade/shell/AreaTexts",
    "promenade/shell/Visit",
    "promenade/simulator/Basket",
    "promenade/simulator/Examples",
    "promenade/simulator/Fields",
    "promenade/simulator/FittingBasket",
    "promenade/simulator/Keeping",
    "promenade/simulator/Link",
    "promenade/simulator/Lookup",
    "promenade/simulator/Missed",
    "promenade/simulator/Pricing",
    "promenade/simulator/Story"
  ],
  function (
    Controller,
    JSONModel,
    Format,
    Messages,
    Session,
    AreaTexts,
    Visit,
    Basket,
    Examples,
    Fields,
    FittingBasket,
    Keeping,
    Link,
    Lookup,
    Missed,
    Pricing,
    Story
  ) {
    "use strict";

    const PAUSE_MS = 250;
    const LINE_LABELS = {
      regularPrice: "lineRegularPrice",
      group: "lineGroup",
      manufacturer: "lineManufacturer",
      typedEan: "lineEan",
      ref: "lineRef"
    };
    const RUNNING = ["ACTIVE", "PILOT"];

    /** A basket on the left, its price and why on the right; priced anew a moment after each change. */
    return Controller.extend("promenade.simulator.Simulator", {
      ...Fields,
      ...Keeping,

      onInit() {
        this._model = new JSONModel({
          basket: Basket.empty(),
          storeText: "",
          articles: [],
          stores: [],
          scan: {state: "None", text: ""},
          story: null,
          missed: {text: "", code: "", title: "", total: 0, shown: [], reasons: []},
          failure: "",
          isPriced: false,
          mayKeep: Session.may("create", "BasketTests"),
          isWithoutPromotion: false,
          removed: null,
          hasLines: false
        });
        this._model.setSizeLimit(5000);
        this._fitting = new FittingBasket();
        this.getView().setModel(this._model, "sim");
        this._ready = AreaTexts.of("simulator")
          .ready()
          .then((bundle) => {
            this._text = (key, args) => (bundle.hasText(key) ? bundle.getText(key, args) : key);
            this._story = new Story(this._text);
            this._labels = Object.fromEntries(
              Object.entries(LINE_LABELS).map(([field, key]) => [field, this._text(`simulator.${key}`)])
            );
          });
        Visit.follow(this, "simulator", {
          enter: (given) => this._onRoute(given),
          leave: () => {
            this._isLeft = true;
          },
          again: () => this._changed(0)
        });
      },

      onExit() {
        clearTimeout(this._timer);
        this._asked?.abort();
      },

      async _onRoute({"?query": query}) {
        const {b, promotion} = query || {};
        await this._ready;
        try {
          await this._enter(b, promotion);
          this._isLeft = false;
        } catch (error) {
          Messages.show(error);
        }
      },

      /** Shows the basket of an address: a packed one, one for a promotion, or the one that was there before. */
      async _enter(packed, promotion) {
        if (packed && packed === this._packed && promotion === this._focus?.id) {
          return this._priceAgain();
        }
        await this._lookAt(promotion);
        if (packed) {
          const basket = await this._unpacked(packed);
          return basket && this._set(basket);
        }
        const {basket: known} = this._model.getData();
        if (!known.store) {
          const first = await Lookup.firstStore();
          known.store ||= first; // unless one was chosen meanwhile
        }
        const basket = await this._fitting.instead(known, this._focus?.id);
        basket.includeInactive ||= Boolean(this._focus) && !RUNNING.includes(this._focus.status);
        this._set(basket);
      },

      /** The basket is there already: somebody who comes back to it sees what it costs by now. */
      _priceAgain() {
        if (this._isLeft) {
          this._changed(0);
        }
      },

      /** The promotion of an address, on which the page keeps an eye; none is none. */
      async _lookAt(promotion) {
        const {ID: id, name, status} = (promotion && (await Lookup.promotion(promotion))) || {};
        this._focus = id ? {id, name, status} : null;
        this._model.setProperty("/isWithoutPromotion", Boolean(promotion && !id));
      },

      async _unpacked(packed) {
        try {
          return await Examples.named(Basket.lengthen(await Link.unpack(packed)));
        } catch {
          this._model.setProperty("/failure", this._text("simulator.brokenLink"));
          return null;
        }
      },

      _set(basket) {
        const {store} = basket;
        this._model.setProperty("/basket", basket);
        this._model.setProperty("/storeText", store ? store.name || store.code : "");
        this._model.setProperty("/removed", null);
        this._changed(0);
      },

      // ---- pricing ----------------------------------------------------------------------------------------------

      onChange() {
        this._changed();
      },

      _changed(pause = PAUSE_MS) {
        const basket = this._model.getProperty("/basket");
        basket.lines.forEach((line) => {
          line.fault = Basket.faultOf(line);
          line.more = Basket.told(line, this._labels);
        });
        this._model.setProperty("/hasLines", basket.lines.length > 0);
        this._model.setProperty("/isPriced", false);
        this._model.updateBindings(true);
        this._asked?.abort(); // its answer would be about another basket
        clearTimeout(this._timer);
        this._timer = setTimeout(() => this._price().catch(Messages.caught), pause);
      },

      /** Asks for the price of what is there now; an answer that comes too late is dropped. */
      async _price() {
        const basket = this._model.getProperty("/basket");
        if (!Basket.isComplete(basket)) {
          if (!basket.lines.length) {
            this._model.setProperty("/story", null);
          }
          return;
        }
        const asked = (this._asked = new AbortController());
        await this._remember(basket, asked.signal);
        try {
          const request = Basket.request(basket);
          const answer = await Pricing.simulate(request, asked.signal);
          this._show(answer, basket);
          this._request = request;
          this._model.setProperty("/isPriced", true);
        } catch (error) {
          if (error.name !== "AbortError") {
            this._model.setProperty("/failure", [error.message, ...this._details(error)].join(" "));
          }
        }
      },

      _details({details, message: whole}) {
        const more = (details || []).filter(({message}) => message !== whole);
        return more.map(({target, message}) => (target ? `${target}: ${message}` : message));
      },

      _show(answer, basket) {
        this._answer = answer;
        this._model.setProperty("/failure", "");
        this._model.setProperty(
          "/momentText",
          Format.dateTime(answer.meta.evaluatedAt, basket.store.timeZone || "UTC")
        );
        this._model.setProperty("/story", this._story.of(answer, basket, this._focus));
        this._showMissed();
      },

      /** Shows what was missed as it is narrowed down. */
      _showMissed() {
        const found = this._model.getProperty("/story/missed") || [];
        const {text, code, reasons} = this._model.getProperty("/missed");
        const counted = Missed.reasons(
          found,
          reasons.filter((one) => one.code && one.code === code)
        ).map((one) => ({...one, text: this._text("simulator.reasonCount", [one.reason, one.count])}));
        const shown = Missed.among(found, {text, code});
        const title =
          shown.length < found.length
            ? this._text("simulator.missedSome", [shown.length, found.length])
            : this.counted(this._text("simulator.missed"), found.length);
        const any = {code: "", text: this._text("simulator.anyReason", [found.length])};
        this._model.setProperty("/missed", {text, code, title, total: found.length, shown, reasons: [any, ...counted]});
      },

      onMissedFind(event) {
        this._model.setProperty("/missed/text", event.getParameter("newValue") ?? event.getParameter("query"));
        this._showMissed();
      },

      onMissedReason() {
        this._showMissed();
      },

      /** Keeps the basket in the address, so that reloading and going back find it. */
      async _remember(basket, signal) {
        const query = await this._query(basket);
        const router = this.getOwnerComponent().getRouter();
        const isLeft = !router.getHashChanger().getHash().startsWith("simulator");
        if (signal.aborted || isLeft) {
          return; // a later basket is on its way there, or the person is
        }
        this._packed = query.b;
        router.navTo("simulator", {"?query": query}, true);
      },

      /** What an address says of a basket: what is in it, and the promotion that it is looked at for. */
      async _query(basket) {
        const b = await Link.pack(Basket.shorten(basket));
        return this._focus ? {b, promotion: this._focus.id} : {b};
      },

      // ---- lines ------------------------------------------------------------------------------------------------

      async onScan(event) {
        const field = event.getSource();
        const code = field.getValue().trim();
        if (!code) {
          return;
        }
        field.setValue("");
        const article = (await Lookup.articleBy("ean", code)) || (await Lookup.articleBy("articleNumber", code));
        const state = article ? "None" : "Error";
        this._model.setProperty("/scan", {state, text: article ? "" : this._text("simulator.unknownArticle", [code])});
        if (article) {
          this._add(article);
        }
      },

      async onSuggestArticles(event) {
        this._searched?.abort();
        const searched = (this._searched = new AbortController());
        try {
          const found = await Lookup.articles(event.getParameter("suggestValue"), searched.signal);
          this._model.setProperty("/articles", found);
        } catch (error) {
          if (error.name !== "AbortError") {
            Messages.show(error);
          }
        }
      },

      onArticle(event) {
        const item = event.getParameter("selectedItem");
        if (item) {
          this._add(item.getBindingContext("sim").getObject());
          event.getSource().setValue("");
        }
      },

      /** One more of an article: a line that has a whole number of it already is counted up. */
      _add(article) {
        const {lines} = this._model.getProperty("/basket");
        const known = lines.find(
          (line) => line.articleNumber === article.articleNumber && /^\d{1,9}$/.test(line.quantity)
        );
        if (known) {
          known.quantity = String(Number(known.quantity) + 1);
        } else {
          lines.push(Basket.line(article));
        }
        this._changed();
      },

      onRemove(event) {
        const {lines} = this._model.getProperty("/basket");
        const place = lines.indexOf(event.getSource().getBindingContext("sim").getObject());
        const [line] = lines.splice(place, 1);
        this._model.setProperty("/removed", {place, line});
        this._changed();
      },

      onUndo() {
        const {place, line} = this._model.getProperty("/removed");
        this._model.getProperty("/basket").lines.splice(place, 0, line);
        this._model.setProperty("/removed", null);
        this._changed();
      },

      // ---- circumstances ----------------------------------------------------------------------------------------

      async onSuggestStores(event) {
        this._model.setProperty("/stores", await Lookup.stores(event.getParameter("suggestValue") || ""));
      },

      onStore(event) {
        const item = event.getParameter("selectedItem");
        if (item) {
          this._setStore(item.getBindingContext("sim").getObject());
        }
      },

      /** A shop's code or name typed in full. */
      async onStoreTyped(event) {
        const typed = event.getParameter("value").trim();
        const store = this._model.getProperty("/basket/store");
        if (store && (typed === store.name || typed === store.code)) {
          return;
        }
        const found = typed ? await Lookup.stores(typed) : [];
        this._setStore(found.find(({code, name}) => [code, name].includes(typed)) || null, typed);
      },

      _setStore(store, typed = "") {
        this._model.setProperty("/basket/store", store);
        this._model.setProperty("/storeText", store ? store.name || store.code : typed);
        this._changed();
      },

      // ---- the whole basket -------------------------------------------------------------------------------------

      async onExample() {
        const {store} = this._model.getProperty("/basket");
        try {
          this._set({...Basket.empty(store || (await Lookup.firstStore())), lines: await Examples.anything()});
        } catch (error) {
          Messages.show(error);
        }
      },

      onClear() {
        this._set(Basket.empty(this._model.getProperty("/basket/store")));
      },
      onPrint: () => window.print(),

      /** `What was missed (12)` */
      counted(text, count) {
        return count ? `${text} (${count})` : text;
      }
    });
  }
);
