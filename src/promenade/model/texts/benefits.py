"""The texts of the action types and the loyalty action types, in every language."""

from __future__ import annotations

from collections.abc import Mapping

from promenade.model.texts.rules import RuleTexts, RuleWords

ACTIONS: Mapping[str, RuleWords] = {
    "ARTICLE": RuleWords(
        description="A discount on an article.",
        en=RuleTexts(
            "Discount on an article",
            "A percentage or an amount off each piece, or a new price for it. Without an article, "
            "the discount applies to all lines that met the conditions.",
            "{off} on {targets}",
        ),
        de=RuleTexts(
            "Rabatt auf einen Artikel",
            "Prozente oder ein Betrag weniger je Stück, oder der Preis, den es dann kostet. Ohne "
            "Artikel: auf alles, was die Bedingungen erfüllt.",
            "{off} auf {targets}",
            code="Artikel",
        ),
    ),
    "ARTICLE_GROUP": RuleWords(
        description="A discount on an article group.",
        en=RuleTexts(
            "Discount on an article group",
            "A percentage or an amount off each piece of a group, or a new price for it.",
            "{off} on {targets}",
        ),
        de=RuleTexts(
            "Rabatt auf eine Artikelgruppe",
            "Prozente oder ein Betrag weniger je Stück einer Gruppe, oder der Preis, den es dann kostet.",
            "{off} auf {targets}",
            code="Artikelgruppe",
        ),
    ),
    "ARTICLE_LIST": RuleWords(
        description="A discount on a list of articles.",
        en=RuleTexts(
            "Discount on a list of articles",
            "A percentage or an amount off each piece of a list; articles of the list can have their own price.",
            "{off} on {targets}",
        ),
        de=RuleTexts(
            "Rabatt auf eine Artikelliste",
            "Prozente oder ein Betrag weniger je Stück einer Liste; Artikel der "
            "Liste können einen eigenen Preis haben.",
            "{off} auf {targets}",
            code="Artikelliste",
        ),
    ),
    "RECEIPT": RuleWords(
        description="A discount on the receipt.",
        en=RuleTexts(
            "Discount on the receipt",
            "A percentage or an amount off the total of the receipt.",
            ("{off} on the sum of {named}", "{off} on the receipt"),
        ),
        de=RuleTexts(
            "Rabatt auf den Bon",
            "Prozente oder ein Betrag weniger auf die Summe des Bons.",
            ("{off} auf die Summe von {named}", "{off} auf den Bon"),
            code="Bon",
        ),
    ),
    "SCALED_RECEIPT": RuleWords(
        description="A discount on the receipt that grows with its amount.",
        en=RuleTexts(
            "Discount that grows with the amount",
            "It grows with the amount of the receipt: the highest tier reached counts.",
            ("{scaledTiers} on the sum of {named}", "{scaledTiers} on the receipt"),
        ),
        de=RuleTexts(
            "Betragsstaffel",
            "Ab 50 so viel, ab 100 mehr Rabatt auf den Bon: Die höchste erreichte Stufe gilt.",
            ("{scaledTiers} auf die Summe von {named}", "{scaledTiers} auf den Bon"),
            code="Betragsstaffel auf den Bon",
        ),
    ),
    "BUNDLE": RuleWords(
        description="A discount on articles bought together.",
        en=RuleTexts(
            "Bundle",
            "Buy several things together and get them for one price, or with a discount: three for two, menus, sets.",
            "{components} together: {off}",
        ),
        de=RuleTexts(
            "Bündel",
            "Mehreres zusammen kaufen und zu einem Preis oder mit Rabatt bekommen: drei für zwei, Menüs, Sets.",
            "{components} zusammen: {off}",
        ),
    ),
    "POST_PURCHASE_COUPON": RuleWords(
        description="A coupon after the purchase.",
        en=RuleTexts(
            "Coupon after the purchase",
            "The customer gets a coupon of a certain type for the next purchase.",
            "Coupon after the purchase: {coupon}",
        ),
        de=RuleTexts(
            "Coupon nach dem Kauf",
            "Der Kunde bekommt einen Coupon eines bestimmten Typs für den nächsten Kauf.",
            "Coupon nach dem Kauf: {coupon}",
        ),
    ),
    "LOYALTY": RuleWords(
        description="Loyalty points.",
        en=RuleTexts(
            "Loyalty points",
            'Shows that points are granted; their number is set under "Points".',
            "Loyalty points, as said under Points",
        ),
        de=RuleTexts(
            "Treuepunkte",
            "Sagt, dass es Punkte gibt; wie viele, steht unter „Punkte“.",
            "Treuepunkte, wie unter Punkte gesagt",
            code="Treueprogramm",
        ),
    ),
    "QUANTITY_TIER": RuleWords(
        description="A discount that grows with the quantity.",
        en=RuleTexts(
            "Discount that grows with the quantity",
            "5 % from 3 pieces, 10 % from 6 pieces: the highest tier reached counts for all pieces.",
            "{quantityTiers} on {targets}",
        ),
        de=RuleTexts(
            "Mengenstaffel",
            "Ab 3 Stück 5 %, ab 6 Stück 10 %: Die höchste erreichte Staffel gilt für alle Stücke.",
            "{quantityTiers} auf {targets}",
        ),
    ),
    "FREE_ITEM": RuleWords(
        description="A free item.",
        en=RuleTexts(
            "Free item",
            "A free article each time the conditions are met, or once per basket.",
            ("{freeItems} free, {once}", "{freeItems} free each time"),
        ),
        de=RuleTexts(
            "Gratisartikel",
            "Ein Artikel gratis, jedes Mal wenn die Bedingungen erfüllt sind, oder einmal je Warenkorb.",
            ("{freeItems} gratis, {once}", "{freeItems} gratis, jedes Mal"),
        ),
    ),
}
"""Words of the action types, in the order of the code list ActionTypes."""

LOYALTY_ACTIONS: Mapping[str, RuleWords] = {
    "ADD_FIXED": RuleWords(
        description="Adds a number of points.",
        en=RuleTexts("Extra points", "A fixed number of points.", "{points} points"),
        de=RuleTexts("Extrapunkte", "Eine feste Zahl von Punkten.", "{points} Punkte", code="Feste Punktzahl"),
    ),
    "MULTIPLY_POINTS": RuleWords(
        description="Multiplies the points earned so far.",
        en=RuleTexts(
            "Multiply points", "Multiplies the points earned so far.", "Points earned so far times {multiplier}"
        ),
        de=RuleTexts(
            "Punkte vervielfachen",
            "Die bisher gesammelten Punkte mal eine Zahl.",
            "Bisher gesammelte Punkte mal {multiplier}",
        ),
    ),
    "CURRENCY_TO_POINTS": RuleWords(
        description="Points for each full amount spent.",
        en=RuleTexts(
            "Points for money spent",
            "A number of points for each full amount that is left to pay.",
            "{points} points for each full {currencyAmount}",
        ),
        de=RuleTexts(
            "Punkte für Umsatz",
            "So viele Punkte für jeden vollen Betrag, der zu zahlen bleibt.",
            "{points} Punkte für jede vollen {currencyAmount}",
        ),
    ),
    "SUBTRACT_POINTS": RuleWords(
        description="Deducts points, never below zero.",
        en=RuleTexts("Take points", "Deducts a number of points, never below zero.", "{points} points fewer"),
        de=RuleTexts("Punkte abziehen", "So viele Punkte weniger, nie unter null.", "{points} Punkte weniger"),
    ),
}
"""Words of the loyalty action types, in the order of the code list LoyaltyActionTypes."""
