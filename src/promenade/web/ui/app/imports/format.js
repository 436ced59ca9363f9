sap.ui.define(
  ["sap/base/strings/formatMessage", "sap/ui/core/format/NumberFormat"],
  function (formatMessage, NumberFormat) {
    "use strict";

    const STATES = {QUEUED: "None", RUNNING: "Information", SUCCEEDED: "Success", FAILED: "Error"};
    const UNDER_WAY = ["QUEUED", "RUNNING"];

    const whole = (count) => NumberFormat.getIntegerInstance({groupingEnabled: true}).format(count);

    const format = {
      /** The words for a code, of the texts `imports.<kind>.<code>`. */
      word(control, kind, code) {
        return (code && control.getModel("i18n").getProperty(`imports.${kind}.${code}`)) || code || "";
      },

      status(code, failed) {
        return format.word(this, "status", code === "SUCCEEDED" && failed ? "PARTLY" : code);
      },

      source(code) {
        return format.word(this, "source", code);
      },

      /** A job that kept its good rows and lost others ended well, yet somebody should look at it. */
      state(code, failed) {
        return code === "SUCCEEDED" && failed ? "Warning" : STATES[code] || "None";
      },

      icon(code, failed) {
        const icons = {Warning: "alert", Success: "sys-enter-2", Error: "error", Information: "in-progress"};
        const found = icons[format.state(code, failed)];
        return found ? `sap-icon://${found}` : "sap-icon://pending";
      },

      isUnderWay: (code) => UNDER_WAY.includes(code),

      percent(succeeded, failed, skipped, total) {
        return total ? Math.round((100 * (succeeded + failed + skipped)) / total) : 0;
      },

      /** How many rows are done, in a sentence. */
      done(succeeded, failed, skipped, total) {
        const text = this.getModel("i18n").getProperty("imports.doneOf");
        return text ? formatMessage(text, [succeeded + failed + skipped, total].map(whole)) : "";
      },

      bytes(size) {
        return size < 1024 * 1024
          ? `${Math.max(1, Math.round(size / 1024))} KiB`
          : `${Math.round(size / 1024 / 1024)} MiB`;
      }
    };
    return format;
  }
);
