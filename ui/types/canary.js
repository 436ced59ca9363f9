sap.ui.define(["promenade/net/Http", "promenade/reports/Period"], function (Http, Period) {
  "use strict";

  /*
   * Faults that ui/check_types.mjs must find in every run: where it does not, the compiler says so. None of it runs.
   */

  // @ts-expect-error the module has no such function
  Period.moment({from: "", to: ""});

  // @ts-expect-error a method takes a text
  Http.get(5);

  // @ts-expect-error a class that a module returns in an object has two parameters
  return new Http.HttpError();
});
