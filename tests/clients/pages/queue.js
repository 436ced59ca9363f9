// A till in a browser, with its queue in IndexedDB. It does what its address says and posts what came of it.

import {ClientCredentials, Queue, Till, confirmation} from "/resources/index.js";
import {IndexedDbStore} from "/resources/indexeddb-store.js";

const given = Object.fromEntries(new URLSearchParams(location.search));
const credentials = new ClientCredentials(given.client, given.secret);
const till = new Till(location.origin, credentials);
const store = new IndexedDbStore("sales");
const quiet = {warn() {}, error() {}};
const transactions = (commands) => commands.map((one) => one.transactionId);

const acts = {
  /** Confirm two sales and void one while the line is down. */
  async sell() {
    const fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    const cutOff = new Till(location.origin, credentials, {fetch, patience: {deadline: 0.1}});
    const queue = new Queue(store, cutOff, {log: quiet});
    const items = [{articleNumber: "A-1", quantity: "2", unitPrice: "5.00"}];
    const basket = (transactionId) => ({header: {transactionId}, posGroupCode: "BERLIN", items});
    const [first, second] = [await till.evaluate(basket("BROWSER-1")), await till.evaluate(basket("BROWSER-2"))];
    const answers = await Promise.all([
      queue.confirm(confirmation(first)),
      queue.confirm(confirmation(second)),
      queue.cancel({transactionId: "BROWSER-1", transactionCounter: 1}),
      queue.cancel({transactionId: "nobody's", transactionCounter: 1})
    ]);
    return {answers, waiting: transactions(await queue.waiting()), price: first.totals.grandTotal.value};
  },

  /** Deliver what another page has left, while a second sender has to wait for its turn. */
  async deliver() {
    const queue = new Queue(store, till, {log: quiet});
    const kept = await queue.waiting();
    const release = await store.turn();
    const second = await new IndexedDbStore("sales").turn();
    await release();
    const flushed = await queue.flush();
    const [aside] = await queue.refused();
    await queue.again(aside.id);
    const again = transactions(await queue.waiting());
    await queue.flush();
    await queue.forget(aside.id);
    await store.replace(aside); // what is gone stays gone
    const left = await store.list();
    const sold = await Promise.all(["BROWSER-1", "BROWSER-2"].map((one) => till.transaction(one)));
    return {
      kept: transactions(kept),
      attempts: kept.map((one) => one.attempts),
      second: second ?? null,
      delivered: flushed.delivered,
      refused: [aside.transactionId, aside.refusal.code],
      again,
      left,
      sold: sold.map(({confirmed, cancelled}) => [confirmed, cancelled])
    };
  }
};

let done;
try {
  done = {value: await acts[given.act]()};
} catch (error) {
  done = {error: String(error.stack ?? error)};
}
await fetch("/done", {method: "POST", body: JSON.stringify(done)});
