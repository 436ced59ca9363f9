/** Promenade for tills and webshops: `Till` calls the service. */

export type * from "./answers.js";
export {ApiKey, ClientCredentials, type Fetch, type Patience} from "./calling.js";
export {NotAllowed, PromenadeError, Refused, TooMany, Unavailable, type Fault} from "./errors.js";
export type * from "./requests.js";
export {confirmation, fromUnits, isRedeemed, isReleased, toUnits, type ConfirmationOptions} from "./sale.js";
export {Till, type TillOptions} from "./till.js";
