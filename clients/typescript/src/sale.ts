/** What a till does with answers: confirm them, add amounts up, understand a coupon's "no". */

import type {CancelCouponResponse, EvaluateResponse, RedeemCouponResponse} from "./answers.js";
import type {ConfirmRequest, Decimal} from "./requests.js";

/** What may be said of a sale beside the basket that was priced. */
export interface ConfirmationOptions {
  /** The IDs of promotions that the till has not granted. */
  readonly withdrawn?: readonly string[];
  readonly customerId?: string;
  readonly receiptId?: string;
  readonly timestamp?: Date | string;
}

/**
 * The request that confirms an evaluated basket as it was priced, with its discounts and gifts. Throws TypeError for a
 * simulation.
 */
export function confirmation(priced: EvaluateResponse, options: ConfirmationOptions = {}): ConfirmRequest {
  const {transactionId, transactionCounter} = priced.meta.header;
  if (transactionId === undefined || transactionCounter === undefined) {
    throw new TypeError("a simulation cannot be confirmed: evaluate the basket");
  }
  const {withdrawn = [], customerId, receiptId, timestamp} = options;
  const granted = new Set(
    [...priced.totals.savingsSummary.promotionBreakdown, ...priced.grantedItems].map((one) => one.promotionId)
  );
  return {
    header: {transactionId, transactionCounter, receiptId},
    transactionId,
    appliedPromotions: [...granted].filter((one) => !withdrawn.includes(one)).map((promotionId) => ({promotionId})),
    customerId,
    timestamp
  };
}

/** Whether a reservation is redeemed, by this request or by one before it whose answer was lost. */
export function isRedeemed(answer: RedeemCouponResponse): boolean {
  return answer.redeemed || answer.reason === "REDEEMED_BEFORE";
}

/** Whether a reservation is gone, by this request or by one before it whose answer was lost. */
export function isReleased(answer: CancelCouponResponse): boolean {
  return answer.cancelled || answer.reason === "RESERVATION_NOT_FOUND";
}

/**
 * An amount as a whole number of its smallest units, to calculate with: `toUnits("8.69", 2)` is `869n`. Throws
 * RangeError for an amount with more decimals, and for what is none.
 */
export function toUnits(amount: Decimal, decimals: number): bigint {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === undefined || /[^0]/.test(fraction.slice(decimals))) {
    throw new RangeError(`${amount} is no amount with ${decimals} decimals`);
  }
  const units = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
  return sign ? -units : units;
}

/** The amount of so many smallest units: `fromUnits(869n, 2)` is `"8.69"`. */
export function fromUnits(units: bigint, decimals: number): Decimal {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, "0");
  const [whole, fraction] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  return `${units < 0n ? "-" : ""}${whole}${decimals ? `.${fraction}` : ""}`;
}
