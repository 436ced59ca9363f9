sap.ui.define([], function () {
  "use strict";

  /**
   * What other systems call our fields, in English and German, as `Mapping.plain` writes names. The labels of our own
   * metadata are not among them: they are known anyway.
   */
  const WORDS = {
    articleNumber:
      "article articlecode articleid articleno articlenr item " +
      "itemcode itemid itemno itemnumber sku product productcode " +
      "productid productno productnumber material materialnumber matnr plu artikel artikelcode artikelid artikelnr " +
      "artikelno artnr artno materialnummer materialnr produkt produktnummer produktnr bestellnummer bestellnr",
    ean: "gtin gtin8 gtin12 gtin13 gtin14 ean8 ean13 eancode eannummer eannr ean11 barcode upc strichcode",
    name:
      "title titel text label articlename " +
      "itemname productname articletext bezeichner artikelbezeichnung artikelname " +
      "artikeltext produktbezeichnung produktname kurztext kurzbezeichnung materialkurztext maktx shorttext",
    description:
      "details longtext langtext artikelbeschreibung produktbeschreibung productdescription beschreibungstext",
    basePrice:
      "price preis vk vkpreis verkaufspreis listprice listenpreis retailprice salesprice sellingprice regularprice " +
      "normalpreis ladenpreis bruttopreis grossprice uvp rrp msrp einzelpreis",
    currency: "currencycode isocurrency curr waers waehrungscode waehrungsschluessel waehrungskuerzel",
    unit:
      "uom unitofmeasure salesunit baseunit meins " +
      "me einheitencode mengeneinheit basismengeneinheit verkaufseinheit",
    manufacturer: "brand vendor producer maker marke hersteller herstellername manufacturername",
    manufacturerId: "manufacturerno manufacturernumber vendorid herstellernr herstellerid",
    category: "productcategory itemcategory sortiment kategorie produktkategorie artikelkategorie",
    articleGroupId:
      "articlegroup productgroup materialgroup merchandisecategory " +
      "matkl warengruppe warengruppennummer warengruppennr " +
      "wgr artikelgruppe artikelgruppennr artikelgruppenid produktgruppe",
    groupId: "group groupno groupnumber groupcode gruppe gruppennr gruppenid warengruppe wgr warengruppennummer matkl",
    isActive: "active enabled aktiv istaktiv",
    code:
      "number no nr nummer key id couponcode vouchercode voucher coupon gutscheincode gutschein gutscheinnummer " +
      "aktionscode promotioncode promocode kurzzeichen",
    customerId: "customer customerno customernumber kunde kundennummer kundennr kundenid",
    validFrom: "from start startdate startsat begin begins validsince von ab beginn startdatum gueltigab",
    validTo: "to until end enddate endsat ends validuntil validthru bis ende enddatum gueltigbis",
    validUntil:
      "to until end enddate expires expiry expirydate expiresat validto bis ende enddatum ablaufdatum gueltigbis",
    priority: "rank rang prioritaet",
    totalAmount: "budget amount total betrag summe gesamtbetrag budgetbetrag",
    country: "countrycode land laendercode",
    timeZone: "tz zeitzone",
    email: "mail emailaddress mailadresse emailadresse",
    phone: "phonenumber telephone tel telefon telefonnummer",
    contactName: "contact contactperson kontakt ansprechpartner",
    externalReference: "reference ref externalid referenz fremdschluessel"
  };
  const NAMES = new Map(Object.entries(WORDS).map(([field, words]) => [field, words.split(" ")]));

  return {
    /** What else a field is called. */
    of: (field) => NAMES.get(field) || []
  };
});
