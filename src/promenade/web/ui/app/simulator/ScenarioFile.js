sap.ui.define(["promenade/simulator/Yaml"], function (Yaml) {
  "use strict";

  /**
   * Scenario files: YAML whose values are JSON, one line for each row of a list and each entry of what is expected, so
   * that people read them and every YAML reader understands them. Any scenario of the project can be read.
   */
  const isObject = (value) => typeof value === "object" && value !== null;

  function writeEntry([key, value]) {
    if (Array.isArray(value) && value.some(isObject)) {
      return [`${key}:`, ...value.map((row) => `  - ${JSON.stringify(row)}`)];
    }
    if (isObject(value) && !Array.isArray(value) && Object.values(value).some(isObject)) {
      return [
        `${key}:`,
        ...Object.entries(value).map(([name, one]) => `  ${JSON.stringify(name)}: ${JSON.stringify(one)}`)
      ];
    }
    return [`${key}: ${JSON.stringify(value)}`];
  }

  return {
    /** The text of a file. */
    write(entries) {
      return `${Object.entries(entries).flatMap(writeEntry).join("\n")}\n`;
    },

    /** The entries of a text; throws an error whose message is the number of the line that it does not understand. */
    read(text) {
      const entries = Yaml.read(text);
      if (!isObject(entries) || !Array.isArray(entries.basket)) {
        throw new Yaml.YamlError(1);
      }
      return entries;
    }
  };
});
