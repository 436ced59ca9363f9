sap.ui.define(
  ["promenade/generic/Format", "promenade/generic/Messages", "promenade/generic/Texts", "promenade/net/News"],
  function (Format, Messages, Texts, News) {
    "use strict";

    /** Edit drafts: begun, kept or thrown away, and what happens when somebody else is editing. */
    const NAMESPACE = "AdminService";

    async function invoke(context, name, parameters = {}) {
      const path = context.getPath();
      const binding = context.getModel().bindContext(`${NAMESPACE}.${name}(...)`, context);
      Object.entries(parameters).forEach(([key, value]) => binding.setParameter(key, value));
      const result = await binding.invoke();
      News.wrote("POST", `${path}/${name}`);
      return result;
    }

    /** Who is editing, as `{by, isMine, since, isLeft}`; null: nobody is. */
    async function editorOf(context) {
      const model = context.getModel();
      const binding = model.bindContext(context.getPath(), undefined, {
        $select: "ID",
        $expand: {DraftAdministrativeData: true},
        $$groupId: "$direct"
      });
      const data = (await binding.requestObject()).DraftAdministrativeData;
      binding.destroy();
      return (
        data && {
          by: data.InProcessByUser || data.LastChangedByUser || data.CreatedByUser,
          isMine: data.DraftIsCreatedByMe,
          since: data.InProcessByUser ? data.CreationDateTime : data.LastChangeDateTime,
          isLeft: !data.InProcessByUser
        }
      );
    }

    /** The path of the draft of an active row. */
    const draftPath = (context) => context.getPath().replace("IsActiveEntity=true", "IsActiveEntity=false");

    async function contextAt(model, path) {
      const binding = model.bindContext(path, undefined, {$select: "ID,IsActiveEntity"});
      await binding.requestObject();
      return binding.getBoundContext();
    }

    /** Somebody is at it: says who, and takes over what was left behind where the person says so. */
    async function settle(context, error) {
      const editor = await editorOf(context);
      if (!editor) {
        throw error;
      }
      if (editor.isMine) {
        return contextAt(context.getModel(), draftPath(context));
      }
      await Texts.ready();
      const since = Format.dateTime(editor.since);
      if (!editor.isLeft) {
        await Messages.show({message: Texts.of("lockedBy", editor.by, since), code: Messages.read(error).code});
        return null;
      }
      const takesOver = await Messages.confirm(Texts.of("leftBy", editor.by, since), {
        action: Texts.of("takeOver"),
        isCritical: true,
        title: Texts.of("leftTitle")
      });
      return takesOver ? invoke(context, "draftEdit", {PreserveChanges: false}) : null;
    }

    return {
      editorOf,

      /** Begins a draft of something new; resolves with its context. */
      async create(model, set, values = {}) {
        const list = model.bindList(`/${set}`, undefined, [], [], {$select: "ID,IsActiveEntity"});
        const context = list.create(values, true);
        await context.created();
        News.wrote("POST", `/${set}`);
        return context;
      },

      /** Begins a draft of the active row at a path, or goes on with the person's own; see `edit`. */
      async editAt(model, path) {
        return this.edit(await contextAt(model, path));
      },

      /**
       * Begins a draft of what is active, or goes on with the person's own; resolves with the draft's context.
       *
       * Null: somebody else is editing it, of which the person has been told.
       */
      async edit(context) {
        try {
          return await invoke(context, "draftEdit", {PreserveChanges: true});
        } catch (error) {
          if (Messages.read(error).code !== "DRAFT_ALREADY_EXISTS") {
            throw error;
          }
          Messages.clear();
          return settle(context, error);
        }
      },

      /** Makes a draft the active entity; resolves with the context of that. */
      async activate(context) {
        return invoke(context, "draftActivate");
      },

      /** Deletes what is active. */
      async remove(context) {
        const path = context.getPath();
        await context.delete("$auto");
        News.wrote("DELETE", path);
      },

      /** Throws a draft away; resolves with the path of what it was a draft of, null when it was something new. */
      async discard(context) {
        const path = context.getPath();
        const binding = context.getModel().bindContext(path, undefined, {$select: "ID,HasActiveEntity"});
        const {HasActiveEntity: hasActive} = await binding.requestObject();
        await binding.getBoundContext().delete();
        News.wrote("DELETE", path);
        return hasActive ? path.replace("IsActiveEntity=false", "IsActiveEntity=true") : null;
      }
    };
  }
);
