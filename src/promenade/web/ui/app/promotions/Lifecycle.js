sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/Dialog",
    "sap/m/MessageStrip",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/promotions/Findings",
    "promenade/promotions/Texts",
    "promenade/session/Session"
  ],
  function (Button, Dialog, MessageStrip, Messages, Http, Findings, Texts, Session) {
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

    /** The moves of a promotion's life. */
    const Lifecycle = {
      /** Which of them may be made now, `{<move>: boolean}`; `read(path)` tells the promotion's values. */
      available(meta, read) {
        const may = Session.may("update", "Promotions");
        return Object.fromEntries(
          MOVES.map((move) => {
            const action = meta.actions.find((one) => one.name === `AdminService.${move}`);
            return [move, Boolean(may && action && action.availability.test(read))];
          })
        );
      },

      /** The paths of what `available` reads. */
      paths(meta) {
        return [...new Set(meta.actions.flatMap((one) => one.availability.paths))];
      },

      /** Makes a move, after whatever is to be asked. Resolves with whether it was made. */
      async make(view, {id, name}, move, check) {
        if (!(await Lifecycle._mayGoOn(view, name, move, check))) {
          return false;
        }
        await Http.post(`/admin/Promotions(ID=${id},IsActiveEntity=true)/${move}`, {});
        Messages.toast(`promotions.moved.${move}`, [name]);
        return true;
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
