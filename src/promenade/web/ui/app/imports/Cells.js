sap.ui.define([], function () {
  "use strict";

  const NUMBER = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,3}))?$/i;
  const DIGITS_MAX = 15; // what a spreadsheet keeps of a number; files have two more, which nobody has entered
  const DAY_SECONDS = 86_400;
  const LAST_DAY = 2_958_465; // 9999-12-31
  const FALSE_LEAP_DAY = 60; // 1900-02-29, which spreadsheets know and calendars do not

  /** Formats without a text of their own; `moment` is `[has a day, has a time]`. */
  const BUILT_IN = [
    {ids: [14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58], moment: [true, false]},
    {ids: [18, 19, 20, 21, 32, 33, 34, 35, 45, 46, 47, 55, 56], moment: [false, true]},
    {ids: [22], moment: [true, true]},
    {ids: [9, 10], isPercent: true}
  ];

  /** Digits with the point `shift` places further to the right, without zeros that say nothing. */
  function plain(sign, digits, decimals) {
    const padded = digits.padStart(decimals + 1, "0");
    const whole = padded.slice(0, padded.length - decimals).replace(/^0+(?=\d)/, "");
    const part = decimals > 0 ? padded.slice(-decimals).replace(/0+$/, "") : "";
    const text = part ? `${whole}.${part}` : whole;
    return sign === "-" && text !== "0" ? `-${text}` : text;
  }

  /** A number of a file in full digits, times ten to the power of `shift`; null: it is none. */
  function decimal(text, shift = 0) {
    const [match, sign, whole, part, exponent = "0"] = NUMBER.exec(text) || [];
    if (match === undefined || !(whole || part)) {
      return null;
    }
    const digits = whole + part;
    const isWritten = !part && exponent === "0"; // a whole number, such as the code of a parcel
    const known = digits.replace(/^0+/, "").replace(/0+$/, "");
    if (known.length > DIGITS_MAX && !isWritten) {
      return decimal(Number(text).toPrecision(DIGITS_MAX), shift);
    }
    const decimals = part.length - Number(exponent) - shift;
    return decimals < 0 ? plain(sign, digits + "0".repeat(-decimals), 0) : plain(sign, digits, decimals);
  }

  /** Day and time of a number, as a calendar and a clock write them. */
  function moment(text, [hasDay, hasTime], is1904) {
    const seconds = Math.round((Number(text) + (is1904 ? 1462 : 0)) * DAY_SECONDS);
    const day = Math.floor(seconds / DAY_SECONDS);
    if (!(seconds >= 0) || day > LAST_DAY) {
      return decimal(text);
    }
    const rest = seconds - day * DAY_SECONDS;
    const time = [rest / 3600, (rest / 60) % 60, rest % 60].map((one) => String(Math.floor(one)).padStart(2, "0"));
    if (!hasDay && !day) {
      return time.join(":");
    }
    const since = Date.UTC(1899, 11, day < FALSE_LEAP_DAY ? 31 : 30);
    const date = new Date(since + day * DAY_SECONDS * 1000).toISOString().slice(0, 10);
    return hasTime || rest ? `${date} ${time.join(":")}` : date;
  }

  return {
    decimal,

    /** What a format makes of a number: `{moment}`, `{isPercent}`, `{zeros}`; null: the number itself. */
    formatOf(id, code) {
      const bare = (code || "")
        .split(";")[0]
        .replace(/"[^"]*"|\\.|_.|\*./g, "")
        .replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "");
      if (!code) {
        return BUILT_IN.find(({ids}) => ids.includes(id)) || null;
      }
      if (bare.includes("%")) {
        return {isPercent: true};
      }
      if (/^0{2,}$/.test(bare)) {
        return {zeros: bare.length};
      }
      const isMoment = /[dyhsm]/i.test(bare) && !/general/i.test(bare);
      const hasTime = /[hs]/i.test(bare);
      return isMoment ? {moment: [/[dy]/i.test(bare) || !hasTime, hasTime]} : null;
    },

    /** A number as a CSV file would hold it. */
    ofNumber(text, format, is1904) {
      if (format?.moment) {
        return moment(text, format.moment, is1904);
      }
      if (format?.isPercent) {
        const found = decimal(text, 2);
        return found === null ? null : `${found}%`;
      }
      const found = decimal(text);
      return format?.zeros && /^\d+$/.test(found || "") ? found.padStart(format.zeros, "0") : found;
    }
  };
});
