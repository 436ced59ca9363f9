sap.ui.define(["promenade/framework/js-yaml"], function (yaml) {
  "use strict";

  /**
   * Scenario files: YAML whose values are JSON, one line for each row of a list and each entry of what is expected, so
   * that people read them and every YAML reader understands them. Any scenario of the project can be read.
   *
   * As in the project's own reader, only true, false and null are more than text. Anchors and tags are refused.
   */
  const NULL = yaml.defineScalarTag("tag:yaml.org,2002:null", {
    implicit: true,
    resolve: (source) => (source === "" || source === "null" ? null : yaml.NOT_RESOLVED),
    identify: () => false
  });
  const SCHEMA = yaml.FAILSAFE_SCHEMA.withTags(yaml.boolJsonTag, NULL);

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

  /** The one document of a text; throws a YAMLException, which usually knows where it stopped understanding. */
  function documentOf(text) {
    const events = yaml.parseEvents(text, {});
    for (const {anchorStart = -1, tagStart = -1} of events) {
      const place = Math.max(anchorStart, tagStart);
      if (place >= 0) {
        yaml.YAMLException.throwAt(text, place, "neither anchors nor tags");
      }
    }
    const documents = yaml.constructFromEvents(events, {source: text, schema: SCHEMA});
    if (documents.length !== 1) {
      throw new yaml.YAMLException("one document");
    }
    return documents[0];
  }

  function parsed(text) {
    try {
      return documentOf(text);
    } catch (error) {
      throw new SyntaxError(String((error.mark?.line ?? 0) + 1), {cause: error});
    }
  }

  return {
    /** The text of a file. */
    write(entries) {
      return `${Object.entries(entries).flatMap(writeEntry).join("\n")}\n`;
    },

    /** The entries of a text; throws an error whose message is the number of the line that it does not understand. */
    read(text) {
      const entries = parsed(text);
      if (!isObject(entries) || !Array.isArray(entries.basket)) {
        throw new SyntaxError("1");
      }
      return entries;
    }
  };
});
