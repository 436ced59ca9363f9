sap.ui.define(
  [
    "sap/ui/core/InvisibleMessage",
    "sap/ui/core/library",
    "sap/ui/core/mvc/Controller",
    "sap/ui/dom/includeStylesheet",
    "sap/ui/model/json/JSONModel",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/imports/Catalogue",
    "promenade/imports/Mapping",
    "promenade/imports/Preview",
    "promenade/imports/Reading",
    "promenade/imports/Rows",
    "promenade/imports/Sending",
    "promenade/imports/format",
    "promenade/resources/Download",
    "promenade/resources/Texts",
    "promenade/session/Session"
  ],
  function (
    InvisibleMessage,
    coreLibrary,
    Controller,
    includeStylesheet,
    JSONModel,
    Messages,
    Meta,
    Catalogue,
    Mapping,
    Preview,
    Reading,
    Rows,
    Sending,
    format,
    Download,
    Texts,
    Session
  ) {
    "use strict";

    const {InvisibleMessageMode} = coreLibrary;
    const NOTHING_READ = {
      file: null,
      isRead: false,
      isReading: false,
      isSending: false,
      isReady: false,
      state: {type: "Information", text: ""},
      bad: 0,
      percent: 0,
      columns: [],
      problems: [],
      isMappingShown: false,
      sendText: ""
    };
    const TAB = "TAB"; // a key of a list cannot be white space

    includeStylesheet(sap.ui.require.toUrl("promenade/imports/style.css"));

    /** A file on its way to a job: chosen, read, mapped, looked at, sent. */
    return Controller.extend("promenade.imports.Upload", {
      onInit() {
        this._state = new JSONModel({...NOTHING_READ, sets: [], choices: [], mode: 0});
        this._state.setSizeLimit(2000);
        this.getView().setModel(this._state, "upload");
        this.byId("drop").addEventDelegate({
          ondragenter: (event) => this._onDrag(event, true),
          ondragover: (event) => this._onDrag(event, true),
          ondragleave: (event) => this._onDrag(event, false),
          ondrop: (event) => this._onDrop(event)
        });
      },

      async show({upload}) {
        this._model = this.getOwnerComponent().getModel();
        this._t = await Texts.of(this.getOwnerComponent());
        this._forget();
        this._set({isLoaded: false});
        if (!Session.current().services.publicApi) {
          return;
        }
        try {
          const names = await Catalogue.sets();
          const sets = await Promise.all(
            names.map(async (set) => ({set, label: (await Meta.of(this._model, set)).plural}))
          );
          sets.sort((one, other) => one.label.localeCompare(other.label));
          this._set({sets, set: names.includes(upload) ? upload : names.find((one) => one === "Articles") || names[0]});
          await this._loadFields();
          this._set({isLoaded: true});
        } catch (error) {
          Messages.show(error);
        }
      },

      hide() {
        this._sending?.abort();
      },

      /** The one strip about the import says how far it is; one who does not see it hears of it when that changes. */
      _tell(type, text) {
        const before = this._state.getProperty("/state/type");
        this._set({state: {type, text}});
        if (type !== before) {
          InvisibleMessage.getInstance().announce(text, InvisibleMessageMode.Polite);
        }
      },

      _tellProgress(key, percent) {
        this._set({percent});
        this._tell("Information", this._t(key, percent));
      },

      _set(values) {
        Object.entries(values).forEach(([name, value]) => this._state.setProperty(`/${name}`, value));
      },

      /** Nothing is chosen any more; what is still being read comes too late. */
      _forget() {
        this._turn = (this._turn || 0) + 1;
        this._read = null;
        this._rows = null;
        this.byId("file").clear();
        this._set(NOTHING_READ);
      },

      async _loadFields() {
        const {fields, key, parts} = await Catalogue.fields(this._model, this._state.getProperty("/set"));
        this._fields = fields;
        this._key = key;
        this._parts = parts;
        const choices = fields.map((one) => ({
          name: one.name,
          text: `${one.words}${one.isRequired ? " *" : ""} (${one.name})`
        }));
        this._set({choices: [{name: "", text: this._t("imports.notImported")}, ...choices]});
      },

      async onSet() {
        await this._loadFields();
        if (this._read) {
          this._guess();
          this._check();
        }
      },

      onTemplate() {
        const set = this._state.getProperty("/set");
        Download.csv(
          `${set}-template.csv`,
          this._fields.filter((one) => one.name !== "ID").map((one) => one.name),
          []
        );
      },

      // ---- choosing and reading -----------------------------------------------------------------------------------

      _onDrag(event, isOver) {
        event.preventDefault();
        this.byId("drop").toggleStyleClass("promenadeDropOver", isOver);
      },

      _onDrop(event) {
        this._onDrag(event, false);
        const [file] = (event.originalEvent || event).dataTransfer.files;
        if (file) {
          this._take(file);
        }
      },

      onFile(event) {
        const [file] = event.getParameter("files");
        if (file) {
          this._take(file);
        }
      },

      onWrongType() {
        this._tell("Error", this._t("imports.wrongType"));
      },

      async _take(file) {
        this._turn += 1;
        this._read = null;
        this._set({...NOTHING_READ, file, fileText: `${file.name} (${format.bytes(file.size)})`});
        if (file.size > Sending.BYTES_MAX) {
          this._tellTooLarge(file.size);
          return;
        }
        this._set({kind: await Reading.kindOf(file)});
        await this._readFile({});
      },

      _tellTooLarge(size) {
        this._tell("Error", this._t("imports.tooLarge", format.bytes(size), format.bytes(Sending.BYTES_MAX)));
      },

      /** Reads the file as far as an import goes; what is not given is found out. */
      async _readFile(given) {
        const turn = (this._turn += 1);
        const {file, kind} = this._state.getData();
        this._set({isReading: true});
        this._tellProgress("imports.reading", 0);
        const onProgress = (percent) => this._turn === turn && this._tellProgress("imports.reading", percent);
        try {
          const read = await Reading[kind](file, {...given, rowsMax: Sending.ROWS_MAX, onProgress});
          if (turn === this._turn) {
            this._look(read);
          }
        } catch (error) {
          if (turn === this._turn) {
            this._set({isReading: false, isRead: false});
            this._tell("Error", this._whyUnreadable(error));
          }
        }
      },

      _whyUnreadable({code, message}) {
        return code && typeof code === "string"
          ? `${this._t(`imports.file.${code}`)} (${code})`
          : this._t("imports.unreadable", message);
      },

      _look(read) {
        this._read = read;
        this._set({isReading: false, ...this._told(read)});
        if (!read.rows.length || read.rows.length > Sending.ROWS_MAX) {
          const key = read.rows.length ? "imports.tooMany" : "imports.noRows";
          this._set({isRead: false, isReady: false});
          this._tell("Error", this._t(key, Sending.ROWS_MAX));
          return;
        }
        this._guess();
        this._check();
        this._set({isRead: true, isMappingShown: true});
      },

      /** How a file is written, for the lists that change it. */
      _told({delimiter, encoding, isDecimalComma}) {
        const key = delimiter === "\t" ? TAB : delimiter;
        return {delimiter: key, encoding, decimals: isDecimalComma ? "," : "."};
      },

      onReading() {
        const {delimiter, encoding} = this._state.getData();
        this._readFile({delimiter: delimiter === TAB ? "\t" : delimiter, encoding});
      },

      onChecking() {
        this._check();
      },

      // ---- mapping and looking at it ------------------------------------------------------------------------------

      _guess() {
        const {columns = [], rows} = this._read;
        const fields = Mapping.guess(columns, this._fields);
        this._set({
          columns: columns.map((name, at) => ({
            name,
            field: fields[at],
            state: "None",
            sample: (rows.find((row) => row[at]) || [])[at] || ""
          }))
        });
      },

      /** Goes through all rows as they would be sent. */
      _check() {
        const {kind, columns, decimals} = this._state.getData();
        const {rows, text} = this._read;
        this._rows =
          kind === "json"
            ? Rows.ofJson({rows, text, fields: this._fields, key: this._key, parts: this._parts})
            : Rows.ofTable({
                rows,
                fields: this._fields,
                key: this._key,
                isDecimalComma: decimals === ",",
                mapping: columns.map((one) => one.field)
              });
        this._idempotencyKey = Sending.newKey();
        Preview.fill(this.byId("preview"), this._rows, this._fields, this._t);
        this._tellChecked(columns);
      },

      _tellChecked(columns) {
        const t = this._t;
        const {count, bad, names, missing, twice, problems} = this._rows;
        const {sheet} = this._read;
        const unknown = columns.filter((one) => !one.field && !Mapping.isNote(one.name));
        const found = [
          bad ? t("imports.foundBad", count, bad) : t("imports.foundGood", count),
          unknown.length && t("imports.unknownColumns", unknown.map((one) => one.name || "?").join(", ")),
          missing.length && t("imports.missingFields", missing.map((one) => one.words).join(", ")),
          twice.length && t("imports.twice", twice.join(", "))
        ].filter(Boolean);
        columns.forEach((one, at) =>
          this._state.setProperty(
            `/columns/${at}/state`,
            twice.includes(one.field) ? "Error" : unknown.includes(one) ? "Warning" : "None"
          )
        );
        this._tell(bad || found.length > 1 ? "Warning" : "Success", found.join("\n"));
        this._set({
          bad,
          mappingText: t("imports.mapping", names.length, columns.length),
          previewText: sheet
            ? t("imports.previewOfSheet", this._rows.shown.length, count, sheet)
            : t("imports.preview", this._rows.shown.length, count),
          problemsText: t("imports.problems", bad),
          sendText: t("imports.send", count),
          isReady: names.length > 0 && !twice.length,
          problems: problems.map((one) => ({
            title: t("imports.rowNumber", one.number),
            text: Preview.sentence(one.problems, t)
          }))
        });
      },

      // ---- sending ------------------------------------------------------------------------------------------------

      async onSend() {
        const {set, mode} = this._state.getData();
        const body = Sending.body(this._rows.json, mode === 0);
        if (body.size > Sending.BYTES_MAX) {
          this._tellTooLarge(body.size);
          return;
        }
        this._sending = new AbortController();
        this._set({isSending: true});
        this._tellProgress("imports.sending", 0);
        try {
          const {jobId} = await Sending.send(set, body, {
            key: `${this._idempotencyKey}-${mode}`,
            signal: this._sending.signal,
            onProgress: (percent) => this._tellProgress("imports.sending", percent)
          });
          this._sending = null;
          this.getOwnerComponent()
            .getRouter()
            .navTo("imports", {"?query": {job: jobId}}, {}, true);
        } catch (error) {
          this._tellUnsent(error);
        } finally {
          this._set({isSending: false});
        }
      },

      _tellUnsent(error) {
        if (error.name === "AbortError") {
          this._tellChecked(this._state.getProperty("/columns"));
          return;
        }
        const {message, details} = Messages.read(error);
        const texts = [message, ...details.map((one) => one.message)];
        this._tell("Error", error.status === 0 ? this._t("imports.connectionBroken") : texts.join("\n"));
      },

      onCancel() {
        if (this._sending) {
          this._sending.abort();
          this._sending = null;
        } else {
          this._forget();
        }
      },

      onBack() {
        this.getOwnerComponent().getRouter().navTo("imports");
      }
    });
  }
);
