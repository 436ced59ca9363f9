sap.ui.define(["promenade/generic/Availability", "promenade/generic/Words"], function (Availability, Words) {
  "use strict";

  const UI = "@com.sap.vocabularies.UI.v1.";
  const COMMON = "@com.sap.vocabularies.Common.v1.";
  const CORE = "@Org.OData.Core.V1.";
  const CAPABILITIES = "@Org.OData.Capabilities.V1.";
  const VALIDATION = "@Org.OData.Validation.V1.";
  const MEASURES = "@Org.OData.Measures.V1.";

  const pathOf = (value) => (value && value.$Path) || null;
  const enumOf = (value) => ((value && value.$EnumMember) || "").split("/").pop();

  function valueListOf(notes) {
    const list = notes[`${COMMON}ValueList`];
    if (!list) {
      return null;
    }
    const parts = list.Parameters.map((one) => ({isKey: Boolean(one.LocalDataProperty), path: one.ValueListProperty}));
    return {
      set: list.CollectionPath,
      key: parts.find((one) => one.isKey).path,
      shown: parts.filter((one) => !one.isKey).map((one) => one.path),
      isFixed: Boolean(notes[`${COMMON}ValueListWithFixedValues`])
    };
  }

  /** The value that a property has unless one is given; $metadata writes all of them as texts. */
  function defaultOf({$DefaultValue: text, $Type: type}) {
    if (text === undefined) {
      return null;
    }
    if (type === "Edm.Boolean") {
      return String(text) === "true";
    }
    return type === "Edm.Int32" ? Number(text) : text;
  }

  /** What is known of one property, or of a parameter of an action, from its declaration and annotations. */
  function fieldFrom(path, declared, notes, ui5Type, criticalityPath = null) {
    const control = enumOf(notes[`${COMMON}FieldControl`]);
    const isComputed = Boolean(notes[`${CORE}Computed`]);
    const unit = notes[`${MEASURES}Unit`];
    return {
      path,
      label: Words.of(notes[`${COMMON}Label`] || path),
      description: notes[`${CORE}Description`] || "",
      type: declared.$Type || "Edm.String",
      ui5Type,
      isCollection: Boolean(declared.$isCollection),
      maxLength: declared.$MaxLength || null,
      precision: declared.$Precision || null,
      scale: declared.$Scale || null,
      defaultValue: defaultOf(declared),
      allowed: (notes[`${VALIDATION}AllowedValues`] || []).map((one) => one.Value),
      isRequired:
        !isComputed && declared.$Type !== "Edm.Boolean" && (control === "Mandatory" || declared.$Nullable === false),
      isReadOnly: isComputed || control === "ReadOnly" || path.includes("/"),
      isImmutable: Boolean(notes[`${CORE}Immutable`]),
      isMultiLine: Boolean(notes[`${UI}MultiLineText`]),
      isHidden: notes[`${UI}Hidden`] === true,
      isMail: Boolean(notes["@com.sap.vocabularies.Communication.v1.IsEmailAddress"]),
      textPath: pathOf(notes[`${COMMON}Text`]),
      isTextOnly: enumOf(notes[`${COMMON}Text${UI}TextArrangement`]) === "TextOnly",
      currencyPath: pathOf(notes[`${MEASURES}ISOCurrency`]),
      isPercent: unit === "%",
      criticalityPath,
      valueList: valueListOf(notes)
    };
  }

  class Entity {
    constructor(metaModel, set) {
      const notes = metaModel.getObject(`/${set}/@`) || {};
      const setNotes = metaModel.getObject(`/${set}@`) || {};
      const header = notes[`${UI}HeaderInfo`] || {};
      this._metaModel = metaModel;
      this._notes = notes;
      this._fields = new Map();
      this._criticality = new Map();
      /** @type {Set<string>} */
      this._unsortable = new Set();
      /** @type {Set<string>} */
      this._unfilterable = new Set();
      /** @type {Set<string>} */
      this._closed = new Set();
      this.set = set;
      this.type = metaModel.getObject(`/${set}`).$Type;
      this.key = metaModel.getObject(`/${set}/`).$Key;
      this.isDraft = Boolean(setNotes[`${COMMON}DraftRoot`]);
      this.isNode = Boolean(setNotes[`${COMMON}DraftNode`]);
      this.label = Words.of(header.TypeName || set);
      this.plural = Words.of(header.TypeNamePlural || set);
      this.titlePath = pathOf(header.Title && header.Title.Value);
      this.descriptionPath = pathOf(header.Description && header.Description.Value);
      this.semanticKey = (notes[`${COMMON}SemanticKey`] || []).map((one) => one.$PropertyPath);
      this._ends = new Set(
        Object.keys(notes)
          .filter((term) => term.startsWith(`${COMMON}Interval`))
          .map((term) => notes[term].UpperBoundary.$PropertyPath)
      );
      this._restrict(setNotes);
      this._readFields(notes);
      this._readFacets(notes);
      this._readActions(notes);
    }

    _restrict(notes) {
      const of = (term) => notes[`${CAPABILITIES}${term}`] || {};
      const paths = (list) => new Set((list || []).map((one) => one.$PropertyPath));
      this.canInsert = of("InsertRestrictions").Insertable !== false;
      this.canUpdate = of("UpdateRestrictions").Updatable !== false;
      this.canDelete = of("DeleteRestrictions").Deletable !== false;
      this.isSearchable = of("SearchRestrictions").Searchable !== false;
      this._unsortable = paths(of("SortRestrictions").NonSortableProperties);
      this._unfilterable = paths(of("FilterRestrictions").NonFilterableProperties);
      this._closed = new Set(
        (of("NavigationRestrictions").RestrictedProperties || [])
          .filter((one) => one.InsertRestrictions && one.InsertRestrictions.Insertable === false)
          .map((one) => one.NavigationProperty.$NavigationPropertyPath)
      );
    }

    _readFields(notes) {
      const groups = Object.keys(notes).filter((term) => term.startsWith(`${UI}FieldGroup`) && notes[term].Data);
      const lines = (notes[`${UI}LineItem`] || []).filter((one) => one.Value);
      [...lines, ...groups.flatMap((term) => notes[term].Data)].forEach((one) => {
        if (one.Criticality) {
          this._criticality.set(one.Value.$Path, one.Criticality.$Path);
        }
      });
      this.columns = lines.map((one) => ({
        ...this.field(one.Value.$Path),
        importance: enumOf(one[`${UI}Importance`]) || "Medium"
      }));
      this.filters = (notes[`${UI}SelectionFields`] || []).map((one) => this.field(one.$PropertyPath));
      const variant = notes[`${UI}PresentationVariant`];
      this.order = ((variant && variant.SortOrder) || []).map((one) => ({
        path: one.Property.$PropertyPath,
        isDescending: Boolean(one.Descending)
      }));
    }

    _readFacets(notes) {
      this.groups = [];
      this.parts = [];
      for (const facet of notes[`${UI}Facets`] || []) {
        const [navigation, target] = facet.Target.$AnnotationPath.split(/\/?(?=@)/, 2);
        if (target === undefined || navigation === "") {
          const term = facet.Target.$AnnotationPath;
          const fields = notes[term].Data.map((one) => this.field(one.Value.$Path));
          this.groups.push({id: facet.ID, label: Words.of(facet.Label), fields});
        } else {
          this.parts.push(this._part(facet, navigation, target.split("#")[1] || null));
        }
      }
      this.groups[0]?.fields.push(...this._lists());
    }

    /** Properties of several values: annotations name none of them, and people say them all the same. */
    _lists() {
      const type = this._metaModel.getObject(`/${this.set}/`);
      const names = Object.keys(type).filter((name) => type[name].$kind === "Property" && type[name].$isCollection);
      return names.map((name) => this.field(name));
    }

    _part(facet, navigation, group) {
      const declared = this._metaModel.getObject(`/${this.set}/${navigation}`);
      const binding = this._metaModel.getObject(`/${this.set}`).$NavigationPropertyBinding || {};
      return {
        id: facet.ID,
        label: Words.of(facet.Label),
        navigation,
        set: binding[navigation],
        isCollection: Boolean(declared.$isCollection),
        partner: declared.$Partner || null,
        isClosed: this._closed.has(navigation),
        group
      };
    }

    _readActions(notes) {
      this.actions = (notes[`${UI}Identification`] || []).filter((one) => one.Action).map((one) => this._action(one));
      this.listActions = (notes[`${UI}LineItem`] || []).filter((one) => one.Action).map((one) => one.Action);
    }

    _action(stated) {
      const at = `/${this.set}/${stated.Action}`;
      const overload = this._metaModel.getObject(`${at}/@$ui5.overload/0`) || {};
      const notes = this._metaModel.getObject(`${at}@`) || {};
      const availability = new Availability(notes[`${CORE}OperationAvailable`], overload.$Parameter?.[0]?.$Name);
      return {
        name: stated.Action,
        label: Words.of(stated.Label),
        description: notes[`${CORE}Description`] || "",
        isCritical: Boolean(notes[`${COMMON}IsActionCritical`]),
        availability,
        availablePath: availability.paths[0] || null,
        returns: overload.$ReturnType ? overload.$ReturnType.$Type : null,
        parameters: (overload.$Parameter || []).slice(1).map((one) => {
          const path = `${at}/${one.$Name}`;
          return fieldFrom(
            one.$Name,
            one,
            this._metaModel.getObject(`${path}@`) || {},
            this._metaModel.getUI5Type(path)
          );
        })
      };
    }

    /** What is known of a property, by its path from the entity. */
    field(path) {
      if (!this._fields.has(path)) {
        const at = `/${this.set}/${path}`;
        const declared = this._metaModel.getObject(at);
        if (!declared) {
          throw new Error(`${this.set} has no ${path}`);
        }
        const made = fieldFrom(
          path,
          declared,
          this._metaModel.getObject(`${at}@`) || {},
          this._metaModel.getUI5Type(at),
          this._criticality.get(path)
        );
        this._fields.set(path, {
          ...made,
          set: this.set,
          isEnd: this._ends.has(path),
          isSortable: !this._unsortable.has(path),
          isFilterable: !this._unfilterable.has(path)
        });
      }
      return this._fields.get(path);
    }

    /** Whether the entity has a property, by its path. */
    has(path) {
      return this._metaModel.getObject(`/${this.set}/${path}`)?.$kind === "Property";
    }

    /** The path of a row: of drafts `isActive` tells the two apart. */
    path(id, isActive = true) {
      return this.key.includes("IsActiveEntity")
        ? `/${this.set}(ID=${id},IsActiveEntity=${isActive})`
        : `/${this.set}(${id})`;
    }
  }

  const known = new WeakMap();

  return {
    /** Whether there is such a set; `model` is none for people who may not open the service. */
    async has(model, set) {
      const container = await model?.getMetaModel().requestObject("/");
      return Boolean(container && Object.hasOwn(container, set) && container[set].$kind === "EntitySet");
    },

    /** Whether there is such a set, and its rows have pages. */
    async hasPages(model, set) {
      const type = (await this.has(model, set)) && (await model.getMetaModel().requestObject(`/${set}/`));
      return Boolean(type && type.ID);
    },

    /**
     * What $metadata says of an entity set: `{set, type, isDraft, label, plural, titlePath, descriptionPath, columns,
     * filters, groups, parts, actions, canInsert, canUpdate, canDelete, field(path), path(id, isActive)}`.
     *
     * Labels are in the person's language.
     */
    async of(model, set) {
      const metaModel = model.getMetaModel();
      const [type] = await Promise.all([metaModel.requestObject(`/${set}/`), Words.ready()]);
      if (!type) {
        throw new Error(`There is no ${set}.`);
      }
      if (!known.has(metaModel)) {
        known.set(metaModel, new Map());
      }
      const entities = known.get(metaModel);
      if (!entities.has(set)) {
        entities.set(set, new Entity(metaModel, set));
      }
      return entities.get(set);
    }
  };
});
