sap.ui.define(["promenade/generic/Clock", "promenade/generic/Zone"], function (Clock, Zone) {
  "use strict";

  const YES = ["true", "yes", "ja", "wahr", "1", "x"];
  const NO = ["false", "no", "nein", "falsch", "0"];
  const GUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
  const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
  const GERMAN_DAY = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;
  const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;
  const LOCAL_MOMENT = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?$/;
  const TIME = /^\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

  const isWhole = (type) => ["Byte", "SByte", "Int16", "Int32", "Int64"].includes(type);

  /** The digits of a number as JSON writes them, never by way of a float; null: it is none. */
  function digits(text, isDecimalComma) {
    const [point, group] = isDecimalComma ? [",", "."] : [".", ","];
    const grouped = new RegExp(`^[+-]?\\d{1,3}(\\${group}\\d{3})+(\\${point}\\d+)?$`);
    const plain = new RegExp(`^[+-]?\\d+(\\${point}\\d+)?$`);
    const given = text.replace(/[\s\u00a0\u202f']/g, "");
    if (!plain.test(given) && !grouped.test(given)) {
      return null;
    }
    return given
      .split(group)
      .join("")
      .replace(point, ".")
      .replace(/^\+/, "")
      .replace(/^(-?)0+(?=\d)/, "$1");
  }

  function number(field, text, isDecimalComma) {
    const found = digits(text, isDecimalComma);
    if (found === null) {
      return {problem: "notANumber"};
    }
    const decimals = (found.split(".")[1] || "").length;
    if (isWhole(field.type)) {
      return decimals ? {problem: "notWhole"} : {literal: found};
    }
    return {literal: found, problem: field.scale !== null && decimals > field.scale ? "tooManyDecimals" : null};
  }

  function yesOrNo(text) {
    const word = text.toLowerCase();
    const isKnown = YES.includes(word) || NO.includes(word);
    return isKnown ? {literal: String(YES.includes(word))} : {problem: "notYesOrNo"};
  }

  /** Year, month, day, hour, minute, second on the stores' clock; null: it is no moment. */
  function partsOf(text) {
    const day = DAY.exec(text) || LOCAL_MOMENT.exec(text);
    if (day) {
      return day.slice(1).map((one) => Number(one || 0));
    }
    const german = GERMAN_DAY.exec(text);
    return german && [german[3], german[2], german[1], ...german.slice(4)].map((one) => Number(one || 0));
  }

  /**
   * What a clock on the wall shows then; null: no clock does, as on the 31st of February.
   *
   * @param {any[]} parts
   */
  function wallOf([year, month, ...rest]) {
    const at = new Date(Date.UTC(year, month - 1, ...rest));
    return at.getUTCMonth() === month - 1 ? at.toISOString().slice(0, 19) : null;
  }

  function moment(text) {
    if (MOMENT.test(text)) {
      return {literal: JSON.stringify(text)};
    }
    const parts = partsOf(text);
    if (!parts) {
      return {problem: "notAMoment"};
    }
    const wall = wallOf(parts);
    return wall ? {literal: JSON.stringify(Clock.moment(wall, Zone.current()))} : {problem: "notAMoment"};
  }

  function dayOf(text) {
    const parts = partsOf(text);
    const wall = parts && wallOf(parts);
    if (!parts) {
      return {problem: "notADay"};
    }
    const [year, month, date] = parts.map((one) => String(one).padStart(2, "0"));
    return {literal: JSON.stringify(`${year}-${month}-${date}`), problem: wall ? null : "notADay"};
  }

  function textOf(field, given) {
    const isLong = field.maxLength && [...given].length > field.maxLength;
    return {literal: JSON.stringify(given), problem: isLong ? "tooLong" : null};
  }

  function byType(field, given, isDecimalComma) {
    switch (field.type) {
      case "Decimal":
      case "Double":
      case "Single":
        return number(field, given, isDecimalComma);
      case "Boolean":
        return yesOrNo(given);
      case "Guid":
        return {literal: JSON.stringify(given), problem: GUID.test(given) ? null : "notAnId"};
      case "Date":
        return dayOf(given);
      case "DateTimeOffset":
        return moment(given);
      case "TimeOfDay":
        return {literal: JSON.stringify(given), problem: TIME.test(given) ? null : "notATime"};
      default:
        return isWhole(field.type) ? number(field, given, isDecimalComma) : textOf(field, given);
    }
  }

  return {
    /**
     * A cell of a table as JSON: `{literal, problem}`; without a literal the row says nothing of the field.
     *
     * What is no value of the field's type is sent as it is, with a problem: the service has the last word.
     */
    ofCell(field, cell, isDecimalComma) {
      const given = cell.trim();
      if (given === "") {
        return field.isNullable ? {literal: "null"} : {problem: field.isRequired ? "required" : null};
      }
      return {literal: JSON.stringify(given), problem: null, ...byType(field, given, isDecimalComma)};
    },

    /** The problem of a value of a JSON file, or null. */
    problemOf(field, value) {
      if (value === null) {
        return field.isNullable ? null : "required";
      }
      if (typeof value === "object") {
        return "notAValue";
      }
      if (typeof value === "boolean") {
        return field.type === "Boolean" ? null : "notAValue";
      }
      const isNumber = isWhole(field.type) || field.type === "Decimal";
      if (typeof value === "number" && !isNumber) {
        return "notAText";
      }
      if (field.type === "Boolean") {
        return "notYesOrNo";
      }
      return byType(field, String(value), false).problem || null;
    }
  };
});
