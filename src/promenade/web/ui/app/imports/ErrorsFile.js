sap.ui.define(["promenade/net/Http", "promenade/resources/Download"], function (Http, Download) {
  "use strict";

  const AT_A_TIME = 1000;

  /** All errors of a job, a page at a time. */
  async function all(job) {
    const found = [];
    for (let skip = 0; ; skip += AT_A_TIME) {
      const {value} = await Http.get(
        `/admin/ImportJobErrors?$filter=job_ID eq ${job}&$orderby=rowNumber,ID&$skip=${skip}&$top=${AT_A_TIME}` +
          "&$select=rowNumber,property,code,message,payload"
      );
      found.push(...value);
      if (value.length < AT_A_TIME) {
        return found;
      }
    }
  }

  /** One entry a row, however much is wrong with it. */
  function byRow(errors) {
    const rows = new Map();
    errors.forEach((one) => {
      const row = rows.get(one.rowNumber) || {number: one.rowNumber, payload: one.payload, codes: [], messages: []};
      row.codes.push(one.code);
      row.messages.push(one.message);
      rows.set(one.rowNumber, row);
    });
    return [...rows.values()];
  }

  function written(value) {
    if (value === null || value === undefined) {
      return "";
    }
    return typeof value === "number" && Download.isDecimalComma()
      ? String(value).replace(".", ",")
      : typeof value === "object"
        ? JSON.stringify(value)
        : String(value);
  }

  return {
    /** Saves the rows that failed as they were sent, with what is wrong in columns that an import passes over. */
    async save(job, set) {
      const rows = byRow(await all(job)).map((one) => ({...one, values: JSON.parse(one.payload || "{}") || {}}));
      const names = [...new Set(rows.flatMap((one) => Object.keys(one.values)))];
      Download.csv(
        `${set}-errors.csv`,
        ["_row", "_code", "_message", ...names],
        rows.map((one) => [
          one.number,
          one.codes.join(" / "),
          one.messages.join(" / "),
          ...names.map((name) => written(one.values[name]))
        ])
      );
    }
  };
});
