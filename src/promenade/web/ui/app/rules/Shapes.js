/* eslint-disable max-len, max-lines -- generated */
sap.ui.define([], function () {
  "use strict";

  // Generated from the code by `make docs`. Change the code, not this file.
  /** How each type of rule is entered and said, by kind and code. */
  // prettier-ignore
  const made = {
    "Conditions": {
      "ARTICLE": {
        "family": "basket",
        "icon": "product",
        "fields": ["articleNumber", "minQuantity", "minAmount"],
        "needs": [["articleNumber", "articleListItems", "values"]],
        "also": ["articleListItems", "operator", "values", "valueTo"],
        "values": "text",
        "isAboutLines": true,
        "words": {
          "en": {"name": "Article", "help": "A certain article is in the basket, optionally with a minimum quantity or amount.", "says": ["{articles}", "Article {test}", "…"]},
          "de": {"name": "Artikel", "help": "Ein bestimmter Artikel liegt im Warenkorb, auf Wunsch ab einer Stückzahl oder einem Betrag.", "says": ["{articles}", "Artikel {test}", "…"]}
        }
      },
      "ARTICLE_LIST": {
        "family": "basket",
        "icon": "list",
        "fields": ["articleListItems", "minQuantity", "minAmount"],
        "needs": [["articleListItems", "articleNumber", "values"]],
        "also": ["articleNumber", "operator", "values", "valueTo"],
        "values": "text",
        "isAboutLines": true,
        "words": {
          "en": {"name": "List of articles", "help": "Any of several articles is in the basket; pieces and amounts of all of them add up.", "says": ["{articles}", "Article {test}", "…"]},
          "de": {"name": "Artikelliste", "help": "Einer von mehreren Artikeln liegt im Warenkorb; Stückzahlen und Beträge aller werden zusammengezählt.", "says": ["{articles}", "Artikel {test}", "…"]}
        }
      },
      "ARTICLE_GROUP": {
        "family": "basket",
        "icon": "group-2",
        "fields": ["articleGroupId", "includeSubGroups", "minQuantity", "minAmount"],
        "needs": [["articleGroupId", "values"]],
        "also": ["operator", "values", "valueTo"],
        "values": "text",
        "isAboutLines": true,
        "begin": {
          "includeSubGroups": true
        },
        "words": {
          "en": {"name": "Article group", "help": "Articles of a group are in the basket, optionally also of the groups below it.", "says": ["{group}", "Article group {test}", "Article group …"]},
          "de": {"name": "Artikelgruppe", "help": "Artikel einer Gruppe liegen im Warenkorb, auf Wunsch auch aus den Gruppen darunter.", "says": ["{group}", "Artikelgruppe {test}", "Artikelgruppe …"]}
        }
      },
      "MANUFACTURER": {
        "family": "basket",
        "icon": "factory",
        "fields": ["manufacturer", "minQuantity", "minAmount"],
        "needs": [["manufacturer", "values"]],
        "also": ["operator", "values", "valueTo"],
        "values": "text",
        "isAboutLines": true,
        "words": {
          "en": {"name": "Manufacturer", "help": "Articles of a manufacturer are in the basket.", "says": ["Manufacturer {manufacturer}", "Manufacturer {test}", "Manufacturer …"]},
          "de": {"name": "Hersteller", "help": "Artikel eines Herstellers liegen im Warenkorb.", "says": ["Hersteller {manufacturer}", "Hersteller {test}", "Hersteller …"]}
        }
      },
      "ADDITIONAL_FIELD": {
        "family": "basket",
        "icon": "tag",
        "fields": ["fieldName", "operator", "values", "valueTo", "minQuantity", "minAmount"],
        "needs": [["fieldName"], ["values"]],
        "values": "text",
        "isAboutLines": true,
        "words": {
          "en": {"name": "Field of the line", "help": "Lines of the basket have a certain value in an additional field that the till sends.", "says": ["Line whose field {field} {test}"]},
          "de": {"name": "Feld der Position", "help": "Positionen des Warenkorbs tragen einen bestimmten Wert in einem Zusatzfeld, das die Kasse schickt.", "says": ["Position, deren Feld {field} {test}"]}
        }
      },
      "RECEIPT_AMOUNT": {
        "family": "basket",
        "icon": "receipt",
        "fields": ["operator", "values", "valueTo"],
        "needs": [["values", "minAmount"]],
        "also": ["minAmount"],
        "values": "amount",
        "isNumeric": true,
        "words": {
          "en": {"name": "Receipt amount", "help": "The value of the basket is at least or at most an amount, or between two amounts.", "says": ["Receipt amount {amount}"]},
          "de": {"name": "Bonbetrag", "help": "Der Warenkorb ist mindestens so viel wert, höchstens so viel oder liegt zwischen zwei Beträgen.", "says": ["Bonbetrag {amount}"]}
        }
      },
      "ITEM_QUANTITY": {
        "family": "basket",
        "icon": "number-sign",
        "fields": ["operator", "values", "valueTo"],
        "needs": [["values", "minQuantity"]],
        "also": ["minQuantity"],
        "values": "count",
        "isNumeric": true,
        "words": {
          "en": {"name": "Number of pieces", "help": "A number of pieces is in the basket. Together with conditions on articles, only their pieces count.", "says": ["Number of pieces {count}"]},
          "de": {"name": "Stückzahl", "help": "So viele Stück liegen im Warenkorb. Zusammen mit Bedingungen an Artikel zählen nur deren Stücke.", "says": ["Stückzahl {count}"]}
        }
      },
      "CUSTOMER_GROUP": {
        "family": "customer",
        "icon": "group",
        "fields": ["operator", "values", "valueTo"],
        "needs": [["values"]],
        "values": "text",
        "category": "CUSTOMER_GROUP_ID",
        "words": {
          "en": {"name": "Customer group", "help": "The customer belongs to one of these groups.", "says": ["Customer group {test}"]},
          "de": {"name": "Kundengruppe", "help": "Der Kunde gehört zu einer dieser Gruppen.", "says": ["Kundengruppe {test}"]}
        }
      },
      "CUSTOMER": {
        "family": "customer",
        "icon": "person-placeholder",
        "fields": ["operator", "values", "valueTo"],
        "needs": [["values"]],
        "values": "text",
        "category": "CUSTOMER_ID",
        "words": {
          "en": {"name": "Customer", "help": "Only these customers, by their ID.", "says": ["Customer {test}"]},
          "de": {"name": "Kunde", "help": "Nur diese Kunden, nach ihrer Nummer.", "says": ["Kunde {test}"]}
        }
      },
      "LOYALTY_ACCOUNT": {
        "family": "customer",
        "icon": "badge",
        "fields": ["fieldName", "operator", "values", "valueTo"],
        "needs": [["values"]],
        "also": ["valueCategory"],
        "values": "text",
        "begin": {
          "fieldName": "tier"
        },
        "words": {
          "en": {"name": "Loyalty account", "help": "The customer has a certain tier of the loyalty programme, or a certain number of points.", "says": ["Loyalty points {points}", "Loyalty tier {test}"]},
          "de": {"name": "Treuekonto", "help": "Der Kunde hat eine bestimmte Stufe des Treueprogramms oder so viele Punkte.", "says": ["Treuepunkte {points}", "Treuestufe {test}"]}
        }
      },
      "PAYMENT_MEANS": {
        "family": "payment",
        "icon": "wallet",
        "fields": ["operator", "values", "valueTo"],
        "needs": [["values"]],
        "values": "text",
        "category": "PAYMENT_MEANS",
        "words": {
          "en": {"name": "Means of payment", "help": "The basket is paid with one of these means of payment, such as CASH or CARD.", "says": ["Means of payment {test}"]},
          "de": {"name": "Zahlungsmittel", "help": "Bezahlt wird mit einem dieser Zahlungsmittel, etwa CASH oder CARD.", "says": ["Zahlungsmittel {test}"]}
        }
      },
      "PAYMENT_CARD": {
        "family": "payment",
        "icon": "credit-card",
        "fields": ["operator", "values", "valueTo"],
        "needs": [["values"]],
        "values": "text",
        "category": "CARD_TYPE",
        "words": {
          "en": {"name": "Kind of card", "help": "The basket is paid with a card of one of these types, such as VISA.", "says": ["Kind of card {test}"]},
          "de": {"name": "Kartenart", "help": "Bezahlt wird mit einer Karte dieser Art, etwa VISA.", "says": ["Kartenart {test}"]}
        }
      },
      "CREDIT_CARD_BIN": {
        "family": "payment",
        "icon": "credit-card",
        "fields": ["operator", "values", "valueTo"],
        "needs": [["values"]],
        "values": "digits",
        "category": "BIN_PREFIX",
        "words": {
          "en": {"name": "First digits of the card", "help": "The card number starts with these digits (up to eight), for example for cards of a certain bank.", "says": ["Number of the card {test}"]},
          "de": {"name": "Erste Ziffern der Karte", "help": "Die Kartennummer beginnt mit diesen Ziffern, höchstens acht: Karten einer bestimmten Bank.", "says": ["Kartennummer {test}"]}
        }
      },
      "MANUAL_DISCOUNT": {
        "family": "payment",
        "icon": "sales-order",
        "fields": ["operator", "values", "valueTo"],
        "needs": [],
        "values": "text",
        "category": "REASON_CODE",
        "words": {
          "en": {"name": "Manual discount", "help": "The cashier gave a manual discount, optionally for one of these reasons.", "says": ["Reason of the manual discount {test}", "The cashier gave a manual discount"]},
          "de": {"name": "Manueller Rabatt", "help": "An der Kasse wurde ein manueller Rabatt gegeben, auf Wunsch aus einem dieser Gründe.", "says": ["Grund des manuellen Rabatts {test}", "An der Kasse wurde ein manueller Rabatt gegeben"]}
        }
      },
      "TIME_WINDOW": {
        "family": "time",
        "icon": "present",
        "fields": ["timeFrom", "timeTo", "weekdays"],
        "needs": [["timeFrom", "timeTo", "weekdays"]],
        "values": "text",
        "words": {
          "en": {"name": "Time of day and weekdays", "help": "Between two times of day, on certain weekdays, in the store's time zone. It may run past midnight.", "says": ["Bought {when}"]},
          "de": {"name": "Uhrzeit und Wochentage", "help": "Zwischen zwei Uhrzeiten, an bestimmten Wochentagen, nach der Uhr der Filiale. Auch über Mitternacht hinaus.", "says": ["Gekauft {when}"]}
        }
      },
      "TIME_PERIOD": {
        "family": "time",
        "icon": "calendar",
        "fields": ["dateFrom", "dateTo"],
        "needs": [["dateFrom", "dateTo"]],
        "values": "text",
        "words": {
          "en": {"name": "Range of dates", "help": "From a first to a last day, both inclusive; either may be left open.", "says": ["Bought from {dateFrom} until {dateTo}", "Bought until {dateTo}", "Bought from {dateFrom}"]},
          "de": {"name": "Zeitraum", "help": "Von einem Tag bis zu einem anderen, beide eingeschlossen; jeder von beiden kann offen bleiben.", "says": ["Gekauft vom {dateFrom} bis zum {dateTo}", "Gekauft bis {dateTo}", "Gekauft ab {dateFrom}"]}
        }
      },
      "CHANNEL": {
        "family": "other",
        "icon": "multi-select",
        "fields": ["operator", "values", "valueTo"],
        "needs": [["values"]],
        "values": "text",
        "category": "CHANNEL",
        "words": {
          "en": {"name": "Channel", "help": "The sale is made through one of these channels, such as IN_STORE, ONLINE or MOBILE.", "says": ["Channel {test}"]},
          "de": {"name": "Kanal", "help": "Verkauft wird über einen dieser Kanäle, etwa IN_STORE, ONLINE oder MOBILE.", "says": ["Kanal {test}"]}
        }
      },
      "USER_DEFINED": {
        "family": "other",
        "icon": "customize",
        "fields": ["fieldName", "operator", "values", "valueTo"],
        "needs": [["fieldName"], ["values"]],
        "values": "text",
        "words": {
          "en": {"name": "Field of the request", "help": "The till sends a user-defined field with a certain value.", "says": ["Field {field} {test}"]},
          "de": {"name": "Feld der Anfrage", "help": "Die Kasse schickt ein eigenes Feld mit einem bestimmten Wert.", "says": ["Feld {field} {test}"]}
        }
      }
    },
    "DiscountActions": {
      "ARTICLE": {
        "family": "articles",
        "icon": "product",
        "fields": ["discountType", "discountValue", "targetArticleNumber"],
        "needs": [["discountType"], ["discountValue"]],
        "more": ["selectionType", "applicationQuantityMode", "applicationQuantity", "maxDiscountAmount", "exclusions"],
        "also": ["targetArticleGroupId", "includeSubGroups", "targetArticleList", "articleListItems"],
        "values": "text",
        "discountTypes": ["PERCENTAGE", "ABSOLUTE", "UNIT_PRICE"],
        "words": {
          "en": {"name": "Discount on an article", "help": "A percentage or an amount off each piece, or a new price for it. Without an article, the discount applies to all lines that met the conditions.", "says": ["{off} on {targets}"]},
          "de": {"name": "Rabatt auf einen Artikel", "help": "Prozente oder ein Betrag weniger je Stück, oder der Preis, den es dann kostet. Ohne Artikel: auf alles, was die Bedingungen erfüllt.", "says": ["{off} auf {targets}"]}
        }
      },
      "ARTICLE_GROUP": {
        "family": "articles",
        "icon": "group-2",
        "fields": ["discountType", "discountValue", "targetArticleGroupId", "includeSubGroups"],
        "needs": [["discountType"], ["discountValue"]],
        "more": ["selectionType", "applicationQuantityMode", "applicationQuantity", "maxDiscountAmount", "exclusions"],
        "also": ["targetArticleNumber", "targetArticleList", "articleListItems"],
        "values": "text",
        "discountTypes": ["PERCENTAGE", "ABSOLUTE", "UNIT_PRICE"],
        "begin": {
          "includeSubGroups": true
        },
        "words": {
          "en": {"name": "Discount on an article group", "help": "A percentage or an amount off each piece of a group, or a new price for it.", "says": ["{off} on {targets}"]},
          "de": {"name": "Rabatt auf eine Artikelgruppe", "help": "Prozente oder ein Betrag weniger je Stück einer Gruppe, oder der Preis, den es dann kostet.", "says": ["{off} auf {targets}"]}
        }
      },
      "ARTICLE_LIST": {
        "family": "articles",
        "icon": "list",
        "fields": ["discountType", "discountValue", "articleListItems"],
        "needs": [["discountType"], ["discountValue"], ["articleListItems"]],
        "more": ["selectionType", "applicationQuantityMode", "applicationQuantity", "maxDiscountAmount", "exclusions"],
        "also": ["targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "targetArticleList"],
        "values": "text",
        "discountTypes": ["PERCENTAGE", "ABSOLUTE", "UNIT_PRICE"],
        "words": {
          "en": {"name": "Discount on a list of articles", "help": "A percentage or an amount off each piece of a list; articles of the list can have their own price.", "says": ["{off} on {targets}"]},
          "de": {"name": "Rabatt auf eine Artikelliste", "help": "Prozente oder ein Betrag weniger je Stück einer Liste; Artikel der Liste können einen eigenen Preis haben.", "says": ["{off} auf {targets}"]}
        }
      },
      "QUANTITY_TIER": {
        "family": "articles",
        "icon": "measuring-point",
        "fields": ["quantityTiers"],
        "needs": [["quantityTiers"]],
        "more": ["targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "selectionType", "applicationQuantityMode", "applicationQuantity", "distributionMode", "maxDiscountAmount", "articleListItems", "exclusions"],
        "also": ["targetArticleList"],
        "values": "text",
        "discountTypes": ["PERCENTAGE", "ABSOLUTE", "UNIT_PRICE"],
        "words": {
          "en": {"name": "Discount that grows with the quantity", "help": "5 % from 3 pieces, 10 % from 6 pieces: the highest tier reached counts for all pieces.", "says": ["{quantityTiers} on {targets}"]},
          "de": {"name": "Mengenstaffel", "help": "Ab 3 Stück 5 %, ab 6 Stück 10 %: Die höchste erreichte Staffel gilt für alle Stücke.", "says": ["{quantityTiers} auf {targets}"]}
        }
      },
      "BUNDLE": {
        "family": "articles",
        "icon": "combine",
        "fields": ["bundleComponents", "discountType", "discountValue", "maxBundles"],
        "needs": [["bundleComponents"], ["discountType"], ["discountValue"]],
        "more": ["selectionType", "applicationQuantityMode", "applicationQuantity", "distributionMode", "maxDiscountAmount", "exclusions"],
        "also": ["targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "targetArticleList", "articleListItems"],
        "values": "text",
        "discountTypes": ["UNIT_PRICE", "PERCENTAGE", "ABSOLUTE"],
        "words": {
          "en": {"name": "Bundle", "help": "Buy several things together and get them for one price, or with a discount: three for two, menus, sets.", "says": ["{components} together: {off}"]},
          "de": {"name": "Bündel", "help": "Mehreres zusammen kaufen und zu einem Preis oder mit Rabatt bekommen: drei für zwei, Menüs, Sets.", "says": ["{components} zusammen: {off}"]}
        }
      },
      "FREE_ITEM": {
        "family": "articles",
        "icon": "competitor",
        "fields": ["freeItemArticleNumber", "freeItemQuantity", "restrictToOnePerBasket"],
        "needs": [["freeItemArticleNumber", "targetArticleNumber"]],
        "more": ["maxFreeUnits", "freeItemReferencePrice"],
        "also": ["targetArticleNumber"],
        "values": "text",
        "begin": {
          "freeItemQuantity": "1"
        },
        "words": {
          "en": {"name": "Free item", "help": "A free article each time the conditions are met, or once per basket.", "says": ["{freeItems} free, {once}", "{freeItems} free each time"]},
          "de": {"name": "Gratisartikel", "help": "Ein Artikel gratis, jedes Mal wenn die Bedingungen erfüllt sind, oder einmal je Warenkorb.", "says": ["{freeItems} gratis, {once}", "{freeItems} gratis, jedes Mal"]}
        }
      },
      "RECEIPT": {
        "family": "receipt",
        "icon": "receipt",
        "fields": ["discountType", "discountValue", "maxDiscountAmount"],
        "needs": [["discountType"], ["discountValue"]],
        "more": ["targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "selectionType", "applicationQuantityMode", "applicationQuantity", "distributionMode", "articleListItems", "exclusions"],
        "also": ["targetArticleList"],
        "values": "text",
        "discountTypes": ["PERCENTAGE", "ABSOLUTE"],
        "words": {
          "en": {"name": "Discount on the receipt", "help": "A percentage or an amount off the total of the receipt.", "says": ["{off} on the sum of {named}", "{off} on the receipt"]},
          "de": {"name": "Rabatt auf den Bon", "help": "Prozente oder ein Betrag weniger auf die Summe des Bons.", "says": ["{off} auf die Summe von {named}", "{off} auf den Bon"]}
        }
      },
      "SCALED_RECEIPT": {
        "family": "receipt",
        "icon": "trend-up",
        "fields": ["scaledTiers", "maxDiscountAmount"],
        "needs": [["scaledTiers"]],
        "more": ["targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "selectionType", "applicationQuantityMode", "applicationQuantity", "distributionMode", "articleListItems", "exclusions"],
        "also": ["targetArticleList"],
        "values": "text",
        "discountTypes": ["PERCENTAGE", "ABSOLUTE"],
        "words": {
          "en": {"name": "Discount that grows with the amount", "help": "It grows with the amount of the receipt: the highest tier reached counts.", "says": ["{scaledTiers} on the sum of {named}", "{scaledTiers} on the receipt"]},
          "de": {"name": "Betragsstaffel", "help": "Ab 50 so viel, ab 100 mehr Rabatt auf den Bon: Die höchste erreichte Stufe gilt.", "says": ["{scaledTiers} auf die Summe von {named}", "{scaledTiers} auf den Bon"]}
        }
      },
      "POST_PURCHASE_COUPON": {
        "family": "rewards",
        "icon": "bar-code",
        "fields": ["targetCouponType_ID"],
        "needs": [["targetCouponType_ID"]],
        "values": "text",
        "words": {
          "en": {"name": "Coupon after the purchase", "help": "The customer gets a coupon of a certain type for the next purchase.", "says": ["Coupon after the purchase: {coupon}"]},
          "de": {"name": "Coupon nach dem Kauf", "help": "Der Kunde bekommt einen Coupon eines bestimmten Typs für den nächsten Kauf.", "says": ["Coupon nach dem Kauf: {coupon}"]}
        }
      },
      "LOYALTY": {
        "family": "rewards",
        "icon": "badge",
        "fields": [],
        "needs": [],
        "values": "text",
        "words": {
          "en": {"name": "Loyalty points", "help": "Shows that points are granted; their number is set under \"Points\".", "says": ["Loyalty points, as said under Points"]},
          "de": {"name": "Treuepunkte", "help": "Sagt, dass es Punkte gibt; wie viele, steht unter „Punkte“.", "says": ["Treuepunkte, wie unter Punkte gesagt"]}
        }
      }
    },
    "LoyaltyActions": {
      "ADD_FIXED": {
        "family": "rewards",
        "icon": "add",
        "fields": ["points", "targetScope", "targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "articleListItems", "maxPoints"],
        "needs": [["points"]],
        "values": "text",
        "words": {
          "en": {"name": "Extra points", "help": "A fixed number of points.", "says": ["{points} points"]},
          "de": {"name": "Extrapunkte", "help": "Eine feste Zahl von Punkten.", "says": ["{points} Punkte"]}
        }
      },
      "CURRENCY_TO_POINTS": {
        "family": "rewards",
        "icon": "lead",
        "fields": ["points", "currencyAmount", "targetScope", "targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "articleListItems", "maxPoints"],
        "needs": [["points"], ["currencyAmount"]],
        "values": "text",
        "words": {
          "en": {"name": "Points for money spent", "help": "A number of points for each full amount that is left to pay.", "says": ["{points} points for each full {currencyAmount}"]},
          "de": {"name": "Punkte für Umsatz", "help": "So viele Punkte für jeden vollen Betrag, der zu zahlen bleibt.", "says": ["{points} Punkte für jede vollen {currencyAmount}"]}
        }
      },
      "MULTIPLY_POINTS": {
        "family": "rewards",
        "icon": "decline",
        "fields": ["multiplier", "targetScope", "targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "articleListItems", "maxPoints"],
        "needs": [["multiplier"]],
        "values": "text",
        "words": {
          "en": {"name": "Multiply points", "help": "Multiplies the points earned so far.", "says": ["Points earned so far times {multiplier}"]},
          "de": {"name": "Punkte vervielfachen", "help": "Die bisher gesammelten Punkte mal eine Zahl.", "says": ["Bisher gesammelte Punkte mal {multiplier}"]}
        }
      },
      "SUBTRACT_POINTS": {
        "family": "rewards",
        "icon": "less",
        "fields": ["points", "targetScope", "targetArticleNumber", "targetArticleGroupId", "includeSubGroups", "articleListItems"],
        "needs": [["points"]],
        "values": "text",
        "words": {
          "en": {"name": "Take points", "help": "Deducts a number of points, never below zero.", "says": ["{points} points fewer"]},
          "de": {"name": "Punkte abziehen", "help": "So viele Punkte weniger, nie unter null.", "says": ["{points} Punkte weniger"]}
        }
      }
    }
  };

  return made;
});
