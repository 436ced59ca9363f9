/*
 * What a back office does, with OpenUI5's OData V4 model: lists, drafts, messages.
 *
 * The page asks the server that handed it out for orders, one after the other, and tells what came of them. Each order
 * gets a model of its own, as a page that has just been opened.
 */
(function () {
  "use strict";

  const NAMESPACE = "AdminService";
  const OWN_DRAFT = {path: "IsActiveEntity", operator: "EQ", value1: false};
  const IS_ACTIVE = {path: "IsActiveEntity", operator: "EQ", value1: true};
  const NO_SIBLING = {path: "SiblingEntity/IsActiveEntity", operator: "EQ", value1: null};
  const IN_PROCESS_BY = "DraftAdministrativeData/InProcessByUser";

  // The filters of Fiori Elements' "Editing Status".
  const EDITING_STATUS = {
    all: {filters: [OWN_DRAFT, NO_SIBLING], and: false},
    unchanged: {filters: [IS_ACTIVE, {path: "HasDraftEntity", operator: "EQ", value1: false}], and: true},
    ownDraft: OWN_DRAFT,
    lockedByAnother: {filters: [IS_ACTIVE, NO_SIBLING, {path: IN_PROCESS_BY, operator: "NE", value1: ""}], and: true},
    unsavedByAnother: {filters: [IS_ACTIVE, NO_SIBLING, {path: IN_PROCESS_BY, operator: "EQ", value1: ""}], and: true},
    allHidingDrafts: IS_ACTIVE
  };

  sap.ui.require([
    "sap/ui/core/Messaging", "sap/ui/model/Filter", "sap/ui/model/Sorter", "sap/ui/model/odata/v4/ODataModel"
  ], function (Messaging, Filter, Sorter, ODataModel) {

    function filter(described) {
      return new Filter(described.filters
        ? {filters: described.filters.map(filter), and: described.and}
        : described);
    }

    function open({token, groups}) {
      Messaging.removeAllMessages();
      return new ODataModel({
        serviceUrl: "/admin/",
        autoExpandSelect: true,
        operationMode: "Server",
        httpHeaders: {Authorization: `Bearer ${token}`},
        updateGroupId: groups || "$auto"
      });
    }

    function listOf(model, set, {status, sort, search, select, count, mine} = {}) {
      const filters = [status && EDITING_STATUS[status], mine].filter(Boolean).map(filter);
      const parameters = {$select: select || "ID,IsActiveEntity,HasActiveEntity,HasDraftEntity"};
      if (count) { parameters.$count = true; }
      if (search) { parameters.$search = search; }
      return model.bindList(`/${set}`, undefined, sort ? [new Sorter(sort)] : [], filters, parameters);
    }

    function pathOf(set, id, isActive) {
      return `/${set}(ID=${id},IsActiveEntity=${isActive})`;
    }

    /** A page that shows one entity: its context stays in step with what the server says. */
    async function show(model, path, parameters) {
      const binding = model.bindContext(path, undefined, parameters || {});
      await binding.requestObject();
      return binding.getBoundContext();
    }

    function action(model, context, name, parameters) {
      const binding = model.bindContext(`${NAMESPACE}.${name}(...)`, context, {$$inheritExpandSelect: true});
      Object.entries(parameters || {}).forEach(([key, value]) => binding.setParameter(key, value));
      return binding;
    }

    function messages() {
      return Messaging.getMessageModel().getData().map((one) => ({
        code: one.getCode(), text: one.getMessage(), type: one.getType(), targets: one.getTargets(),
        technical: one.getTechnical(), persistent: one.getPersistent()
      }));
    }

    const orders = {
      /** The list of one editing status: length by $count, and the rows. */
      async list(given) {
        const binding = listOf(open(given), given.set, {...given, count: true});
        const contexts = await binding.requestContexts(0, given.length || 100);
        const rows = contexts.map((context) => context.getObject());
        return {count: binding.getCount(), rows};
      },

      /** Begin a draft, change two properties in one go and a third later, add a child, look it over, activate it. */
      async life(given) {
        const model = open(given);
        const list = listOf(model, "Promotions", {status: "all", select: "ID,IsActiveEntity,name,code,priority,status"});
        await list.requestContexts(0, 10);
        const created = list.create({name: "From a page"}, true);
        await created.created();
        const id = created.getProperty("ID");
        const page = await show(model, created.getPath(), {
          $select: "ID,IsActiveEntity,HasActiveEntity,name,code,priority,status",
          $expand: {posGroups: {$select: "ID,posGroup_ID"}, DraftAdministrativeData: {$select: "DraftIsCreatedByMe"}}
        });
        const begun = {...page.getObject()};
        await Promise.all([page.setProperty("name", "Grouped"), page.setProperty("priority", 7)]);
        const children = model.bindList("posGroups", page, [], [], {$$ownRequest: true, $select: "ID,posGroup_ID"});
        await children.requestContexts(0, 10);
        const child = children.create({posGroup_ID: given.posGroup});
        await child.created();
        await page.requestSideEffects([{$PropertyPath: "name"}, {$NavigationPropertyPath: "posGroups"}]);
        const changed = JSON.parse(JSON.stringify(page.getObject()));
        const group = "activation";
        const prepare = action(model, page, "draftPrepare", {SideEffectsQualifier: ""}).invoke(group);
        const activate = action(model, page, "draftActivate").invoke(group);
        await model.submitBatch(group);
        await prepare;
        const active = await activate;
        return {
          id, begun, changed, child: child.getProperty("ID"),
          activePath: active.getPath(), active: await active.requestObject(), messages: messages()
        };
      },

      /** Take up what is active, change it and throw that away; take it up again and keep it. */
      async edit(given) {
        const model = open(given);
        const show_ = {$select: "name,HasDraftEntity", $expand: {posGroups: {$select: "posGroup_ID"}}};
        const path = pathOf("Promotions", given.id, true);
        let page = await show(model, path, show_);
        let draft = await action(model, page, "draftEdit", {PreserveChanges: true}).invoke();
        const taken = {path: draft.getPath(), row: await draft.requestObject()};
        let shown = await show(model, draft.getPath(), show_);
        await shown.setProperty("name", "Thrown away");
        await shown.delete();
        page = await show(model, path, show_);
        const afterDiscard = page.getObject();
        draft = await action(model, page, "draftEdit", {PreserveChanges: true}).invoke();
        shown = await show(model, draft.getPath(), show_);
        await shown.setProperty("name", "Kept");
        const active = await action(model, shown, "draftActivate").invoke();
        return {taken, afterDiscard: {...afterDiscard}, active: await active.requestObject(), activePath: active.getPath()};
      },

      /** Take up somebody's, without and with leave to replace what was left: the outcome of each. */
      async takeUp(given) {
        const model = open(given);
        const page = await show(model, pathOf("Promotions", given.id, true), {$select: "name"});
        try {
          const draft = await action(model, page, "draftEdit", {PreserveChanges: given.preserve}).invoke();
          return {path: draft.getPath()};
        } catch (error) {
          return {status: error.status, code: error.error && error.error.code, messages: messages()};
        }
      },

      /** Activate what lacks something: the messages that the page shows, and at which fields. */
      async refused(given) {
        const model = open(given);
        const list = listOf(model, "Promotions", {select: "name,code"});
        await list.requestContexts(0, 1);
        const created = list.create(given.row, true);
        await created.created();
        const page = await show(model, created.getPath(), {$select: "name,code,type"});
        await action(model, page, "draftPrepare", {SideEffectsQualifier: ""}).invoke();
        const prepared = messages();
        Messaging.removeAllMessages();  // as a page does once it has shown them
        try {
          await action(model, page, "draftActivate").invoke();
        } catch (error) {
          return {path: created.getPath(), status: error.status, prepared, messages: messages()};
        }
        throw new Error("it was activated");
      },

      /** Give a property a value that it cannot hold: the message at it, and what the field shows. */
      async wrong(given) {
        const model = open(given);
        const page = await show(model, pathOf("Promotions", given.id, false), {$select: "name,code"});
        let status;
        try {
          await page.setProperty(given.property, given.value);
        } catch (error) {
          status = error.status;
        }
        return {status, path: page.getPath(), messages: messages(), pending: model.hasPendingChanges()};
      },

      /** The values that a field offers, sorted, and those that a search finds. */
      async valueHelp(given) {
        const model = open(given);
        const all = await model.bindList(`/${given.set}`, undefined, [new Sorter("code")], [], {
          $select: "code,name", $count: true
        }).requestContexts(0, 100);
        const found = await model.bindList(`/${given.set}`, undefined, [],
          [new Filter({path: "code", operator: "StartsWith", value1: given.start, caseSensitive: false})],
          {$select: "code"}).requestContexts(0, 100);
        return {all: all.map((one) => one.getProperty("code")), found: found.map((one) => one.getProperty("code"))};
      },

      /** What the model reads from $metadata about an entity set. */
      async metadata(given) {
        const meta = open(given).getMetaModel();
        return {
          key: await meta.requestObject(`/${given.set}/$Type`).then((type) => meta.requestObject(`/${type}/$Key`)),
          root: await meta.requestObject(`/${given.set}@com.sap.vocabularies.Common.v1.DraftRoot`),
          type: await meta.requestUI5Type(`/${given.set}/validFrom`).then((type) => type.getName())
        };
      }
    };

    async function work() {
      for (;;) {
        const order = await (await fetch("/next")).json();
        if (order === null) {
          return;
        }
        let done;
        try {
          done = {value: await orders[order.name](order.arguments)};
        } catch (error) {
          done = {error: `${error.stack || error}\n${JSON.stringify(messages())}`};
        }
        await fetch("/done", {method: "POST", body: JSON.stringify(done)});
      }
    }

    work();
  });
})();
