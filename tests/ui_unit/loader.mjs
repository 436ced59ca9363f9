// Loads modules of the back office into Node.js, without a browser and without OpenUI5.
//
// A module is a script that calls `sap.ui.define` with the names of what it needs. Modules of the back office and the
// libraries that are shipped with it are read from where they are served; a test hands in whatever else they need.

import {readFileSync} from "node:fs";
import vm from "node:vm";
import {gunzipSync} from "node:zlib";

const UI = new URL("../../src/promenade/web/ui/", import.meta.url);
const APP = "promenade/";
const FRAMEWORK = "promenade/framework/";

/** A shipped library, which looks for AMD, CommonJS or a global: it finds CommonJS. */
function library(name) {
  const source = gunzipSync(readFileSync(new URL(`framework/${name.slice(FRAMEWORK.length)}.js.gz`, UI))).toString();
  const module = {exports: {}};
  vm.runInThisContext(`(function (module, exports) {${source}\n})`, {filename: name}).call(
    globalThis,
    module,
    module.exports
  );
  return module.exports;
}

/** Modules that share what they have loaded; `fakes` stand for modules by their full names. */
export class Modules {
  constructor(fakes = {}) {
    this._loaded = new Map(Object.entries(fakes));
  }

  /** What a module has returned, such as `promenade/reports/Period`. */
  load(name) {
    if (!this._loaded.has(name)) {
      this._loaded.set(name, name.startsWith(FRAMEWORK) ? library(name) : this._run(name));
    }
    return this._loaded.get(name);
  }

  _run(name) {
    if (!name.startsWith(APP)) {
      throw new Error(`the test hands in no ${name}`);
    }
    const file = new URL(`app/${name.slice(APP.length)}.js`, UI);
    let made;
    const sap = {
      ui: {
        define: (needed, factory) => {
          made = factory(...needed.map((one) => this.load(one)));
        }
      }
    };
    const run = vm.runInThisContext(`(function (sap) {${readFileSync(file, "utf-8")}\n})`, {filename: file.pathname});
    run(sap);
    return made;
  }
}

/** One module with all that it needs. */
export function load(name, fakes) {
  return new Modules(fakes).load(name);
}

/** A bundle of texts that answers with the key and its values, so that a test sees which text was chosen. */
export const TEXTS = {
  of: (key, ...values) => [key, ...values].join(" "),
  ready: () => Promise.resolve()
};

/** The time zone of the pages: that of stores in one place. */
export function zoneOf(zone) {
  const Clock = load("promenade/generic/Clock");
  return {
    current: () => zone,
    day: (moment) => Clock.day(moment, zone),
    begin: (day) => Clock.begin(day, zone),
    end: (day) => Clock.end(day, zone)
  };
}
