sap.ui.define(
  [
    "sap/m/Button",
    "sap/m/HBox",
    "sap/m/MessageBox",
    "sap/m/MessageToast",
    "sap/ui/core/Component",
    "promenade/generic/Extensions",
    "promenade/generic/Messages",
    "promenade/net/Http",
    "promenade/resources/Doing",
    "promenade/resources/Texts",
    "promenade/session/Session",
    "promenade/simulator/Link",
    "promenade/simulator/TestRequest"
  ],
  function (
    Button,
    HBox,
    MessageBox,
    MessageToast,
    Component,
    Extensions,
    Messages,
    Http,
    Doing,
    Texts,
    Session,
    Link,
    TestRequest
  ) {
    "use strict";

    const SET = "BasketTests";
    const ROOT = `/admin/${SET}`;
    const app = () => Component.getComponentById("promenade");
    const mayRun = () => Doing.may("update", SET);
    const maySimulate = () => Boolean(Session.current().services.pos);

    /** Shows the basket of a test in the simulator, with the promotion that it guards. */
    async function simulate({context}) {
      const {request, promotion_ID: promotion} = await Http.get(
        `${ROOT}(${context.getProperty("ID")})?$select=request,promotion_ID`
      );
      const b = await Link.pack(await TestRequest.shorten(JSON.parse(request)));
      app()
        .getRouter()
        .navTo("simulator", {"?query": promotion ? {b, promotion} : {b}});
    }

    /** Runs the test of a row and says what came out. */
    async function run({context}) {
      const t = await Texts.of(app());
      const {name, status, difference} = await Http.post(`${ROOT}(${context.getProperty("ID")})/AdminService.run`, {});
      if (status === "PASSED") {
        MessageToast.show(t("resources.testPassed", name));
      } else {
        MessageBox.warning(difference, {title: t("resources.testFailed", name)});
      }
      context.getBinding().refresh();
    }

    async function runAll({list}) {
      try {
        const t = await Texts.of(app());
        const {passed, failed, left} = await Http.post(`${ROOT}/AdminService.runAll`, {});
        list.refresh();
        const said = [t("resources.testsRan", passed, failed), ...(left ? [t("resources.testsLeft", left)] : [])];
        MessageBox[failed ? "warning" : "success"](said.join(" "), {title: t("resources.runTests")});
      } catch (error) {
        Messages.show(error);
      }
    }

    const toSimulator = () => app().getRouter().navTo("simulator");

    /** A button of each row, without words: its tooltip says what it does. */
    const rowButton = ({icon, key, press, isOffered}) =>
      new Button({
        icon,
        type: "Transparent",
        visible: isOffered(),
        tooltip: `{i18n>${key}}`,
        async press(event) {
          const button = event.getSource();
          button.setEnabled(false);
          try {
            await press({context: button.getBindingContext()});
          } catch (error) {
            Messages.show(error);
          } finally {
            button.setEnabled(true);
          }
        }
      });

    const rowButtons = () =>
      new HBox({
        items: [
          rowButton({icon: "sap-icon://media-play", key: "resources.runTest", press: run, isOffered: mayRun}),
          rowButton({icon: "sap-icon://simulate", key: "resources.simulate", press: simulate, isOffered: maySimulate})
        ]
      });

    return {
      /** Adds what runs tests, and what leads to the simulator, where they are made. */
      extend() {
        Extensions.add(SET, {
          columns: [{id: "doing", labelKey: "resources.testDoing", width: "7rem", create: rowButtons}],
          listActions: [
            {
              id: "newTest",
              textKey: "resources.newTest",
              icon: "sap-icon://simulate",
              replaces: ["create"],
              isOffered: () => maySimulate() && Doing.may("create", SET),
              press: toSimulator
            },
            {
              id: "runAll",
              textKey: "resources.runTests",
              icon: "sap-icon://media-play",
              isOffered: mayRun,
              press: runAll
            }
          ],
          actions: [
            {
              id: "simulate",
              textKey: "resources.simulate",
              icon: "sap-icon://simulate",
              isEnabled: (context) => maySimulate() && !context.isTransient(),
              press: simulate
            }
          ]
        });
      }
    };
  }
);
