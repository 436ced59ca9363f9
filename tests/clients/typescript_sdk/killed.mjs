// A sale by a till that kills itself at the n-th step of its queue with the disk or the line.
// `node killed.mjs folder n`

import {promises as fs} from "node:fs";
import {syncBuiltinESMExports} from "node:module";

const [folder, number] = process.argv.slice(2);
const TRANSACTION = `KILLED-${number}`;
const STEPS = ["link", "mkdir", "open", "readdir", "readFile", "rename", "rm", "stat", "unlink", "utimes", "writeFile"];
const OF_FILES = ["close", "sync", "writeFile"];
const steps = [];
let isArmed = false;

function step(name) {
  if (isArmed) {
    steps.push(name);
    if (steps.length === Number(number)) {
      process.kill(process.pid, "SIGKILL");
    }
  }
}

/** Before each step and after it the process may die. */
const watched = (name, work) =>
  async function watching(...how) {
    step(name);
    const done = await work.apply(this, how);
    step(`${name} done`);
    return done;
  };

const {open} = fs;
for (const name of STEPS) {
  fs[name] = watched(name, fs[name]);
}
fs.open = watched("open", async (...how) => {
  const file = await open.apply(fs, how);
  for (const name of OF_FILES) {
    file[name] = watched(`file ${name}`, file[name]);
  }
  return file;
});
syncBuiltinESMExports();

const {Queue, Till, confirmation} = await import("promenade-client");
const {FileStore} = await import("promenade-client/file-store");
const {basket, credentials, url} = await import("./line.mjs");

const till = new Till(url, credentials, {fetch: watched("send", fetch)});
const request = confirmation(await till.evaluate(basket(TRANSACTION)));
const queue = new Queue(new FileStore(`${folder}/${number}`), till);
isArmed = true;
const answer = await queue.confirm(request);
isArmed = false;
console.log(JSON.stringify({confirmed: answer?.confirmed, steps}));
