sap.ui.define(
  [
    "sap/m/Link",
    "sap/m/MessageStrip",
    "sap/m/OverflowToolbar",
    "sap/m/OverflowToolbarLayoutData",
    "sap/m/SearchField",
    "sap/m/Title",
    "sap/m/ToolbarSpacer",
    "promenade/generic/Format",
    "promenade/generic/Messages",
    "promenade/generic/Texts"
  ],
  function (
    Link,
    MessageStrip,
    OverflowToolbar,
    OverflowToolbarLayoutData,
    SearchField,
    Title,
    ToolbarSpacer,
    Format,
    Messages,
    Texts
  ) {
    "use strict";

    const PAUSE_MS = 400;

    /** Calls `ask` when the person pauses while typing, at once on Enter, and never twice for the same. */
    function searchField(ask, label) {
      let timer = null;
      let asked = "";
      const now = (text) => {
        clearTimeout(timer);
        if (text.trim() !== asked) {
          asked = text.trim();
          ask(asked);
        }
      };
      const field = new SearchField({
        width: "18rem",
        placeholder: Texts.of("search"),
        tooltip: label,
        layoutData: new OverflowToolbarLayoutData({priority: "NeverOverflow", shrinkable: true, minWidth: "8rem"}),
        search: (event) => now(event.getParameter("query") || ""),
        liveChange(event) {
          const text = event.getParameter("newValue");
          clearTimeout(timer);
          timer = setTimeout(() => now(text), PAUSE_MS);
        }
      });
      return {
        field,
        set: (text) => {
          asked = text;
          field.setValue(text);
        }
      };
    }

    return {
      /** The title with the number of rows, the search and the actions of a list. */
      create(table, {meta, title, titleLevel = "H2", hasSearch, actions}, {ask, askEverywhere}) {
        const text = title || meta.plural;
        const heading = new Title({
          text,
          level: titleLevel,
          titleStyle: titleLevel === "H1" ? "H4" : "H5",
          wrapping: true
        });
        const search = hasSearch && meta.isSearchable ? searchField(ask, Texts.of("searchIn", text)) : null;
        const control = new OverflowToolbar({
          style: "Clear",
          width: "auto",
          content: [heading, new ToolbarSpacer(), ...(search ? [search.field] : []), ...actions]
        }).addStyleClass("sapUiTinyMarginBeginEnd sapUiTinyMarginTop");
        const strip = new MessageStrip({
          visible: false,
          showIcon: true,
          link: new Link({text: Texts.of("searchEverywhere"), press: askEverywhere})
        }).addStyleClass("sapUiSmallMarginBeginEnd sapUiTinyMarginBottom");
        return {
          control,
          strip,
          title: heading,
          /** Says that a search looked only at how texts begin; null: it did not. */
          setByStart(start) {
            strip.setText(start ? Texts.of("byStart", start) : "");
            strip.setVisible(Boolean(start));
          },
          setSearch: (value) => search?.set(value || ""),
          setCount: (count) => heading.setText(Texts.of("titleCount", text, Format.number(count))),
          /** Says in place of rows why there are none, as long as that is so. */
          setFailure(error) {
            const failed = error && !error.canceled ? Messages.read(error) : null;
            table.setNoData(failed ? Texts.of("notRead", failed.message) : Texts.of("nothingFound"));
          }
        };
      }
    };
  }
);
