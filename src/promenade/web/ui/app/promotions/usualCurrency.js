sap.ui.define(["promenade/net/Http"], function (Http) {
  "use strict";

  /** The currency that most POS groups sell in, for promotions that say none; "" where none has one. */
  return async function usualCurrency() {
    const query = encodeURIComponent("filter(currency ne null)/groupby((currency),aggregate($count as n))");
    const order = encodeURIComponent("n desc,currency");
    const {value} = await Http.get(`/admin/PosGroups?$apply=${query}&$orderby=${order}&$top=1`);
    return value.length ? value[0].currency : "";
  };
});
