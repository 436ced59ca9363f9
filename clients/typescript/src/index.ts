/** Promenade for tills and webshops: `Till` calls the service, `Queue` keeps what could not be sent. */

export type * from "./answers.js";
export {ApiKey, ClientCredentials, type Fetch, type Patience} from "./calling.js";
export {NotAllowed, PromenadeError, Refused, TooMany, Unavailable, type Fault} from "./errors.js";
export {pauseAfter, Queue, type Delivering, type Flushed, type QueueOptions} from "./queue.js";
export type * from "./requests.js";
export {confirmation, fromUnits, isRedeemed, isReleased, toUnits, type ConfirmationOptions} from "./sale.js";
export type * from "./store.js";
export {Till, type TillOptions} from "./till.js";
