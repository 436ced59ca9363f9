sap.ui.define([], function () {
  "use strict";

  /**
   * Reads the YAML of scenario files: mappings and lists in blocks or in braces and brackets, quoted and plain scalars,
   * folded and literal text, comments. As the project's own reader does, it guesses nothing from how a scalar looks:
   * all stay text but true, false and null. Anchors, tags and several documents are refused.
   */
  class YamlError extends SyntaxError {
    constructor(line) {
      super(String(line));
      this.line = line;
    }
  }

  const KEY = /^((?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#[\]{},&*!|>%@`-][^#:]*|-[^\s:#][^#:]*)):(?=\s|$)\s*(.*)$/;
  const WORDS = {true: true, false: false, null: null, "": null};
  const indentOf = (text) => text.length - text.trimStart().length;

  /** Without a comment: a `#` at the start or after a blank, outside of quotes. */
  function uncommented(text) {
    let quote = "";
    for (let place = 0; place < text.length; place += 1) {
      const one = text[place];
      if (quote === '"' && one === "\\") {
        place += 1;
      } else if (quote) {
        quote = one === quote ? "" : quote;
      } else if ((one === '"' || one === "'") && /^$|[\s[{,:]/.test(text[place - 1] || "")) {
        quote = one;
      } else if (one === "#" && (place === 0 || /\s/.test(text[place - 1]))) {
        return text.slice(0, place).trimEnd();
      }
    }
    return text.trimEnd();
  }

  /** One value in a line: quoted, plain, or in braces or brackets. */
  class Flow {
    constructor(text, fail) {
      this._text = text;
      this._place = 0;
      this._fail = fail;
    }

    whole() {
      const value = this._value("");
      this._blanks();
      return this._place < this._text.length ? this._fail() : value;
    }

    _blanks() {
      while (/\s/.test(this._text[this._place] || "")) {
        this._place += 1;
      }
    }

    _takes(sign) {
      this._blanks();
      const isThere = this._text[this._place] === sign;
      this._place += isThere ? 1 : 0;
      return isThere;
    }

    _value(ends) {
      this._blanks();
      if (this._takes("{")) {
        return this._mapping();
      }
      if (this._takes("[")) {
        return this._list();
      }
      const one = this._text[this._place];
      return one === '"' || one === "'" ? this._quoted(one) : this._plain(ends);
    }

    _list() {
      const found = [];
      while (!this._takes("]")) {
        found.push(this._value(",]"));
        if (!this._takes(",") && this._text[this._place] !== "]") {
          this._fail();
        }
      }
      return found;
    }

    _mapping() {
      const found = {};
      while (!this._takes("}")) {
        const key = String(this._value(":,}"));
        found[key] = this._takes(":") ? this._value(",}") : null;
        if (!this._takes(",") && this._text[this._place] !== "}") {
          this._fail();
        }
      }
      return found;
    }

    _quoted(quote) {
      const pattern = quote === '"' ? /"((?:[^"\\]|\\.)*)"/y : /'((?:[^']|'')*)'/y;
      pattern.lastIndex = this._place;
      const found = pattern.exec(this._text);
      if (!found) {
        return this._fail();
      }
      this._place = pattern.lastIndex;
      try {
        return quote === '"' ? JSON.parse(found[0]) : found[1].replace(/''/g, "'");
      } catch {
        return this._fail();
      }
    }

    _plain(ends) {
      const from = this._place;
      const isEnd = (one) =>
        ends.includes(one) && (one !== ":" || /[\s,}\]]|^$/.test(this._text[this._place + 1] || ""));
      while (this._place < this._text.length && !isEnd(this._text[this._place])) {
        this._place += 1;
      }
      const text = this._text.slice(from, this._place).trim();
      if (/^[&*!|>%@`]/.test(text)) {
        this._fail();
      }
      return Object.hasOwn(WORDS, text) ? WORDS[text] : text;
    }
  }

  /** Lines by how far they are indented. */
  class Block {
    constructor(source) {
      this._raw = source.replace(/^\uFEFF/, "").split(/\r?\n/);
      this._place = 0;
    }

    document() {
      const value = this._node(0);
      return this._next() === null ? value : this._fail();
    }

    _fail() {
      throw new YamlError(this._place + 1);
    }

    /** The next line that says something, null at the end. */
    _next() {
      while (this._place < this._raw.length && !uncommented(this._raw[this._place]).trim()) {
        this._place += 1;
      }
      const line = this._place < this._raw.length ? uncommented(this._raw[this._place]) : null;
      return line !== null && /^\t|^---|^%/.test(line) ? this._fail() : line;
    }

    _node(indent) {
      const line = this._next();
      if (line === null || indentOf(line) < indent) {
        return null;
      }
      const at = indentOf(line);
      if (/^-(\s|$)/.test(line.trim())) {
        return this._list(at);
      }
      return KEY.test(line.trim()) ? this._mapping(at) : this._scalar(line.trim(), at);
    }

    _list(at) {
      const found = [];
      for (let line = this._next(); line !== null && indentOf(line) === at; line = this._next()) {
        const [, rest] = /^-(?:\s+(.*))?$/.exec(line.trim()) || this._fail();
        // What follows the dash is a block of its own, indented as far as it stands.
        this._raw[this._place] = rest ? " ".repeat(line.length - rest.length) + rest : "";
        found.push(this._node(at + 1));
      }
      return found;
    }

    _mapping(at) {
      const found = {};
      for (let line = this._next(); line !== null && indentOf(line) === at; line = this._next()) {
        const [, quoted, rest] = KEY.exec(line.trim()) || this._fail();
        const key = String(new Flow(quoted, () => this._fail()).whole());
        if (Object.hasOwn(found, key)) {
          this._fail();
        }
        found[key] = rest ? this._scalar(rest, at + 1) : this._below(at);
      }
      return found;
    }

    /** What stands below a key; a list may stand as far left as its key. */
    _below(at) {
      this._place += 1;
      const line = this._next();
      const isList = line !== null && indentOf(line) === at && /^-(\s|$)/.test(line.trim());
      return this._node(isList ? at : at + 1);
    }

    _scalar(first, indent) {
      const block = /^([|>])([+-]?)$/.exec(first);
      this._place += 1;
      if (block) {
        return this._text(indent, block[1] === ">" ? " " : "\n");
      }
      let text = first;
      // A value may go on in lines that are indented further.
      for (let line = this._next(); line !== null && indentOf(line) >= indent; line = this._next()) {
        text += ` ${line.trim()}`;
        this._place += 1;
      }
      return new Flow(text, () => this._fail()).whole();
    }

    _text(indent, between) {
      const lines = [];
      while (this._place < this._raw.length) {
        const line = this._raw[this._place];
        if (line.trim() && indentOf(line) < indent) {
          break;
        }
        lines.push(line.trim());
        this._place += 1;
      }
      return lines.join(between).trim();
    }
  }

  return {
    YamlError,

    /** The mapping, list or scalar of a text; throws a YamlError that knows its line. */
    read: (text) => new Block(text).document()
  };
});
