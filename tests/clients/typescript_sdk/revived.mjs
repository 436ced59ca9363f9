// The tills of a folder come back: each tells what its queue had kept and what became of it.
// `node revived.mjs folder n`

import {Queue, Till} from "promenade-client";
import {FileStore} from "promenade-client/file-store";
import {credentials, url} from "./line.mjs";

const [folder, last] = process.argv.slice(2);
const till = new Till(url, credentials);
const found = [];
for (let number = 1; number <= Number(last); number += 1) {
  const queue = new Queue(new FileStore(`${folder}/${number}`), till);
  const kept = (await queue.waiting()).length;
  const before = (await till.transaction(`KILLED-${number}`)).confirmed;
  const {delivered, refused, waiting} = await queue.flush();
  const {confirmed} = await till.transaction(`KILLED-${number}`);
  found.push({kept, before, delivered, refused: refused.length, waiting, confirmed});
}
console.log(JSON.stringify(found));
