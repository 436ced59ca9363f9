sap.ui.define([], function () {
  "use strict";

  /** IDs and codes for what is made here and named before the service has it. */
  const SIGNS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"; // none that look alike
  const RANDOM = 5;
  const NAME_MAX = 30;

  const random = (length) => crypto.getRandomValues(new Uint8Array(length));

  return {
    /** A new ID. */
    guid() {
      const bytes = random(16); // `crypto.randomUUID` is there on https alone
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = [...bytes].map((one) => one.toString(16).padStart(2, "0")).join("");
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    },

    /** A code that begins as a name does and that nothing else has. */
    readable(name) {
      const plain = name
        .normalize("NFKD")
        .replace(/[^\w]+/g, "-")
        .toUpperCase()
        .slice(0, NAME_MAX);
      const signs = [...random(RANDOM)].map((one) => SIGNS[one % SIGNS.length]).join("");
      return [plain.replace(/^[-_]+|[-_]+$/g, ""), signs].filter(Boolean).join("-");
    }
  };
});
