sap.ui.define(["promenade/imports/FileError"], function (FileError) {
  "use strict";

  const NAME = "[^\\s/>\"'=<!?&]+";
  const VALUE = "\"[^\"<]*\"|'[^'<]*'";
  const TOKEN = new RegExp(
    "<!\\[CDATA\\[([^]*?)\\]\\]>|<!--[^]*?-->|<\\?[^]*?\\?>|" +
      `<(/?)(${NAME})((?:\\s+${NAME}\\s*=\\s*(?:${VALUE}))*)\\s*(/?)>|([^<]+)`,
    "y"
  );
  const ATTRIBUTE = new RegExp(`(${NAME})\\s*=\\s*(${VALUE})`, "g");
  const REFERENCE = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));|&/gi;
  const NAMED = {amp: "&", lt: "<", gt: ">", quot: '"', apos: "'"};
  const DEPTH_MAX = 64;

  /** A name without the prefix of its namespace, which writers choose as they like. */
  const local = (name) => name.slice(name.indexOf(":") + 1);

  function demand(isGood) {
    if (!isGood) {
      throw new FileError("FILE_BROKEN");
    }
  }

  function resolved(text) {
    return text.includes("&")
      ? text.replace(REFERENCE, (_, hex, decimal, name) => {
          const code = hex ? parseInt(hex, 16) : Number(decimal);
          demand(name || (code > 0 && code <= 0x10ffff));
          return name ? NAMED[name.toLowerCase()] : String.fromCodePoint(code);
        })
      : text;
  }

  function attributesOf(text) {
    /** @type {Record<string, string>} */
    const found = {};
    for (const [, name, value] of text.matchAll(ATTRIBUTE)) {
      found[local(name)] = resolved(value.slice(1, -1));
    }
    return found;
  }

  /** What stands next in a document, and where the one after it begins. */
  function next(source, at) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(source);
    if (!token) {
      throw new FileError(source.startsWith("<!DOCTYPE", at) ? "FILE_DECLARES_ENTITIES" : "FILE_BROKEN");
    }
    const [all, data, isEnd, name, attributes, isEmpty, characters] = token;
    const text = characters === undefined ? data : resolved(characters);
    return {text, name, attributes, isOpened: !isEnd, isClosed: isEnd || isEmpty, end: at + all.length};
  }

  return {
    /**
     * Goes through XML from beginning to end: `open(name, attributes)`, `text(value)` and `close(name)`, which ends
     * the reading if it returns false.
     *
     * Nothing but the five entities of XML itself is known: a document that declares its own is refused.
     *
     * @param {string} xml
     * @param {{open?: (name: string, attributes: Record<string, string>) => unknown, text?: (value: string) => unknown,
     *   close?: (name: string) => unknown}} handlers
     */
    read(xml, {open = () => {}, text = () => {}, close = () => {}}) {
      const inside = [];
      const source = xml.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
      for (let at = 0; at < source.length; ) {
        const found = next(source, at);
        at = found.end;
        if (found.text !== undefined) {
          text(found.text);
        } else if (found.name) {
          if (found.isOpened && inside.push(found.name) <= DEPTH_MAX) {
            open(local(found.name), attributesOf(found.attributes));
          }
          demand(inside.length <= DEPTH_MAX && (!found.isClosed || inside.pop() === found.name));
          if (found.isClosed && close(local(found.name)) === false) {
            return;
          }
        }
      }
      demand(!inside.length);
    }
  };
});
