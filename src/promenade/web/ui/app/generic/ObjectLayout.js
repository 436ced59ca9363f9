sap.ui.define(
  [
    "sap/m/VBox",
    "sap/uxap/ObjectPageAccessibleLandmarkInfo",
    "sap/uxap/ObjectPageLayout",
    "sap/uxap/ObjectPageSection",
    "sap/uxap/ObjectPageSubSection",
    "promenade/generic/EmptyFields",
    "promenade/generic/Extensions",
    "promenade/generic/Format",
    "promenade/generic/History",
    "promenade/generic/Meta",
    "promenade/generic/ObjectForms",
    "promenade/generic/ObjectHeader",
    "promenade/generic/Parts",
    "promenade/generic/Texts",
    "promenade/resources/Following"
  ],
  function (
    VBox,
    LandmarkInfo,
    ObjectPageLayout,
    Section,
    SubSection,
    EmptyFields,
    Extensions,
    Format,
    History,
    Meta,
    ObjectForms,
    ObjectHeader,
    Parts,
    Texts,
    Following
  ) {
    "use strict";

    /** Builds the page of one entity from what $metadata says of its set: header, forms, parts. */
    function section(id, title, content) {
      const made = new Section({
        title,
        titleUppercase: false,
        subSections: [new SubSection({title: "", titleUppercase: false, blocks: [content]})]
      });
      made.data("section", id);
      return made;
    }

    const sectionOf = (one) => ({...one, section: section(one.group.id, one.group.label, one.form)});

    /** Who wrote the entity, and when: at the end of the page, and there is nothing of it to be said of a new one. */
    const isLast = (one) => one.isReadOnly && !one.isPart;

    function showForm(one, {isEditing, isNew}) {
      ObjectForms.fill(one, {isEditing, isNew});
      one.section.unbindProperty("visible").setVisible(!(isNew && isLast(one)));
      if (!isEditing) {
        ObjectForms.showSection(one.section, one);
      }
    }

    /** The parts that there can be several of: `{part, target, section}` each. */
    function partsOf(model, meta) {
      return Promise.all(
        meta.parts
          .filter((part) => part.isCollection)
          .map(async (part) => ({
            part,
            target: await Meta.of(model, part.set),
            section: section(part.id, part.label, new VBox())
          }))
      );
    }

    function addedSections(added, given) {
      const offered = added.filter(({isOffered}) => !isOffered || isOffered());
      return Promise.all(
        offered.map(async (one) => section(one.id, `{i18n>${one.titleKey}}`, await one.create(given)))
      );
    }

    /** Who changed the entity, where people do: a list of sections, of none or one. */
    function historyOf({view, model, meta}) {
      if (!(meta.canInsert || meta.canUpdate || meta.canDelete)) {
        return [];
      }
      const content = new Following().follow(view, [], async ({ID}) => {
        const control = History.create();
        await History.show(control, model, meta.set, ID);
        return [control];
      });
      return [section("history", Texts.of("history.title"), content)];
    }

    /** Shows the table of a part where there can be rows of it. */
    function showPart({part, target, section: shown}, {isNew, isDraft, isReplaced, onOpen, onChanged}) {
      const isOwn = target.isNode && !part.isClosed;
      const isThere = !isReplaced && !isNew;
      shown.unbindProperty("visible");
      shown.setVisible(isThere);
      if (isThere && isDraft && !isOwn) {
        // Nothing can refer to what was never saved.
        shown.bindProperty("visible", {
          path: "HasActiveEntity",
          targetType: "any",
          formatter: (has) => has !== false
        });
      }
      const [holder] = shown.getSubSections()[0].getBlocks();
      holder.destroyItems();
      if (isThere) {
        holder.addItem(
          Parts.create({
            part,
            target,
            isDraftShown: isDraft,
            onOpen: onOpen(target),
            onChanged: isDraft ? () => {} : onChanged, // a draft says by itself what of it has changed
            onCount: (count) => shown.setTitle(Texts.of("titleCount", part.label, Format.number(count)))
          })
        );
      }
    }

    /** The frame of the page: its header, and no sections yet. */
    function frameOf(given, {listHref, breadcrumb, actions}) {
      const {header} = Extensions.of(given.meta.set);
      const frame = new ObjectPageLayout({
        headerTitle: ObjectHeader.title(given.meta, {
          listHref,
          breadcrumb,
          actions: [...actions, EmptyFields.button()]
        }),
        headerContent: ObjectHeader.content(
          given.meta,
          header.map((one) => one.create(given))
        ),
        landmarkInfo: new LandmarkInfo({rootRole: "None"}),
        sectionTitleLevel: "H2",
        upperCaseAnchorBar: false,
        subSectionLayout: "TitleOnTop",
        preserveHeaderStateOnScroll: false
      });
      return frame.setModel(EmptyFields.model, "fields");
    }

    return {
      /**
       * The page of an entity, not bound yet. `actions`: controls of its title; `onOpen(target)` gives what to do
       * when a row of a part is pressed, null for nothing; `onChanged()`: a row of a part was written.
       *
       * Resolves with `{control, show({isEditing, isNew, isDraft}), isComplete(), showFields(isShown)}`: whether values
       * are taken or shown, whether everything needed is filled in, and whether there are fields to be seen.
       */
      async create({view, model, meta, listHref, breadcrumb, actions, onOpen, onChanged}) {
        const added = Extensions.of(meta.set);
        const given = {view, model, meta, context: () => view.getBindingContext()};
        const control = frameOf(given, {listHref, breadcrumb, actions});
        const [made, parts, own] = await Promise.all([
          ObjectForms.create(model, meta),
          partsOf(model, meta),
          addedSections(added.sections, given)
        ]);
        const forms = made.map(sectionOf);
        const history = historyOf(given);
        [
          ...forms.filter((one) => !isLast(one)).map((one) => one.section),
          ...own,
          ...parts.map((one) => one.section),
          ...history,
          ...forms.filter(isLast).map((one) => one.section)
        ].forEach((one) => control.addSection(one));
        const replaced = new Set(added.sections.flatMap((one) => one.replaces || []));
        return {
          control,
          isComplete: () => ObjectForms.isComplete(forms),
          show({isEditing, isNew, isDraft}) {
            EmptyFields.setReading(!isEditing);
            forms.forEach((one) => showForm(one, {isEditing, isNew}));
            own.forEach((one) => one.setVisible(!isNew));
            history.forEach((one) => one.setVisible(!isNew && !isDraft));
            parts.forEach((one) =>
              showPart(one, {isNew, isDraft, isReplaced: replaced.has(one.part.id), onOpen, onChanged})
            );
          },

          // Forms themselves stay: a section that has nothing to show is gone for good.
          showFields: (isShown) => forms.forEach(({form}) => form.getFormContainers()[0].setVisible(isShown))
        };
      }
    };
  }
);
