sap.ui.define(["promenade/net/Http", "promenade/reports/Period"], function (Http, Period) {
  "use strict";

  /** Hands a text to the browser as a file. */
  function save(data, name, type) {
    const address = URL.createObjectURL(new Blob([data], {type: `${type};charset=utf-8`}));
    const link = Object.assign(document.createElement("a"), {href: address, download: name});
    link.click();
    URL.revokeObjectURL(address);
  }

  return {
    /** Downloads a report of a period, of one promotion if one is chosen. Resolves with the file's name. */
    async download(reportType, {from, to, promotion}) {
      const {begin, end} = Period.moments({from, to});
      const {filename, contentType, data} = await Http.post("/reporting/exportCsv", {
        reportType,
        dateFrom: begin,
        dateTo: end,
        ...(promotion && {promotionId: promotion})
      });
      save(data, filename, contentType);
      return filename;
    }
  };
});
