/** The client of the service. */

import type {
  ActivateCouponResponse,
  Answers,
  CancelCouponResponse,
  CancelResponse,
  ConfirmResponse,
  EvaluateResponse,
  Heartbeat,
  ImportArticlesResponse,
  IssueCouponsResponse,
  LoyaltyResult,
  PricesResponse,
  RedeemCouponResponse,
  ReserveCouponResponse,
  SideEffectsResult,
  TransactionResult,
  ValidateCouponResponse
} from "./answers.js";
import {Caller, type ApiKey, type ClientCredentials, type Fetch, type Operation, type Patience} from "./calling.js";
import * as operations from "./operations.js";
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

/** What may be set of a till. */
export interface TillOptions {
  /** How long a call takes at most and how it is repeated. */
  readonly patience?: Patience;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: Fetch;
  /** Replaces the waiting, which is in seconds. */
  readonly sleep?: (seconds: number) => Promise<void>;
  /** Replaces the source of idempotency keys. */
  readonly newKey?: () => string;
}

const asleep = (seconds: number): Promise<void> => new Promise((wake) => setTimeout(wake, seconds * 1000));

/**
 * A client of the service at `url`. Any number of calls may be under way at once.
 *
 * Every operation rejects with a PromenadeError if it does not succeed, and with a TypeError, before anything is sent,
 * for an amount that is not text.
 */
export class Till {
  readonly #caller: Caller;
  readonly #newKey: () => string;

  constructor(url: string, credentials: ClientCredentials | ApiKey, options: TillOptions = {}) {
    const {patience = {}, fetch = (...request) => globalThis.fetch(...request), sleep = asleep} = options;
    this.#caller = new Caller(url, credentials, patience, fetch, sleep);
    this.#newKey = options.newKey ?? (() => crypto.randomUUID());
  }

  /** Price a basket and store it as the next iteration of its transaction. */
  async evaluate(request: EvaluateRequest): Promise<EvaluateResponse> {
    return this.run(operations.evaluate(request));
  }

  /** Price a basket and store nothing. */
  async simulate(request: EvaluateRequest): Promise<EvaluateResponse> {
    return this.run(operations.simulate(request));
  }

  /** What single articles cost, each alone. */
  async prices(request: PricesRequest): Promise<PricesResponse> {
    return this.run(operations.prices(request));
  }

  /** Confirm an iteration as a sale. It counts once, however often it is sent. */
  async confirm(request: ConfirmRequest): Promise<ConfirmResponse> {
    return this.run(operations.confirm(request));
  }

  /** Undo a confirmed sale as a whole. It counts once, however often it is sent. */
  async cancel(request: CancelRequest): Promise<CancelResponse> {
    return this.run(operations.cancel(request));
  }

  /** What is known of a transaction: whether it was confirmed, and its iterations. */
  async transaction(transactionId: string): Promise<TransactionResult> {
    return this.run(operations.transaction(transactionId));
  }

  /** What evaluate has answered for an iteration. */
  async iteration(transactionId: string, counter: number): Promise<EvaluateResponse> {
    return this.run(operations.iteration(transactionId, counter));
  }

  /** How far the side effects of a confirmed sale are. */
  async sideEffects(transactionId: string, counter: number): Promise<SideEffectsResult> {
    return this.run(operations.sideEffects(transactionId, counter));
  }

  /** A customer's points and the latest bookings. */
  async loyalty(customerId: string): Promise<LoyaltyResult> {
    return this.run(operations.loyalty(customerId));
  }

  /** Whether a code could be redeemed now; nothing changes. */
  async validateCoupon(request: ValidateCouponRequest): Promise<ValidateCouponResponse> {
    return this.run(operations.validateCoupon(request));
  }

  /** Reserve a code for a transaction. A repeat gets the same reservation. */
  async reserveCoupon(request: ReserveCouponRequest): Promise<ReserveCouponResponse> {
    return this.run(operations.reserveCoupon(request));
  }

  /** Redeem a reserved code. `isRedeemed` of the answer is true for a repeat, too. */
  async redeemCoupon(request: RedeemCouponRequest): Promise<RedeemCouponResponse> {
    return this.run(operations.redeemCoupon(request));
  }

  /** Release a reserved code. `isReleased` of the answer is true for a repeat, too. */
  async releaseCoupon(request: CancelCouponRequest): Promise<CancelCouponResponse> {
    return this.run(operations.releaseCoupon(request));
  }

  /** Activate a code that its customer has to activate before it can be redeemed. */
  async activateCoupon(request: ActivateCouponRequest): Promise<ActivateCouponResponse> {
    return this.run(operations.activateCoupon(request));
  }

  /** Issue coupons. Orders with the same `key` count once within 24 hours; default: a new key for each call. */
  async issueCoupons(
    request: IssueCouponsRequest,
    options: {readonly key?: string} = {}
  ): Promise<IssueCouponsResponse> {
    return this.run(operations.issueCoupons(request, options.key ?? this.#newKey()));
  }

  /** Add and change articles, each on its own. A repeat changes nothing. */
  async importArticles(articles: readonly Article[]): Promise<ImportArticlesResponse> {
    return this.run(operations.importArticles(articles));
  }

  /** The state of the service. */
  async heartbeat(): Promise<Heartbeat> {
    return this.run(operations.heartbeat());
  }

  /** @internal Wait for so many seconds. */
  async sleep(seconds: number): Promise<void> {
    return this.#caller.sleep(seconds);
  }

  /** @internal Carry out an operation; without `repeats` send it once. */
  async run<Name extends keyof Answers>(operation: Operation<Name>, repeats = true): Promise<Answers[Name]> {
    return this.#caller.call(operation, repeats);
  }
}
