sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/MessageStrip",
    "promenade/generic/FieldDialog",
    "promenade/generic/Messages",
    "promenade/generic/Meta",
    "promenade/net/Http",
    "promenade/promotions/Findings",
    "promenade/promotions/Texts",
    "promenade/session/Session"
  ],
  function (Button, Dialog, MessageStrip, FieldDialog, Messages, Meta, Http, Findings, Texts, Session) {
    "use strict";

    const MOVES = [
      "activate",
      "submit",
      "approve",
      "reject",
      "promoteToActive",
      "startPilot",
      "endPilot",
      "deactivate",
      "archive"
    ];
    /** What is asked about before: it stops or starts something at the tills, or is not easily taken back. */
    const ASKED = new Set(["deactivate", "archive", "startPilot", "endPilot", "promoteToActive", "reject"]);
    const CRITICAL = new Set(["deactivate", "archive", "endPilot"]);
    const DECISIONS = new Set(["approve", "reject"]);
    /** Where else a promotion is submitted from when approval is binding. */
    const SUBMITTED_FROM = new Set(["APPROVED", "INACTIVE", "EXPIRED"]);

    /** The moves of a promotion's life. */
    const Lifecycle = {
      /** Which of them may be made now, `{<move>: boolean}`; `read(path)` tells the promotion's values. */
      available(meta, read) {
        const {approvalIsBinding, mayDecide} = Session.current();
        const mayUpdate = Session.may("update", "Promotions");
        const isSubmittedAgain = approvalIsBinding && SUBMITTED_FROM.has(read("status")) && !read("campaign/locked");
        return Object.fromEntries(
          MOVES.map((move) => {
            const action = meta.actions.find((one) => one.name === `AdminService.${move}`);
            const may = DECISIONS.has(move) ? mayDecide : mayUpdate;
            const isOffered = action && (action.availability.test(read) || (move === "submit" && isSubmittedAgain));
            return [move, Boolean(may && isOffered)];
          })
        );
      },

      /** The paths of what `available` reads. */
      paths(meta) {
        return [...new Set(meta.actions.flatMap((one) => one.availability.paths))];
      },

      /** Makes a move, after whatever is to be asked. Resolves with whether it was made. */
      async make(view, {id, name}, move, check) {
        const send = (values) => Http.post(`/admin/Promotions(ID=${id},IsActiveEntity=true)/${move}`, values);
        if (move === "reject" && Session.current().approvalIsBinding) {
          if (!(await Lifecycle._withReason(view, name, send))) {
            return false;
          }
        } else if (await Lifecycle._mayGoOn(view, name, move, check)) {
          await send({});
        } else {
          return false;
        }
        Messages.toast(`promotions.moved.${move}`, [name]);
        return true;
      },

      /** Asks for the reason of a rejection and sends it; resolves with whether it was rejected. */
      async _withReason(view, name, send) {
        const meta = await Meta.of(view.getModel(), "Promotions");
        const {parameters} = meta.actions.find((one) => one.name === "AdminService.reject");
        const done = await FieldDialog.open({
          title: Texts.plain(Texts.get("rejecting.title", [name])),
          action: Texts.get("move.reject"),
          text: Texts.get("rejecting.text"),
          fields: parameters.map((one) => ({...one, isRequired: true, isMultiLine: true})),
          submit: async (values) => {
            await send(values);
            return true;
          }
        });
        return Boolean(done);
      },

      _mayGoOn(view, name, move, check) {
        if (move === "activate") {
          return Lifecycle._checked(view, name, check);
        }
        return (
          !ASKED.has(move) ||
          Messages.confirm(Texts.get(`ask.${move}`, [name]), {
            action: Texts.get(`move.${move}`),
            isCritical: CRITICAL.has(move),
            title: Texts.get(`move.${move}`)
          })
        );
      },

      async _checked(view, name, check) {
        const findings = await check();
        const errors = Findings.count(findings, "ERROR");
        const kind = errors ? "errors" : Findings.count(findings, "WARNING") ? "warnings" : "clean";
        const strip = new MessageStrip({
          showIcon: true,
          text: Texts.plain(Texts.get(`activating.${kind}`, [name])),
          type: {errors: "Error", warnings: "Warning", clean: "Success"}[kind]
        });
        return new Promise((resolve) => {
          let goesOn = false;
          const finish = (answer) => () => {
            goesOn = answer;
            dialog.close();
          };
          const go = new Button({
            text: Texts.get(kind === "clean" ? "move.activate" : "activating.anyway"),
            type: errors ? "Default" : "Emphasized",
            press: finish(true)
          });
          const back = new Button({text: Texts.get("cancel"), press: finish(false)});
          const dialog = new Dialog({
            title: Texts.plain(Texts.get("activating.title", [name])),
            contentWidth: "44rem",
            resizable: true,
            // What is good to know stays on the page; here is what speaks against it.
            content: [strip, Findings.list(findings.filter((one) => kind === "clean" || one.severity !== "INFO"))],
            buttons: [go, back],
            initialFocus: errors ? back : go,
            afterClose() {
              dialog.destroy();
              resolve(goesOn);
            }
          });
          dialog.addStyleClass("sapUiContentPadding sapUiSizeCompact");
          view.addDependent(dialog);
          dialog.open();
        });
      }
    };

    return Lifecycle;
  }
);
