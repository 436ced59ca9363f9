sap.ui.define(
  [
    "sap/ui/core/Element",
    "sap/ui/core/LabelEnablement",
    "promenade/generic/Lookups",
    "promenade/generic/Marks",
    "promenade/generic/Texts"
  ],
  function (Element, LabelEnablement, Lookups, Marks, Texts) {
    "use strict";

    /**
     * What is on the screen and not saved: it is taken from its field, named, and not lost without a question.
     *
     * While a page or a dialog over it is guarded, an address that the person goes to is followed once all of it may be
     * left, and undone otherwise. The router itself keeps running: a stopped one does not navigate even when asked to.
     *
     * @typedef {object} Guard
     * @property {() => boolean} isChanged whether to ask
     * @property {() => Promise<boolean>} mayLeave asks the person
     * @property {() => Promise<unknown>} [settled] resolves once nothing under way could change `isChanged`
     * @property {() => unknown} [leave] called when the person leaves, for instance to close a dialog
     */
    const guards = []; // the page's first, if it has one, then those of the dialogs over it
    let isAsking = false;

    // ---- what is in fields --------------------------------------------------------------------------------------

    /** The properties of a control that can hold a value. */
    const VALUES = ["value", "selectedKey", "selected"];

    const bindingsOf = (control, name) => {
      const binding = control.getBinding(name);
      return binding && binding.getBindings ? binding.getBindings() : [binding];
    };

    /** The service has not taken the field's last change: the next change, or Save, sends it again. */
    const isUnsent = (control) =>
      VALUES.some((name) => bindingsOf(control, name).some((one) => one?.hasPendingChanges && one.hasPendingChanges()));

    const isInvalid = (binding) => Boolean(binding) && binding.getDataState().getInvalidValue() !== undefined;

    /** The text is no value of the field's type, or names nothing that exists: only the screen has it, no model. */
    const isWrong = (control) =>
      VALUES.some((name) => [control.getBinding(name), ...bindingsOf(control, name)].some(isInvalid)) ||
      (control instanceof Element && Marks.has(control) && Boolean(control.getValue?.()));

    function labelOf(control) {
      const [label] = LabelEnablement.getReferencingLabels(control).map((id) => Element.getElementById(id));
      return label ? label.getText() : "";
    }

    const labelsOf = (container, is) => container.findAggregatedObjects(true, is).map(labelOf);

    const listed = (names) => [...new Set(names)].filter(Boolean).join(", ");

    /**
     * Takes over what was typed into the field that has the focus.
     *
     * A field gives its text to its model when the focus leaves it, which a reload, the browser's Back and the end of
     * a window do not wait for. The field is told what it would have been told, and keeps the focus.
     */
    function take() {
      const field = Element.closestTo(document.activeElement);
      field?.onsapfocusleave?.({type: "sapfocusleave", target: field.getDomRef(), relatedControlId: null});
    }

    // ---- guards -------------------------------------------------------------------------------------------------

    function onUnload(event) {
      take();
      if (guards.some((one) => one.isChanged())) {
        event.preventDefault();
      }
    }

    /** From the uppermost dialog down to the page: the first that refuses is the last that is asked. */
    async function mayLeaveAll(asked) {
      for (const one of [...asked].reverse()) {
        if (guards.includes(one)) {
          await Lookups.settled();
          await one.settled();
          if (one.isChanged() && !(await one.mayLeave())) {
            return false;
          }
        }
      }
      return true;
    }

    async function onHash(newHash) {
      const asked = [...guards];
      const {router, hash} = asked[0];
      if (newHash === hash || isAsking) {
        return;
      }
      isAsking = true;
      take();
      const may = await mayLeaveAll(asked).finally(() => {
        isAsking = false;
      });
      if (guards[0] !== asked[0]) {
        return; // the page has gone on by itself
      }
      if (!may) {
        router.getHashChanger().replaceHash(hash, "Unknown");
        return;
      }
      // The address is read again: the person may have gone on while being asked.
      const left = [...guards];
      release();
      left.forEach((one) => one.leave());
      router.parse(router.getHashChanger().getHash());
    }

    function add(router, guard) {
      if (!guards.length) {
        router.parse = onHash;
        window.addEventListener("beforeunload", onUnload);
      }
      const hash = router.getHashChanger().getHash();
      guards.push({settled: () => Promise.resolve(), leave() {}, ...guard, router, hash});
      return guards.at(-1);
    }

    function letRouterGo(router) {
      window.removeEventListener("beforeunload", onUnload);
      delete router.parse; // and has that of its class again
    }

    /** Guards nothing any more, neither the page nor dialogs over it: the page goes on by itself. */
    function release() {
      if (guards.length) {
        letRouterGo(guards[0].router);
        guards.length = 0;
      }
    }

    return {
      /** Takes over what stands in the field that has the focus, and resolves once it has been looked up. */
      taken() {
        take();
        return Lookups.settled();
      },

      /** Guards the page that is shown now, and nothing else. */
      guard(router, guard) {
        release();
        add(router, guard);
      },

      /** Guards a dialog over the page as well, until what this returns is called. */
      guardDialog(router, guard) {
        const added = add(router, guard);
        return () => {
          const place = guards.indexOf(added);
          if (place >= 0) {
            guards.splice(place, 1);
          }
          if (place >= 0 && !guards.length) {
            letRouterGo(router);
          }
        };
      },

      release,

      /** Names the fields below a control whose change was not sent; `others`: names of what is unsent besides. */
      words(container, others = []) {
        const all = listed([...labelsOf(container, isUnsent), ...others]);
        return all ? Texts.of("unsent", all) : Texts.of("unsentSome");
      },

      /** Whether a field below a control holds what it cannot take. */
      hasWrong: (container) => container.findAggregatedObjects(true, isWrong).length > 0,

      /** Leads to the first of them; whether there is one. */
      leadToWrong(container) {
        const [wrong] = container.findAggregatedObjects(true, isWrong);
        wrong?.focus();
        return Boolean(wrong);
      },

      /** The question before leaving: about changes that were not sent, or about fields that hold no valid value. */
      question(container, isRefused) {
        if (isRefused) {
          return Texts.of("unsentLeave");
        }
        const names = listed(labelsOf(container, isWrong));
        return names ? Texts.of("wrongLeave", names) : Texts.of("wrongSomeLeave");
      }
    };
  }
);
