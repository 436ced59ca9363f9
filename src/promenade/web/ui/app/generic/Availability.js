sap.ui.define([], function () {
  "use strict";

  const OPERATORS = {
    $And: (one, other) => one && other,
    $Or: (one, other) => one || other,
    $Eq: (one, other) => one === other,
    $Ne: (one, other) => one !== other
  };

  /** When an action may be called: the annotation Core.OperationAvailable, read on an entity's values. */
  return class Availability {
    constructor(expression, binding) {
      this._expression = expression;
      this._prefix = `${binding}/`;
      this.paths = [...new Set(this._pathsOf(expression))];
    }

    _pathsOf(expression) {
      if (expression === null || typeof expression !== "object") {
        return [];
      }
      if (expression.$Path) {
        return [this._own(expression.$Path)];
      }
      return Object.values(expression)
        .flat()
        .flatMap((one) => this._pathsOf(one));
    }

    _own(path) {
      return path.startsWith(this._prefix) ? path.slice(this._prefix.length) : path;
    }

    /** Whether it may be called, `read(path)` telling the entity's values; what is not known counts as null. */
    test(read) {
      return this._expression === undefined || this._value(this._expression, read) === true;
    }

    _value(expression, read) {
      if (expression === null || typeof expression !== "object") {
        return expression;
      }
      if (expression.$Path) {
        return read(this._own(expression.$Path)) ?? null;
      }
      if (expression.$Not) {
        return !this._value(expression.$Not, read);
      }
      const operator = /** @type {keyof typeof OPERATORS} */ (Object.keys(OPERATORS).find((one) => one in expression));
      return OPERATORS[operator](...expression[operator].map((one) => this._value(one, read)));
    }
  };
});
