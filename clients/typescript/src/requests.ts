// Generated from the code by `make docs`. Change the code, not this file.

/** A number of the interface as text, such as "8.69": exact, and never a binary fraction. */
export type Decimal = string;

/** A basket to price. `posGroupId` or `posGroupCode` is required; both must name the same POS group. */
export interface EvaluateRequest {
  /** The lines. */
  items: readonly BasketItem[];
  /** The transaction; a new one if left out. */
  header?: EvaluateHeader | undefined;
  /** The POS group of the sale. This or `posGroupCode` is required. */
  posGroupId?: string | undefined;
  /** The POS group by its code. Both must identify the same POS group. */
  posGroupCode?: string | undefined;
  /** The customer. */
  customer?: CustomerInfo | undefined;
  /** Applied in this order. */
  coupons?: readonly CouponInput[] | undefined;
  /** Time of the sale, for validity and times. Default: now. No zone: UTC. */
  timestamp?: Date | string | undefined;
  /** For CHANNEL conditions, such as IN_STORE; case-insensitive. */
  channel?: string | undefined;
  /** The means of payment. */
  paymentInfo?: PaymentInfo | undefined;
  /** For USER_DEFINED conditions. */
  userDefinedFields?: readonly KeyValuePair[] | undefined;
  /** For MANUAL_DISCOUNT conditions. */
  manualDiscount?: ManualDiscountInfo | undefined;
  /** Include drafts and inactive promotions. Simulate only. */
  includeInactive?: boolean | undefined;
  /** Return `missedPromotions`. Takes longer. */
  includeMissedPromotions?: boolean | undefined;
}

/**
 * Articles whose prices are asked, each alone. `posGroupId` or `posGroupCode` is required; both must name the same POS
 * group.
 */
export interface PricesRequest {
  /** The articles. */
  items: readonly PriceItem[];
  /** The POS group of the price. This or `posGroupCode` is required. */
  posGroupId?: string | undefined;
  /** The POS group by its code. Both must identify the same POS group. */
  posGroupCode?: string | undefined;
  /** The customer, or only the group or tier. Default: anybody. */
  customer?: CustomerInfo | undefined;
  /** The time for which prices are asked. Default: now. No zone: UTC. */
  timestamp?: Date | string | undefined;
  /** For CHANNEL conditions, such as WEBSHOP; case-insensitive. */
  channel?: string | undefined;
}

/** The confirmation of a sale on the terms of one iteration. */
export interface ConfirmRequest {
  /** The iteration. */
  header: ConfirmHeader;
  /** The transaction ID again; equal to the header's. */
  transactionId: string;
  /** Promotions granted. May be empty. */
  appliedPromotions: readonly ConfirmPromotion[];
  /** If sent, it must be the iteration's. */
  posGroupId?: string | undefined;
  /** If sent, it must be the iteration's. */
  posGroupCode?: string | undefined;
  /** The customer rewarded. Default: the iteration's customer. */
  customerId?: string | undefined;
  /** Time of payment, for the records. Default: now. */
  timestamp?: Date | string | undefined;
  /** Final prices, for the log. */
  items?: readonly ConfirmBasketItem[] | undefined;
}

/** A confirmed sale to undo as a whole. */
export interface CancelRequest {
  /** The transaction that was confirmed. */
  transactionId: string;
  /** The iteration that was confirmed. */
  transactionCounter: number;
  /** Why, for the log. That of the first cancel counts. */
  reason?: string | undefined;
}

/** A coupon code presented at a till. */
export interface ValidateCouponRequest {
  /** The code as printed. The case of an individual code matters. */
  code: string;
  /** The transaction it is for: a code that it has reserved is valid for it. */
  transactionId?: string | undefined;
  /** The customer who presents it. Default: the code's owner, if any. */
  customerId?: string | undefined;
}

/** A code to reserve for a transaction. */
export interface ReserveCouponRequest {
  /** The code as printed. The case of an individual code matters. */
  code: string;
  /** The till's transaction: only it can redeem the reservation. */
  transactionId: string;
  /** The customer who presents it. Default: the code's owner, if any. */
  customerId?: string | undefined;
}

/** A reserved code to redeem. */
export interface RedeemCouponRequest {
  /** The ID returned by reserve. */
  reservationId: string;
  /** The transaction that reserved it. */
  transactionId: string;
}

/** A reserved code to release. */
export interface CancelCouponRequest {
  /** The ID returned by reserve. */
  reservationId: string;
}

/** A digital coupon that its customer activates. */
export interface ActivateCouponRequest {
  /** The code as printed. The case of an individual code matters. */
  code: string;
  /** The code's owner. A code without an owner can be activated by anybody. */
  customerId: string;
}

/**
 * Coupons to issue, one for each customer; a single bearer coupon if no customer is named. `couponTypeId` or
 * `couponTypeName` is required; `customerId` and `customerIds` exclude each other.
 */
export interface IssueCouponsRequest {
  /** The coupon type. This or `couponTypeName` is required. */
  couponTypeId?: string | undefined;
  /** The coupon type by its name, which only one type may have. */
  couponTypeName?: string | undefined;
  /** The customer. Not together with `customerIds`. */
  customerId?: string | undefined;
  /** Customers. */
  customerIds?: readonly string[] | undefined;
  /** The reason, stored with each code. */
  reason?: string | undefined;
  /** An object with own data, stored with each code; at most 4 KiB. */
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Articles to store while the till waits, each on its own. */
export interface ImportArticlesRequest {
  /** Stored in this order. */
  articles: readonly Article[];
}

/** One line of the basket. */
export interface BasketItem {
  /** The article. If it is unknown, only the line's own data count. */
  articleNumber: string;
  /** Positive for a sale, negative for a return, never 0. */
  quantity: Decimal;
  /** Price per unit before promotions, in the POS group's currency. Not verified. */
  unitPrice: Decimal;
  /** Identifies the article if its number is unknown. */
  ean?: string | undefined;
  /** Overrides the article's own group. */
  articleGroupId?: string | undefined;
  /** Overrides the article's own manufacturer. */
  manufacturerId?: string | undefined;
  /** Identifies the line in the answer; unique. Default: position from 1. */
  lineReference?: string | undefined;
  /** For rules about them, and to name the sale of a returned line. */
  additionalFields?: readonly KeyValuePair[] | undefined;
  /** The price from which the till has reduced it to `unitPrice`, if it has. */
  regularUnitPrice?: Decimal | undefined;
}

/** The transaction to price. */
export interface EvaluateHeader {
  /** The till's transaction; if left out, the service generates a UUID. */
  transactionId?: string | undefined;
  /** The till's receipt number, stored and echoed. */
  receiptId?: string | undefined;
  /** Any text of the till, echoed but not interpreted. */
  headerReference?: string | undefined;
}

/** The customer. */
export interface CustomerInfo {
  /** The customer who is rewarded, and whose personal limits and coupons count. */
  customerId?: string | undefined;
  /** For CUSTOMER_GROUP conditions. */
  customerGroup?: string | undefined;
  /** Stored with the iteration; no condition reads it. */
  loyaltyCardNo?: string | undefined;
  /** For LOYALTY_ACCOUNT conditions. */
  loyalty?: Loyalty | undefined;
}

/** A coupon presented at the till. */
export interface CouponInput {
  /** The code as printed. The case of an individual code matters. */
  code: string;
}

/** The customer's means of payment. */
export interface PaymentInfo {
  /** For PAYMENT_MEANS conditions, such as CARD. */
  paymentMeans?: string | undefined;
  /** For PAYMENT_CARD conditions, such as VISA. */
  cardType?: string | undefined;
  /** Truncated to its first 8 digits before it is processed or stored. */
  cardNumber?: string | undefined;
}

/** An additional field defined by the till. */
export interface KeyValuePair {
  /** The name. If a name is repeated, the last value counts. */
  key: string;
  /** The value. */
  value: string;
}

/** A discount that the cashier grants manually, outside the promotions. */
export interface ManualDiscountInfo {
  /** Whether there is a manual discount. */
  enabled?: boolean | undefined;
  /** For MANUAL_DISCOUNT conditions with reason codes. */
  reasonCode?: string | undefined;
}

/** An article whose price is asked. */
export interface PriceItem {
  /** The article. */
  articleNumber: string;
  /** Identifies the article if its number is unknown. */
  ean?: string | undefined;
  /** Its price before promotions. Default: the `basePrice` of the article. */
  unitPrice?: Decimal | undefined;
  /** The price from which it is reduced to that, if it is. */
  regularUnitPrice?: Decimal | undefined;
}

/** The iteration that became the sale. */
export interface ConfirmHeader {
  /** As returned by evaluate. */
  transactionId: string;
  /** As returned by evaluate. */
  transactionCounter: number;
  /** The till's receipt number, for the log. */
  receiptId?: string | undefined;
}

/** A promotion that the till granted. */
export interface ConfirmPromotion {
  /** A promotion that the iteration applied. */
  promotionId: string;
  /** For the log; the iteration contains the code that triggered the promotion. */
  couponCode?: string | undefined;
  /** The discount the till granted. Default: as evaluated. */
  totalDiscount?: Decimal | undefined;
  /** The same as Money; it takes precedence if both are sent. */
  discountAmount?: MoneyInput | undefined;
}

/** A line as the till charged it, for the log. It does not affect the booking. */
export interface ConfirmBasketItem {
  /** The article. If it is unknown, only the line's own data count. */
  articleNumber: string;
  /** Positive for a sale, negative for a return, never 0. */
  quantity: Decimal;
  /** Price per unit before promotions, in the POS group's currency. Not verified. */
  unitPrice: Decimal;
  /** Identifies the article if its number is unknown. */
  ean?: string | undefined;
  /** Overrides the article's own group. */
  articleGroupId?: string | undefined;
  /** Overrides the article's own manufacturer. */
  manufacturerId?: string | undefined;
  /** Identifies the line in the answer; unique. Default: position from 1. */
  lineReference?: string | undefined;
  /** For rules about them, and to name the sale of a returned line. */
  additionalFields?: readonly KeyValuePair[] | undefined;
  /** The price from which the till has reduced it to `unitPrice`, if it has. */
  regularUnitPrice?: Decimal | undefined;
  /** The discount that the till granted on the line. */
  lineDiscount?: MoneyInput | undefined;
  /** The amount that the till charged for the line. */
  lineNet?: MoneyInput | undefined;
}

/** An article to add, or to change if its number is known. Members left out stay unchanged. */
export interface Article {
  /** The article's number. */
  articleNumber: string;
  /** The name. */
  name?: string | null | undefined;
  /** The description. */
  description?: string | null | undefined;
  /** Its EAN or GTIN; articles of one product may share it. */
  ean?: string | null | undefined;
  /** The manufacturer's name. */
  manufacturer?: string | null | undefined;
  /** The manufacturer's ID, as in baskets. */
  manufacturerId?: string | null | undefined;
  /** Its category in the retailer's own words. */
  category?: string | null | undefined;
  /** The number of its article group. */
  articleGroupId?: string | null | undefined;
  /** The usual price: the value of a free item. */
  basePrice?: Decimal | null | undefined;
  /** The currency of the base price, as in ISO 4217. */
  currency?: string | null | undefined;
  /** Unit of its quantities; a measure such as KGM makes it a weighed article. */
  unit?: string | undefined;
  /** The origin: a value of ArticleSources. */
  source?: string | undefined;
  /** Whether it is for sale. */
  isActive?: boolean | undefined;
  /** Why no promotion may discount it: a value of NeverDiscountedReasons. */
  neverDiscounted?: string | null | undefined;
  /** The article group by its ID. */
  articleGroup_ID?: string | null | undefined;
  /** The ID of a new article. Default: generated. */
  ID?: string | null | undefined;
}

/** The customer's loyalty account, as the till knows it. */
export interface Loyalty {
  /** The loyalty tier, such as GOLD. */
  tier?: string | undefined;
  /** The balance before this sale. */
  points?: number | undefined;
}

/** An amount of money. */
export interface MoneyInput {
  /** Not negative. */
  value: Decimal;
  /** ISO 4217; if given, it must be the iteration's. */
  currency?: string | undefined;
}
