/** Every operation that the interface offers to a till, as the request to send. */

import type {Answers} from "./answers.js";
import type {Operation} from "./calling.js";
import type {
  ActivateCouponRequest,
  Article,
  CancelCouponRequest,
  CancelRequest,
  ConfirmRequest,
  EvaluateRequest,
  IssueCouponsRequest,
  PricesRequest,
  RedeemCouponRequest,
  ReserveCouponRequest,
  ValidateCouponRequest
} from "./requests.js";
import {encode, type Message} from "./wire.js";

/** Price a basket and store the result. */
export const evaluate = (request: EvaluateRequest) =>
  post("/pos/v2/evaluate", wrapped("EvaluateRequest", request), "EvaluateResponse");

/** Price a basket. */
export const simulate = (request: EvaluateRequest) =>
  post("/pos/v2/simulate", wrapped("EvaluateRequest", request), "EvaluateResponse");

/** Ask what single articles cost. */
export const prices = (request: PricesRequest) =>
  post("/pos/v2/prices", wrapped("PricesRequest", request), "PricesResponse");

/** Confirm an iteration. */
export const confirm = (request: ConfirmRequest) =>
  post("/pos/v2/confirm", wrapped("ConfirmRequest", request), "ConfirmResponse");

/** Undo a confirmed sale. */
export const cancel = (request: CancelRequest) =>
  post("/pos/v2/cancel", encode("CancelRequest", request), "CancelResponse");

/** Read a transaction. */
export const transaction = (transactionId: string) =>
  get(`/pos/v2/transactions/${part(transactionId)}`, "TransactionResult");

/** Read an iteration. */
export const iteration = (transactionId: string, counter: number) =>
  get(`/pos/v2/transactions/${part(transactionId)}/${part(String(counter))}`, "EvaluateResponse");

/** Read the status of side effects. */
export const sideEffects = (transactionId: string, counter: number) =>
  get(`/pos/v2/transactions/${part(transactionId)}/${part(String(counter))}/side-effects`, "SideEffectsResult");

/** Read a customer's points. */
export const loyalty = (customerId: string) => get(`/pos/v2/customers/${part(customerId)}/loyalty`, "LoyaltyResult");

/** Ask whether a code is valid. */
export const validateCoupon = (request: ValidateCouponRequest) =>
  post("/pos/coupons/validate", encode("ValidateCouponRequest", request), "ValidateCouponResponse");

/** Reserve a code. */
export const reserveCoupon = (request: ReserveCouponRequest) =>
  post("/pos/coupons/reserve", encode("ReserveCouponRequest", request), "ReserveCouponResponse");

/** Redeem a reserved code. */
export const redeemCoupon = (request: RedeemCouponRequest) =>
  post("/pos/coupons/redeem", encode("RedeemCouponRequest", request), "RedeemCouponResponse");

/** Release a reserved code. */
export const releaseCoupon = (request: CancelCouponRequest) =>
  post("/pos/coupons/cancel", encode("CancelCouponRequest", request), "CancelCouponResponse");

/** Activate a code. */
export const activateCoupon = (request: ActivateCouponRequest) =>
  post("/pos/coupons/activate", encode("ActivateCouponRequest", request), "ActivateCouponResponse");

/** Issue coupons, once for each `key`. */
export const issueCoupons = (request: IssueCouponsRequest, key: string) => ({
  ...post("/pos/coupons/issue", encode("IssueCouponsRequest", request), "IssueCouponsResponse"),
  headers: {"idempotency-key": key}
});

/** Add and change articles. */
export const importArticles = (articles: readonly Article[]) =>
  post("/pos/articles/import", encode("ImportArticlesRequest", {articles}), "ImportArticlesResponse");

/** Read the state of the service. */
export const heartbeat = () => get("/pos/heartbeat", "Heartbeat");

function wrapped(message: Message, request: object): string {
  return `{"request":${encode(message, request)}}`;
}

function post<Name extends keyof Answers>(path: string, body: string, answer: Name): Operation<Name> {
  return {method: "POST", path, body, answer};
}

function get<Name extends keyof Answers>(path: string, answer: Name): Operation<Name> {
  return {method: "GET", path, answer};
}

/** A part of a path. `.` and `..` would be taken for folders. */
function part(text: string): string {
  if (typeof text !== "string" || ["", ".", ".."].includes(text)) {
    throw new TypeError(`${JSON.stringify(text)} is no ID`);
  }
  return encodeURIComponent(text);
}
