/* eslint-disable max-lines */
// Generated from the code by `make docs`. Change the code, not this file.

/**
 * The members of each message. `?`: may be left out; `[]`: a list; `|null`: may be null. A decimal is text here and a
 * number or text on the wire.
 */
export const SHAPES = {
  EvaluateRequest: {
    items: "BasketItem[]",
    header: "EvaluateHeader?|null",
    posGroupId: "text?|null",
    posGroupCode: "text?|null",
    customer: "CustomerInfo?|null",
    coupons: "CouponInput[]?|null",
    timestamp: "time?|null",
    channel: "text?|null",
    paymentInfo: "PaymentInfo?|null",
    userDefinedFields: "KeyValuePair[]?|null",
    manualDiscount: "ManualDiscountInfo?|null",
    includeInactive: "boolean?|null",
    includeMissedPromotions: "boolean?|null"
  },
  PricesRequest: {
    items: "PriceItem[]",
    posGroupId: "text?|null",
    posGroupCode: "text?|null",
    customer: "CustomerInfo?|null",
    timestamp: "time?|null",
    channel: "text?|null"
  },
  ConfirmRequest: {
    header: "ConfirmHeader",
    transactionId: "text",
    appliedPromotions: "ConfirmPromotion[]",
    posGroupId: "text?|null",
    posGroupCode: "text?|null",
    customerId: "text?|null",
    timestamp: "time?|null",
    items: "ConfirmBasketItem[]?|null"
  },
  CancelRequest: {
    transactionId: "text",
    transactionCounter: "integer",
    reason: "text?|null"
  },
  ValidateCouponRequest: {
    code: "text",
    transactionId: "text?|null",
    customerId: "text?|null"
  },
  ReserveCouponRequest: {
    code: "text",
    transactionId: "text",
    customerId: "text?|null"
  },
  RedeemCouponRequest: {
    reservationId: "text",
    transactionId: "text"
  },
  CancelCouponRequest: {
    reservationId: "text"
  },
  ActivateCouponRequest: {
    code: "text",
    customerId: "text"
  },
  IssueCouponsRequest: {
    couponTypeId: "text?|null",
    couponTypeName: "text?|null",
    customerId: "text?|null",
    customerIds: "text[]?|null",
    reason: "text?|null",
    metadata: "object?|null"
  },
  ImportArticlesRequest: {
    articles: "Article[]"
  },
  BasketItem: {
    articleNumber: "text",
    quantity: "decimal",
    unitPrice: "decimal",
    ean: "text?|null",
    articleGroupId: "text?|null",
    manufacturerId: "text?|null",
    lineReference: "text?|null",
    additionalFields: "KeyValuePair[]?|null",
    regularUnitPrice: "decimal?|null"
  },
  EvaluateHeader: {
    transactionId: "text?|null",
    receiptId: "text?|null",
    headerReference: "text?|null"
  },
  CustomerInfo: {
    customerId: "text?|null",
    customerGroup: "text?|null",
    loyaltyCardNo: "text?|null",
    loyalty: "Loyalty?|null"
  },
  CouponInput: {
    code: "text"
  },
  PaymentInfo: {
    paymentMeans: "text?|null",
    cardType: "text?|null",
    cardNumber: "text?|null"
  },
  KeyValuePair: {
    key: "text",
    value: "text"
  },
  ManualDiscountInfo: {
    enabled: "boolean?",
    reasonCode: "text?|null"
  },
  PriceItem: {
    articleNumber: "text",
    ean: "text?|null",
    unitPrice: "decimal?|null",
    regularUnitPrice: "decimal?|null"
  },
  ConfirmHeader: {
    transactionId: "text",
    transactionCounter: "integer",
    receiptId: "text?|null"
  },
  ConfirmPromotion: {
    promotionId: "text",
    couponCode: "text?|null",
    totalDiscount: "decimal?|null",
    discountAmount: "MoneyInput?|null"
  },
  ConfirmBasketItem: {
    articleNumber: "text",
    quantity: "decimal",
    unitPrice: "decimal",
    ean: "text?|null",
    articleGroupId: "text?|null",
    manufacturerId: "text?|null",
    lineReference: "text?|null",
    additionalFields: "KeyValuePair[]?|null",
    regularUnitPrice: "decimal?|null",
    lineDiscount: "MoneyInput?|null",
    lineNet: "MoneyInput?|null"
  },
  Article: {
    articleNumber: "text",
    name: "text?|null",
    description: "text?|null",
    ean: "text?|null",
    manufacturer: "text?|null",
    manufacturerId: "text?|null",
    category: "text?|null",
    articleGroupId: "text?|null",
    basePrice: "decimal?|null",
    currency: "text?|null",
    unit: "text?",
    source: "text?",
    isActive: "boolean?",
    neverDiscounted: "text?|null",
    articleGroup_ID: "text?|null",
    ID: "text?|null"
  },
  Loyalty: {
    tier: "text?|null",
    points: "integer?|null"
  },
  MoneyInput: {
    value: "decimal",
    currency: "text?|null"
  },
  Money: {
    value: "decimal",
    currency: "text"
  },
  ConfirmResponse: {
    transactionId: "text",
    confirmed: "boolean",
    message: "text"
  },
  EvaluateResponse: {
    minorVersion: "integer",
    meta: "Meta",
    lineItems: "LineItem[]",
    grantedItems: "GrantedItem[]",
    totals: "Totals",
    recommendations: "Recommendation[]",
    appliedCoupons: "AppliedCoupon[]",
    invalidCoupons: "InvalidCoupon[]",
    budgetLimitedPromotions: "BudgetLimited[]",
    missedPromotions: "MissedPromotion[]?",
    nudges: "Nudge[]",
    thresholdGaps: "ThresholdGap[]"
  },
  PricesResponse: {
    minorVersion: "integer",
    meta: "PricesMeta",
    posGroupCode: "text",
    currency: "text",
    prices: "ArticlePrice[]"
  },
  TransactionResult: {
    minorVersion: "integer",
    transactionId: "text",
    confirmed: "boolean",
    confirmation: "ReadConfirmation?",
    cancelled: "boolean",
    cancellation: "CancelResponse?",
    iterations: "ReadIteration[]"
  },
  LoyaltyResult: {
    minorVersion: "integer",
    customerId: "text",
    balance: "integer",
    entries: "LoyaltyEntry[]"
  },
  SideEffectsResult: {
    minorVersion: "integer",
    transactionId: "text",
    transactionCounter: "integer",
    status: "text",
    enqueuedAt: "time",
    startedAt: "time?",
    completedAt: "time?",
    attempts: "integer",
    couponsRedeemed: "integer",
    budgetsConsumed: "integer",
    loyaltyPointsEarned: "integer",
    postPurchaseCoupons: "PostPurchaseCoupon[]",
    reason: "text?"
  },
  Heartbeat: {
    status: "text",
    version: "text",
    mode: "text",
    btpConnectivity: "text",
    lastSync: "text|null",
    pendingTransactions: "integer",
    promotionsLoaded: "integer",
    uptime: "integer"
  },
  CancelResponse: {
    transactionId: "text",
    transactionCounter: "integer",
    cancelled: "boolean",
    message: "text",
    pointsTakenBack: "integer",
    budgetsGivenBack: "BudgetGivenBack[]",
    couponsSpent: "CouponSpent[]",
    couponsEarned: "CouponEarned[]"
  },
  ValidateCouponResponse: {
    valid: "boolean",
    code: "text",
    message: "text",
    promotionId: "text|null",
    validUntil: "time|null",
    reason: "text|null",
    reservationId: "text|null"
  },
  ReserveCouponResponse: {
    reservationId: "text|null",
    reserved: "boolean",
    expiresAt: "time|null",
    message: "text",
    code: "text|null",
    reason: "text|null"
  },
  RedeemCouponResponse: {
    redeemed: "boolean",
    message: "text",
    code: "text|null",
    reason: "text|null"
  },
  CancelCouponResponse: {
    cancelled: "boolean",
    message: "text",
    code: "text|null",
    reason: "text|null"
  },
  ActivateCouponResponse: {
    activated: "boolean",
    code: "text",
    message: "text",
    validUntil: "time|null",
    reason: "text|null"
  },
  IssueCouponsResponse: {
    issuedCount: "integer",
    failedCount: "integer",
    issuedCoupons: "IssuedCouponCode[]",
    failures: "IssueFailed[]",
    message: "text"
  },
  ImportArticlesResponse: {
    imported: "integer",
    updated: "integer",
    failed: "integer",
    results: "ArticleResult[]",
    errors: "ArticleFault[]"
  },
  Meta: {
    header: "Header",
    evaluatedAt: "time",
    source: "text",
    instanceId: "text",
    isSimulation: "boolean",
    tenantId: "text",
    dataAge: "time?",
    bestDeal: "BestDeal?"
  },
  LineItem: {
    lineReference: "text",
    articleNumber: "text",
    ean: "text?",
    articleGroupId: "text?",
    manufacturerId: "text?",
    quantity: "Quantity",
    unitPrice: "Money",
    lineTotal: "Money",
    lineDiscount: "Money",
    lineNet: "Money",
    discounts: "LineDiscount[]",
    isFreeItem: "boolean",
    freeItemPromotionId: "text?",
    refund: "Refund?",
    neverDiscounted: "text?"
  },
  GrantedItem: {
    grantReference: "text",
    articleNumber: "text",
    ean: "text?",
    quantity: "integer",
    referencePrice: "Money",
    priceSource: "text",
    giveAwayValue: "Money",
    promotionId: "text",
    promotionName: "text",
    triggeredByCoupon: "boolean"
  },
  Totals: {
    subtotal: "Money",
    discount: "Money",
    grandTotal: "Money",
    saleSubtotal: "Money?",
    returnSubtotal: "Money?",
    refundTotal: "Money?",
    payable: "Money?",
    savingsSummary: "SavingsSummary"
  },
  Recommendation: {
    kind: "text",
    code: "text",
    params: "KeyValuePair[]",
    defaultMessage: "text",
    promotionId: "text",
    promotionName: "text",
    matchPercent: "integer?",
    potentialSaving: "Money?",
    missing: "Addition[]?"
  },
  AppliedCoupon: {
    code: "text",
    couponTypeName: "text",
    promotionIds: "text[]"
  },
  InvalidCoupon: {
    code: "text",
    reason: "text"
  },
  BudgetLimited: {
    promotionId: "text",
    promotionName: "text",
    reason: "text"
  },
  MissedPromotion: {
    promotionId: "text",
    promotionName: "text",
    promotionType: "text",
    code: "text",
    message: "text",
    params: "KeyValuePair[]",
    matchPercent: "integer?",
    potentialSaving: "Money?",
    blockedBy: "BlockedBy?",
    missing: "Addition[]?"
  },
  Nudge: {
    message: "text",
    suggestedAction: "text",
    potentialSaving: "Money",
    promotionId: "text",
    promotionName: "text",
    gapType: "text",
    missing: "Addition[]?"
  },
  ThresholdGap: {
    promotionId: "text",
    promotionName: "text",
    type: "text",
    currentValue: "decimal",
    threshold: "decimal",
    gap: "decimal",
    potentialSaving: "Money",
    missing: "Addition[]?"
  },
  PricesMeta: {
    evaluatedAt: "time",
    source: "text",
    instanceId: "text",
    tenantId: "text",
    dataAge: "time?"
  },
  ArticlePrice: {
    articleNumber: "text",
    ean: "text?",
    status: "text",
    name: "text?",
    unit: "text?",
    unitPrice: "Money?",
    price: "Money?",
    strikePrice: "Money?",
    promotions: "PricePromotion[]?",
    neverDiscounted: "text?"
  },
  ReadConfirmation: {
    transactionCounter: "integer",
    confirmedAt: "time",
    message: "text",
    lines: "ReturnedLine[]"
  },
  ReadIteration: {
    transactionCounter: "integer",
    evaluatedAt: "time",
    receiptId: "text?"
  },
  LoyaltyEntry: {
    transactionId: "text",
    transactionCounter: "integer",
    promotionId: "text?",
    points: "integer",
    balanceAfter: "integer",
    awardedAt: "time"
  },
  PostPurchaseCoupon: {
    code: "text",
    couponTypeId: "text",
    customerId: "text?",
    issuedAt: "time"
  },
  BudgetGivenBack: {
    budgetId: "text",
    amount: "Money"
  },
  CouponSpent: {
    couponId: "text|null",
    couponTypeId: "text",
    reactivated: "boolean",
    reason: "text?|null"
  },
  CouponEarned: {
    couponId: "text",
    couponTypeId: "text",
    cancelled: "boolean",
    reason: "text?|null"
  },
  IssuedCouponCode: {
    code: "text",
    couponId: "text|null",
    couponTypeId: "text",
    customerId: "text|null",
    validUntil: "time|null"
  },
  IssueFailed: {
    customerId: "text|null",
    code: "text",
    message: "text"
  },
  ArticleResult: {
    articleNumber: "text|null",
    status: "text",
    id: "text|null",
    error: "text|null"
  },
  ArticleFault: {
    articleNumber: "text|null",
    row: "integer",
    code: "text",
    message: "text",
    property: "text|null"
  },
  Header: {
    transactionId: "text?",
    transactionCounter: "integer?",
    receiptId: "text?",
    headerReference: "text?"
  },
  BestDeal: {
    optimal: "boolean",
    bound: "Money",
    nodes: "integer",
    scope: "text[]?"
  },
  Quantity: {
    value: "decimal",
    unit: "text"
  },
  LineDiscount: {
    promotionId: "text",
    promotionName: "text",
    promotionType: "text",
    discountType: "text",
    discountValue: "decimal",
    discountAmount: "Money",
    totalDiscount: "Money",
    couponCode: "text?",
    triggeredByCoupon: "boolean"
  },
  Refund: {
    status: "text",
    amount: "Money",
    discountTakenBack: "Money",
    unitShares: "RefundShare[]",
    pointsTakenBack: "integer",
    budgetGivenBack: "Money",
    left: "decimal?"
  },
  SavingsSummary: {
    totalSavings: "Money",
    savingsPercent: "decimal",
    originalTotal: "Money",
    finalTotal: "Money",
    promotionBreakdown: "PromotionSavings[]",
    itemSavings: "ItemSavings[]",
    loyaltyPointsEarned: "integer"
  },
  Addition: {
    lineReference: "text?",
    articleNumber: "text?",
    articleGroupId: "text?",
    quantity: "decimal?",
    amount: "Money?"
  },
  BlockedBy: {
    promotionId: "text",
    promotionName: "text?",
    difference: "Money?",
    remedy: "text?",
    rivals: "Rival[]?"
  },
  PricePromotion: {
    promotionId: "text",
    promotionName: "text",
    promotionType: "text",
    discountType: "text",
    discountValue: "decimal",
    discount: "Money",
    validUntil: "time?"
  },
  ReturnedLine: {
    lineReference: "text",
    quantity: "decimal",
    paid: "Money?",
    returnedQuantity: "decimal",
    refunded: "Money?"
  },
  RefundShare: {
    promotionId: "text",
    count: "integer",
    amount: "Money"
  },
  PromotionSavings: {
    promotionId: "text",
    promotionName: "text",
    totalDiscount: "Money",
    affectedItems: "text[]"
  },
  ItemSavings: {
    articleNumber: "text",
    originalPrice: "Money",
    finalPrice: "Money",
    savings: "Money"
  },
  Rival: {
    promotionId: "text",
    promotionName: "text"
  }
} as const;
