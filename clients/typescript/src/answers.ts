/* eslint-disable max-lines */
// Generated from the code by `make docs`. Change the code, not this file.

import type {Decimal, KeyValuePair} from "./requests.js";

/** An amount in a currency, with all decimals of the currency. */
export interface Money {
  value: Decimal;
  currency: string;
}

/**  */
export interface ConfirmResponse {
  transactionId: string;
  confirmed: boolean;
  message: string;
}

/** A priced basket. */
export interface EvaluateResponse {
  /** Minor version of this contract: 8. */
  minorVersion: number;
  /** Metadata of the response. */
  meta: Meta;
  /** One per line of the request, in the same order. */
  lineItems: LineItem[];
  /** Articles to hand out in addition. */
  grantedItems: GrantedItem[];
  /** Totals of the basket. */
  totals: Totals;
  /** Promotions the basket nearly qualified for. */
  recommendations: Recommendation[];
  /** Coupons that had an effect. */
  appliedCoupons: AppliedCoupon[];
  /** Coupons without effect. */
  invalidCoupons: InvalidCoupon[];
  /** Promotions dropped because of a budget. */
  budgetLimitedPromotions: BudgetLimited[];
  /** Only if requested. */
  missedPromotions?: MissedPromotion[];
  /** Empty unless the tenant's enableProductionNudges is on. */
  nudges: Nudge[];
  /** Empty unless the tenant's enableProductionNudges is on. */
  thresholdGaps: ThresholdGap[];
}

/** The prices of single articles. */
export interface PricesResponse {
  /** Minor version of this contract: 8. */
  minorVersion: number;
  /** For when, from where. */
  meta: PricesMeta;
  /** The POS group of the prices. */
  posGroupCode: string;
  /** Its currency, which is that of all prices. */
  currency: string;
  /** One for each article, in the order of the request. */
  prices: ArticlePrice[];
}

/** What is known of a transaction, for a till that lost it. */
export interface TransactionResult {
  /** Minor version of this contract: 8. */
  minorVersion: number;
  /** The transaction. */
  transactionId: string;
  /** Whether an iteration was confirmed. */
  confirmed: boolean;
  /** The confirm, if there was one. */
  confirmation?: ReadConfirmation;
  /** Whether the sale was cancelled. */
  cancelled: boolean;
  /** What the cancel was answered. */
  cancellation?: CancelResponse;
  /** The iterations that are still stored, the newest first; at most 100. */
  iterations: ReadIteration[];
}

/** A customer's points. */
export interface LoyaltyResult {
  /** Minor version of this contract: 8. */
  minorVersion: number;
  /** The customer. */
  customerId: string;
  /** The points now; 0 for an unknown customer. */
  balance: number;
  /** The latest bookings, the newest first; at most 20. */
  entries: LoyaltyEntry[];
}

/** The status of the side effects of a confirmed iteration. */
export interface SideEffectsResult {
  /** Minor version of this contract: 8. */
  minorVersion: number;
  /** The transaction. */
  transactionId: string;
  /** The iteration of the transaction. */
  transactionCounter: number;
  /** `PENDING`, `RUNNING`, or a final one: `COMPLETED`, `FAILED`, `CANCELLED` with its sale. */
  status: string;
  /** Time of the confirm. UTC. */
  enqueuedAt: string;
  /** Start of the last attempt. */
  startedAt?: string;
  /** Time it completed or failed. */
  completedAt?: string;
  /** Number of attempts; at most 8. */
  attempts: number;
  /** Number of coupons redeemed. */
  couponsRedeemed: number;
  /** Number of budgets the confirm charged. */
  budgetsConsumed: number;
  /** Points booked. */
  loyaltyPointsEarned: number;
  /** Coupons issued for the next visit. */
  postPurchaseCoupons: PostPurchaseCoupon[];
  /** Error of the last failed attempt. */
  reason?: string;
}

/** The state of the service, as tills query it before they rely on it. */
export interface Heartbeat {
  /** `UP`, or `DEGRADED` when the database, or the cloud of a linked store, is unreachable. */
  status: string;
  /** The service's version. */
  version: string;
  /** `cloud` or `local-store`. */
  mode: string;
  /** `CONNECTED`, `DISCONNECTED`, or `NOT_CONFIGURED`: no link, as in the cloud. */
  btpConnectivity: string;
  /** Last time a store was up to date with its cloud; null if never, and in the cloud. UTC. */
  lastSync: string | null;
  /** Sales that a store has not uploaded to its cloud yet; 0 in the cloud. */
  pendingTransactions: number;
  /** Promotions of the tenant that can be priced. */
  promotionsLoaded: number;
  /** Seconds since the process started. */
  uptime: number;
}

/** What came of cancelling a sale; every repeat gets the same bytes. */
export interface CancelResponse {
  /** The transaction. */
  transactionId: string;
  /** The iteration that had been confirmed. */
  transactionCounter: number;
  /** True. */
  cancelled: boolean;
  /** An English sentence. */
  message: string;
  /** Points of the sale that no earlier return had taken back. */
  pointsTakenBack: number;
  /** One for each budget that has got something back. */
  budgetsGivenBack: BudgetGivenBack[];
  /** The coupons spent in the sale. */
  couponsSpent: CouponSpent[];
  /** The coupons issued for the sale that have codes of their own. */
  couponsEarned: CouponEarned[];
}

/** Whether the coupon could be redeemed now. */
export interface ValidateCouponResponse {
  /** Whether it could be redeemed. */
  valid: boolean;
  /** As sent. */
  code: string;
  /** An English sentence. */
  message: string;
  /** The promotion that it triggers; null if none is running. */
  promotionId: string | null;
  /** End of its validity, exclusive; null: it has no end. UTC. */
  validUntil: string | null;
  /** Stable reason code; null if valid. */
  reason: string | null;
  /** The reservation by which the given transaction holds the code; null if it does not. */
  reservationId: string | null;
}

/** The reservation. */
export interface ReserveCouponResponse {
  /** The ID for redeem and cancel. */
  reservationId: string | null;
  /** Whether the transaction has reserved the code. */
  reserved: boolean;
  /** When the reservation expires, exclusive. UTC. */
  expiresAt: string | null;
  /** An English sentence. */
  message: string;
  /** The same as `reason`. */
  code: string | null;
  /** Stable reason code; null if reserved. */
  reason: string | null;
}

/** Whether the coupon was redeemed. */
export interface RedeemCouponResponse {
  /** Whether it was redeemed by this request. */
  redeemed: boolean;
  /** An English sentence. */
  message: string;
  /** The same as `reason`. */
  code: string | null;
  /** Stable reason code; null if redeemed. */
  reason: string | null;
}

/** Whether the coupon was released. */
export interface CancelCouponResponse {
  /** Whether it was released by this request. */
  cancelled: boolean;
  /** An English sentence. */
  message: string;
  /** The same as `reason`. */
  code: string | null;
  /** Stable reason code; null if cancelled. */
  reason: string | null;
}

/** Whether the coupon was activated. */
export interface ActivateCouponResponse {
  /** Whether it was activated by this request. */
  activated: boolean;
  /** As sent. */
  code: string;
  /** An English sentence. */
  message: string;
  /** End of its validity, exclusive; null: it has no end. UTC. */
  validUntil: string | null;
  /** Stable reason code; null if activated. */
  reason: string | null;
}

/** The coupons issued, and the failures. */
export interface IssueCouponsResponse {
  /** Number of coupons issued. */
  issuedCount: number;
  /** Number of failures. */
  failedCount: number;
  /** In the order of the customers. */
  issuedCoupons: IssuedCouponCode[];
  /** In the order of the customers. */
  failures: IssueFailed[];
  /** An English sentence. */
  message: string;
}

/** The results for the articles. */
export interface ImportArticlesResponse {
  /** Number of new articles. */
  imported: number;
  /** Number of existing articles that are now as sent. */
  updated: number;
  /** Number of refused articles. */
  failed: number;
  /** One for each article, in the order of the request. */
  results: ArticleResult[];
  /** All errors of the failed articles, in the same order. */
  errors: ArticleFault[];
}

/** Metadata of the response. */
export interface Meta {
  /** Identifies the iteration. */
  header: Header;
  /** The time for which the basket was priced: the request's, else the service's. UTC. */
  evaluatedAt: string;
  /** Kind of instance that answered: `btp`, the cloud. */
  source: string;
  /** ID of the instance that answered. */
  instanceId: string;
  /** True on simulate. */
  isSimulation: boolean;
  /** The tenant whose promotions were applied. */
  tenantId: string;
  /** Time of the last change of the promotions. */
  dataAge?: string;
  /** Only with BEST_DEAL. */
  bestDeal?: BestDeal;
}

/** One priced line of the basket, in the order of the request. */
export interface LineItem {
  /** As in the request, else the line's position from 1. */
  lineReference: string;
  /** As in the request. */
  articleNumber: string;
  /** As in the request. */
  ean?: string;
  /** As in the request. */
  articleGroupId?: string;
  /** As in the request. */
  manufacturerId?: string;
  /** Quantity of the line. */
  quantity: Quantity;
  /** As in the request. */
  unitPrice: Money;
  /** Unit price times quantity, rounded; negative on a return line. */
  lineTotal: Money;
  /** The sum of `discounts`. */
  lineDiscount: Money;
  /** Price of the line after discounts; 0 on a return line. */
  lineNet: Money;
  /** In the order in which they were applied. */
  discounts: LineDiscount[];
  /** Whether a FREE_ITEM action made the whole line free. */
  isFreeItem: boolean;
  /** ID of the promotion that made it free. */
  freeItemPromotionId?: string;
  /** Only on a return line whose `additionalFields` name its sale. */
  refund?: Refund;
  /** Why no promotion may take anything off it: a value of NeverDiscountedReasons. */
  neverDiscounted?: string;
}

/** An article to hand out that is not in the basket. It is not part of the totals. */
export interface GrantedItem {
  /** Identifies the grant; a replay repeats it. */
  grantReference: string;
  /** The article to hand out. */
  articleNumber: string;
  /** Its EAN, if known. */
  ean?: string;
  /** Number of pieces. */
  quantity: number;
  /** Value of one piece. */
  referencePrice: Money;
  /** Source of the price: `BASKET_PRICE`, `REFERENCE_PRICE`, `MASTER_DATA`, `UNKNOWN_ZERO`. */
  priceSource: string;
  /** Price times quantity. */
  giveAwayValue: Money;
  /** ID of the promotion that grants it. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
  /** Whether a coupon triggered it. */
  triggeredByCoupon: boolean;
}

/** Totals of the basket. */
export interface Totals {
  /** Sum of `lineTotal`; return lines count negative. */
  subtotal: Money;
  /** Sum of `lineDiscount`. */
  discount: Money;
  /** Subtotal minus discount: the amount to pay. */
  grandTotal: Money;
  /** Subtotal of the sale lines; only with return lines. */
  saleSubtotal?: Money;
  /** Subtotal of the return lines, negative; only with return lines. */
  returnSubtotal?: Money;
  /** What the return lines give back, not negative; only with return lines. */
  refundTotal?: Money;
  /** What changes hands: sales minus refunds, may be negative; only with return lines. */
  payable?: Money;
  /** Summary for the receipt. */
  savingsSummary: SavingsSummary;
}

/** A promotion that this basket nearly qualified for, or could qualify for; at most 10. */
export interface Recommendation {
  /** `NEAR_MISS`: at least half reached. `HINT`: the basket points to it, something is missing. */
  kind: string;
  /** Reason code: why it did not apply. */
  code: string;
  /** Required and actual values, for the till's own text. */
  params: KeyValuePair[];
  /** The reason as an English sentence. */
  defaultMessage: string;
  /** ID of the promotion. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
  /** Percentage reached, 50 to 99. NEAR_MISS only. */
  matchPercent?: number;
  /** As in `thresholdGaps` or `missedPromotions`, if one of them has it. */
  potentialSaving?: Money;
  /** What brings the saving. */
  missing?: Addition[];
}

/** A coupon that triggered a promotion. Confirm redeems it. */
export interface AppliedCoupon {
  /** As in the request. */
  code: string;
  /** Name of the coupon type. */
  couponTypeName: string;
  /** IDs of the promotions it triggered. */
  promotionIds: string[];
}

/** A coupon without effect. It is not redeemed. */
export interface InvalidCoupon {
  /** As in the request. */
  code: string;
  /** Reason code for coupons. */
  reason: string;
}

/** A promotion that was dropped because of a budget. */
export interface BudgetLimited {
  /** ID of the promotion. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
  /** `BUDGET_NOT_ACTIVE`, `BUDGET_EXHAUSTED` or `BUDGET_INSUFFICIENT`; in a store `SHARE_NOT_AVAILABLE`. */
  reason: string;
}

/** A promotion that did not apply, and why. */
export interface MissedPromotion {
  /** ID of the promotion. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
  /** Type of the promotion. */
  promotionType: string;
  /** Reason code. */
  code: string;
  /** An English sentence. */
  message: string;
  /** Required and actual values. */
  params: KeyValuePair[];
  /** Percentage reached, 0 to 99, where conditions or tiers were missed. */
  matchPercent?: number;
  /** Saving beyond the present one, with what is missing. Never 0. */
  potentialSaving?: Money;
  /** The promotion that applied instead, or left nothing to discount. */
  blockedBy?: BlockedBy;
  /** What brings the saving. Left out for coupons and payments: see `params`. */
  missing?: Addition[];
}

/** A gap worth closing, as a sentence for the customer; at most 3, the largest saving first. */
export interface Nudge {
  /** An English sentence. */
  message: string;
  /** `ADD_ITEMS` or `INCREASE_AMOUNT`. */
  suggestedAction: string;
  /** Same as the gap's. */
  potentialSaving: Money;
  /** ID of the promotion. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
  /** Same as the gap's `type`. */
  gapType: string;
  /** Same as the gap's. */
  missing?: Addition[];
}

/** A threshold that was not reached and is worth reaching; one of each promotion, at most 20, the nearest first. */
export interface ThresholdGap {
  /** ID of the promotion with the threshold. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
  /** `RECEIPT_AMOUNT`, `ITEM_QUANTITY` or `SCALED_RECEIPT`. */
  type: string;
  /** Value reached: an amount or pieces, two decimals. */
  currentValue: Decimal;
  /** Required value. */
  threshold: Decimal;
  /** What must be added: threshold minus current value, or more if other promotions take part of it. */
  gap: Decimal;
  /** Saving of the whole basket beyond the present one if `missing` is bought. Never 0. */
  potentialSaving: Money;
  /** What closes this gap, and all others of the promotion. */
  missing?: Addition[];
}

/** Metadata of prices. */
export interface PricesMeta {
  /** The time for which they hold: the request's, else the service's. UTC. */
  evaluatedAt: string;
  /** Kind of instance that answered: `btp`, the cloud. */
  source: string;
  /** ID of the instance that answered. */
  instanceId: string;
  /** The tenant whose promotions were applied. */
  tenantId: string;
  /** Time of the last change of the promotions. */
  dataAge?: string;
}

/** What one unit of an article costs by itself: one piece, or one kilogram of what is sold by the kilogram. */
export interface ArticlePrice {
  /** As in the request. */
  articleNumber: string;
  /** As in the request, else that of the article. */
  ean?: string;
  /** `PRICED`; `UNKNOWN_ARTICLE`; `NO_PRICE`: the article has no price in this currency. */
  status: string;
  /** Name of the article. */
  name?: string;
  /** Unit of the article, of which the price is for one. */
  unit?: string;
  /** The price before promotions. This and the following only if PRICED. */
  unitPrice?: Money;
  /** The price with promotions. */
  price?: Money;
  /** The price to strike through, if the price is below it. */
  strikePrice?: Money;
  /** In the order in which they were applied. */
  promotions?: PricePromotion[];
  /** Why no promotion may take anything off it: a value of NeverDiscountedReasons. */
  neverDiscounted?: string;
}

/** The confirm of a transaction. */
export interface ReadConfirmation {
  /** The iteration that became the sale. */
  transactionCounter: number;
  /** Time of the sale. UTC. */
  confirmedAt: string;
  /** As the confirm was answered. */
  message: string;
  /** Its sale lines, with what was returned of them. */
  lines: ReturnedLine[];
}

/** An iteration of a transaction. */
export interface ReadIteration {
  /** Its number; `/v2/transactions/{transactionId}/{transactionCounter}` has its answer. */
  transactionCounter: number;
  /** The time that it was evaluated for. UTC. */
  evaluatedAt: string;
  /** The till's receipt number. */
  receiptId?: string;
}

/** A booking of points. */
export interface LoyaltyEntry {
  /** The transaction that caused it. */
  transactionId: string;
  /** Its iteration. */
  transactionCounter: number;
  /** The promotion that granted the points; left out for base points and returns. */
  promotionId?: string;
  /** The points; negative if they were taken back or spent. */
  points: number;
  /** The balance after it. */
  balanceAfter: number;
  /** When it was booked. UTC. */
  awardedAt: string;
}

/** A coupon that the sale earned. */
export interface PostPurchaseCoupon {
  /** Code to print on the receipt. */
  code: string;
  /** The coupon type. */
  couponTypeId: string;
  /** The customer it belongs to; if left out, anyone may present it. */
  customerId?: string;
  /** Time of issue. UTC. */
  issuedAt: string;
}

/** What a budget has got back. */
export interface BudgetGivenBack {
  /** ID of the budget. */
  budgetId: string;
  /** What no earlier return had given back. */
  amount: Money;
}

/** A coupon that the sale had spent. */
export interface CouponSpent {
  /** ID of the coupon code; null for the shared code of a type. */
  couponId: string | null;
  /** Its type, whose `onReturn` decides. */
  couponTypeId: string;
  /** Whether it is valid again. */
  reactivated: boolean;
  /** Why not: `KEEP_REDEEMED`, `EXPIRED`, `INACTIVE`, `CHANGED` or `AFTER_SYNC`. */
  reason?: string | null;
}

/** A coupon that the sale had earned. */
export interface CouponEarned {
  /** ID of the coupon code. */
  couponId: string;
  /** Its type. */
  couponTypeId: string;
  /** Whether it was cancelled now. */
  cancelled: boolean;
  /** Why not: `ALREADY_SPENT`, `EXPIRED` or `ALREADY_CANCELLED`. */
  reason?: string | null;
}

/** A coupon that was issued. */
export interface IssuedCouponCode {
  /** The code to present at a till. */
  code: string;
  /** Its ID; null if all share the type's code. */
  couponId: string | null;
  /** The coupon type. */
  couponTypeId: string;
  /** The owner; null: a bearer coupon. */
  customerId: string | null;
  /** End of its validity, exclusive; null: it has no end. UTC. */
  validUntil: string | null;
}

/** A customer who got no coupon. */
export interface IssueFailed {
  /** The customer. */
  customerId: string | null;
  /** The reason: a stable code. */
  code: string;
  /** An English sentence. */
  message: string;
}

/** The result for an article. */
export interface ArticleResult {
  /** As sent; null if it is missing. */
  articleNumber: string | null;
  /** `created`, `updated` or `failed`. */
  status: string;
  /** The article's ID; null if it failed. */
  id: string | null;
  /** Why it failed, in an English sentence; null if it did not. */
  error: string | null;
}

/** An error in an article. */
export interface ArticleFault {
  /** As sent; null if it is missing. */
  articleNumber: string | null;
  /** Its position in the request, from 1. */
  row: number;
  /** A stable code. */
  code: string;
  /** An English sentence. */
  message: string;
  /** The invalid member. */
  property: string | null;
}

/** Identifies the iteration. */
export interface Header {
  /** The ID sent by the till, or a new UUID. */
  transactionId?: string;
  /** Number of the iteration, from 1. Not on simulate. */
  transactionCounter?: number;
  /** As in the request. */
  receiptId?: string;
  /** As in the request. */
  headerReference?: string;
}

/** How the best combination was found; only for tenants whose combinationStrategy is BEST_DEAL. */
export interface BestDeal {
  /** Whether it is proven that no other combination within `scope` gives more. */
  optimal: boolean;
  /** Upper bound: no combination can give more than this, gifts included. */
  bound: Money;
  /** Number of combinations priced. */
  nodes: number;
  /** What was searched: `PROMOTIONS`, the `ORDER` of equals, `UNITS` taken. */
  scope?: string[];
}

/** A quantity with its unit. */
export interface Quantity {
  /** As in the request. */
  value: Decimal;
  /** The article's unit, else `PCE`. */
  unit: string;
}

/** The discount of one action of a promotion on one line. */
export interface LineDiscount {
  /** ID of the promotion. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
  /** Type of the promotion: a value of PromotionTypes. */
  promotionType: string;
  /** `PERCENTAGE`, `ABSOLUTE` or `UNIT_PRICE`. A free item is `PERCENTAGE` 100. */
  discountType: string;
  /** The percentage, amount or price that the promotion states. */
  discountValue: Decimal;
  /** Deprecated: the same as `totalDiscount`. */
  discountAmount: Money;
  /** Discount on this line. */
  totalDiscount: Money;
  /** The coupon code that triggered it. */
  couponCode?: string;
  /** Whether a coupon triggered it. */
  triggeredByCoupon: boolean;
}

/** What a return line gives back that names its sale, by what has been sold and returned until now. */
export interface Refund {
  /** `MATCHED`, `UNKNOWN_SALE`, `NOT_CONFIRMED`, `UNKNOWN_LINE`, `OVER_RETURNED`, `WRONG_CURRENCY`. */
  status: string;
  /** What was paid for the units. If the sale or its line is unknown, what the till sends. */
  amount: Money;
  /** The discount that the units carried; the sum of `unitShares`. */
  discountTakenBack: Money;
  /** The same by promotion and unit. */
  unitShares: RefundShare[];
  /** Points that the customer of the sale loses. */
  pointsTakenBack: number;
  /** What goes back to the budgets of the promotions. */
  budgetGivenBack: Money;
  /** `OVER_RETURNED`: the quantity that was left to return, and that `amount` is for. */
  left?: Decimal;
}

/** A summary of the savings, for the receipt. */
export interface SavingsSummary {
  /** Sum of all discounts. */
  totalSavings: Money;
  /** Percentage of the sale lines' total, two decimals, at most 100. */
  savingsPercent: Decimal;
  /** Same as `subtotal`. */
  originalTotal: Money;
  /** Same as `grandTotal`. */
  finalTotal: Money;
  /** One entry per promotion that gives a discount. */
  promotionBreakdown: PromotionSavings[];
  /** One entry per discounted line. */
  itemSavings: ItemSavings[];
  /** Points the customer earns when this iteration is confirmed. */
  loyaltyPointsEarned: number;
}

/**
 * What closes a gap: more pieces of a line, a new line, or goods of an amount. Goods of an amount count for thresholds
 * and for discounts on the receipt, but no article-level promotion is assumed for them.
 */
export interface Addition {
  /** The line whose quantity grows; if left out, it is a new line. */
  lineReference?: string;
  /** The article; with an amount, one that counts. If left out, goods of any kind. */
  articleNumber?: string;
  /** The article's group. */
  articleGroupId?: string;
  /** Pieces, or what is weighed. Left out with an amount. */
  quantity?: Decimal;
  /** Price of the goods. Left out with pieces. */
  amount?: Money;
}

/** The promotion that applied instead, or that left nothing to discount. */
export interface BlockedBy {
  /** ID of the winner. */
  promotionId: string;
  /** Name of the winner. */
  promotionName?: string;
  /** Saving of the basket minus its saving without the rivals; may be negative. */
  difference?: Money;
  /** What would have to be removed for it to apply, in words; only if pricing without it confirms it. */
  remedy?: string;
  /** The promotions that the remedy names. */
  rivals?: Rival[];
}

/** What an action of a promotion takes off one unit of an article. */
export interface PricePromotion {
  /** ID of the promotion. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
  /** Type of the promotion: a value of PromotionTypes. */
  promotionType: string;
  /** `PERCENTAGE`, `ABSOLUTE` or `UNIT_PRICE`. A free item is `PERCENTAGE` 100. */
  discountType: string;
  /** The percentage, amount or price that the promotion states. */
  discountValue: Decimal;
  /** What it takes off. */
  discount: Money;
  /** The end of its validity, which is not included; left out if there is none. */
  validUntil?: string;
}

/** A sale line of a confirmed transaction. */
export interface ReturnedLine {
  /** The line. */
  lineReference: string;
  /** The quantity sold. */
  quantity: Decimal;
  /** What was paid for it. */
  paid?: Money;
  /** How much of it confirmed returns have brought back so far. */
  returnedQuantity: Decimal;
  /** What they have refunded. */
  refunded?: Money;
}

/** Returned units that carried the same share of a discount. */
export interface RefundShare {
  /** ID of the promotion. */
  promotionId: string;
  /** Number of units; 1 for a line that is weighed. */
  count: number;
  /** Share of each unit. */
  amount: Money;
}

/** The discount of one promotion on the whole basket. */
export interface PromotionSavings {
  /** ID of the promotion. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
  /** Sum over all lines. */
  totalDiscount: Money;
  /** The `lineReference` of each line it discounts. */
  affectedItems: string[];
}

/** The savings on one discounted line. */
export interface ItemSavings {
  /** The article. */
  articleNumber: string;
  /** Total of the line. */
  originalPrice: Money;
  /** Net price of the line. */
  finalPrice: Money;
  /** The difference. */
  savings: Money;
}

/** A promotion without which another one would apply. */
export interface Rival {
  /** ID of the promotion. */
  promotionId: string;
  /** Name of the promotion. */
  promotionName: string;
}

/** What the operations are answered with, by name. */
export interface Answers {
  ConfirmResponse: ConfirmResponse;
  EvaluateResponse: EvaluateResponse;
  PricesResponse: PricesResponse;
  TransactionResult: TransactionResult;
  LoyaltyResult: LoyaltyResult;
  SideEffectsResult: SideEffectsResult;
  Heartbeat: Heartbeat;
  CancelResponse: CancelResponse;
  ValidateCouponResponse: ValidateCouponResponse;
  ReserveCouponResponse: ReserveCouponResponse;
  RedeemCouponResponse: RedeemCouponResponse;
  CancelCouponResponse: CancelCouponResponse;
  ActivateCouponResponse: ActivateCouponResponse;
  IssueCouponsResponse: IssueCouponsResponse;
  ImportArticlesResponse: ImportArticlesResponse;
}
