"""The texts of the condition types, in every language."""

from __future__ import annotations

from collections.abc import Mapping

from promenade.model.texts.rules import RuleTexts, RuleWords

CONDITIONS: Mapping[str, RuleWords] = {
    "ARTICLE": RuleWords(
        description="An article is in the basket.",
        summary=("{articles}", "an article whose number {test}"),
        en=RuleTexts(
            "Article",
            "A certain article is in the basket, optionally with a minimum quantity or amount.",
            ("{articles}", "Article {test}", "…"),
        ),
        de=RuleTexts(
            "Artikel",
            "Ein bestimmter Artikel liegt im Warenkorb, auf Wunsch ab einer Stückzahl oder einem Betrag.",
            ("{articles}", "Artikel {test}", "…"),
        ),
    ),
    "ARTICLE_GROUP": RuleWords(
        description="An article of a group is in the basket.",
        summary=("an article of {groups}{below}", "an article of an article group whose number {test}{below}"),
        en=RuleTexts(
            "Article group",
            "Articles of a group are in the basket, optionally also of the groups below it.",
            ("{group}", "Article group {test}", "Article group …"),
        ),
        de=RuleTexts(
            "Artikelgruppe",
            "Artikel einer Gruppe liegen im Warenkorb, auf Wunsch auch aus den Gruppen darunter.",
            ("{group}", "Artikelgruppe {test}", "Artikelgruppe …"),
        ),
    ),
    "ARTICLE_LIST": RuleWords(
        description="An article of a list is in the basket.",
        summary=("{articles}", "an article whose number {test}"),
        en=RuleTexts(
            "List of articles",
            "Any of several articles is in the basket; pieces and amounts of all of them add up.",
            ("{articles}", "Article {test}", "…"),
        ),
        de=RuleTexts(
            "Artikelliste",
            "Einer von mehreren Artikeln liegt im Warenkorb; Stückzahlen und Beträge aller werden zusammengezählt.",
            ("{articles}", "Artikel {test}", "…"),
        ),
    ),
    "CUSTOMER_GROUP": RuleWords(
        description="The customer belongs to a group.",
        en=RuleTexts("Customer group", "The customer belongs to one of these groups.", "Customer group {test}"),
        de=RuleTexts("Kundengruppe", "Der Kunde gehört zu einer dieser Gruppen.", "Kundengruppe {test}"),
    ),
    "RECEIPT_AMOUNT": RuleWords(
        description="The basket is worth an amount.",
        summary="Basket is worth {amount}",
        en=RuleTexts(
            "Receipt amount",
            "The value of the basket is at least or at most an amount, or between two amounts.",
            "Receipt amount {amount}",
        ),
        de=RuleTexts(
            "Bonbetrag",
            "Der Warenkorb ist mindestens so viel wert, höchstens so viel oder liegt zwischen zwei Beträgen.",
            "Bonbetrag {amount}",
        ),
    ),
    "ITEM_QUANTITY": RuleWords(
        description="The basket holds a number of items.",
        summary="Basket holds {pieces}",
        en=RuleTexts(
            "Number of pieces",
            "A number of pieces is in the basket. Together with conditions on articles, only their pieces count.",
            "Number of pieces {count}",
        ),
        de=RuleTexts(
            "Stückzahl",
            "So viele Stück liegen im Warenkorb. Zusammen mit Bedingungen an Artikel zählen nur deren Stücke.",
            "Stückzahl {count}",
            code="Positionsmenge",
        ),
    ),
    "PAYMENT_MEANS": RuleWords(
        description="The basket is paid with a certain means of payment.",
        en=RuleTexts(
            "Means of payment",
            "The basket is paid with one of these means of payment, such as CASH or CARD.",
            "Means of payment {test}",
        ),
        de=RuleTexts(
            "Zahlungsmittel",
            "Bezahlt wird mit einem dieser Zahlungsmittel, etwa CASH oder CARD.",
            "Zahlungsmittel {test}",
        ),
    ),
    "PAYMENT_CARD": RuleWords(
        description="The basket is paid with a certain type of card.",
        en=RuleTexts(
            "Kind of card", "The basket is paid with a card of one of these types, such as VISA.", "Kind of card {test}"
        ),
        de=RuleTexts(
            "Kartenart", "Bezahlt wird mit einer Karte dieser Art, etwa VISA.", "Kartenart {test}", code="Zahlungskarte"
        ),
    ),
    "CUSTOMER": RuleWords(
        description="The customer has a certain ID.",
        en=RuleTexts("Customer", "Only these customers, by their ID.", "Customer {test}"),
        de=RuleTexts("Kunde", "Nur diese Kunden, nach ihrer Nummer.", "Kunde {test}"),
    ),
    "MANUFACTURER": RuleWords(
        description="An article of a manufacturer is in the basket.",
        summary=("an article of {manufacturers}", "an article of a manufacturer whose name {test}"),
        en=RuleTexts(
            "Manufacturer",
            "Articles of a manufacturer are in the basket.",
            ("Manufacturer {manufacturer}", "Manufacturer {test}", "Manufacturer …"),
        ),
        de=RuleTexts(
            "Hersteller",
            "Artikel eines Herstellers liegen im Warenkorb.",
            ("Hersteller {manufacturer}", "Hersteller {test}", "Hersteller …"),
        ),
    ),
    "ADDITIONAL_FIELD": RuleWords(
        description="A line has a certain additional field.",
        summary="an article whose field {field} {test}",
        en=RuleTexts(
            "Field of the line",
            "Lines of the basket have a certain value in an additional field that the till sends.",
            "Line whose field {field} {test}",
        ),
        de=RuleTexts(
            "Feld der Position",
            "Positionen des Warenkorbs tragen einen bestimmten Wert in einem Zusatzfeld, das die Kasse schickt.",
            "Position, deren Feld {field} {test}",
            code="Zusatzfeld",
        ),
    ),
    "CREDIT_CARD_BIN": RuleWords(
        description="The card's number starts with certain digits.",
        code="Credit card BIN",
        summary=("Card number {prefix}", "The first digits of the card number {digits}"),
        en=RuleTexts(
            "First digits of the card",
            "The card number starts with these digits (up to eight), for example for cards of a certain bank.",
            "Number of the card {test}",
        ),
        de=RuleTexts(
            "Erste Ziffern der Karte",
            "Die Kartennummer beginnt mit diesen Ziffern, höchstens acht: Karten einer bestimmten Bank.",
            "Kartennummer {test}",
            code="Kreditkarten-BIN",
        ),
    ),
    "USER_DEFINED": RuleWords(
        description="The request has a certain user-defined field.",
        summary="Field {field} of the sale {test}",
        en=RuleTexts(
            "Field of the request", "The till sends a user-defined field with a certain value.", "Field {field} {test}"
        ),
        de=RuleTexts(
            "Feld der Anfrage",
            "Die Kasse schickt ein eigenes Feld mit einem bestimmten Wert.",
            "Feld {field} {test}",
            code="Benutzerdefiniert",
        ),
    ),
    "LOYALTY_ACCOUNT": RuleWords(
        description="The customer's loyalty tier or points.",
        summary=("Customer has {points} loyalty points", "Loyalty tier {test}"),
        en=RuleTexts(
            "Loyalty account",
            "The customer has a certain tier of the loyalty programme, or a certain number of points.",
            ("Loyalty points {points}", "Loyalty tier {test}"),
        ),
        de=RuleTexts(
            "Treuekonto",
            "Der Kunde hat eine bestimmte Stufe des Treueprogramms oder so viele Punkte.",
            ("Treuepunkte {points}", "Treuestufe {test}"),
        ),
    ),
    "MANUAL_DISCOUNT": RuleWords(
        description="The till gave a manual discount.",
        summary=("The till gave a manual discount whose reason {test}", "The till gave a manual discount"),
        en=RuleTexts(
            "Manual discount",
            "The cashier gave a manual discount, optionally for one of these reasons.",
            ("Reason of the manual discount {test}", "The cashier gave a manual discount"),
        ),
        de=RuleTexts(
            "Manueller Rabatt",
            "An der Kasse wurde ein manueller Rabatt gegeben, auf Wunsch aus einem dieser Gründe.",
            ("Grund des manuellen Rabatts {test}", "An der Kasse wurde ein manueller Rabatt gegeben"),
        ),
    ),
    "CHANNEL": RuleWords(
        description="The basket comes from a channel.",
        en=RuleTexts(
            "Channel",
            "The sale is made through one of these channels, such as IN_STORE, ONLINE or MOBILE.",
            "Channel {test}",
        ),
        de=RuleTexts(
            "Kanal",
            "Verkauft wird über einen dieser Kanäle, etwa IN_STORE, ONLINE oder MOBILE.",
            "Kanal {test}",
            code="Vertriebskanal",
        ),
    ),
    "TIME_WINDOW": RuleWords(
        description="The sale is made at a certain time of day, on certain weekdays.",
        summary="{hours}",
        en=RuleTexts(
            "Time of day and weekdays",
            "Between two times of day, on certain weekdays, in the store's time zone. It may run past midnight.",
            "Bought {when}",
        ),
        de=RuleTexts(
            "Uhrzeit und Wochentage",
            "Zwischen zwei Uhrzeiten, an bestimmten Wochentagen, nach der Uhr der "
            "Filiale. Auch über Mitternacht hinaus.",
            "Gekauft {when}",
            code="Zeitfenster",
        ),
    ),
    "TIME_PERIOD": RuleWords(
        description="The sale is made in a range of dates.",
        summary=(
            "On {day}",
            "From {dateFrom} until {dateTo}",
            "From {dateFrom} on",
            "Until {dateTo}",
            "Date is (not given)",
        ),
        en=RuleTexts(
            "Range of dates",
            "From a first to a last day, both inclusive; either may be left open.",
            ("Bought from {dateFrom} until {dateTo}", "Bought until {dateTo}", "Bought from {dateFrom}"),
        ),
        de=RuleTexts(
            "Zeitraum",
            "Von einem Tag bis zu einem anderen, beide eingeschlossen; jeder von beiden kann offen bleiben.",
            ("Gekauft vom {dateFrom} bis zum {dateTo}", "Gekauft bis {dateTo}", "Gekauft ab {dateFrom}"),
        ),
    ),
}
"""Words of the condition types, in the order of the code list ConditionTypes."""
