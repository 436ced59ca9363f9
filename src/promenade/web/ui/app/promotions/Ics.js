sap.ui.define(["promenade/generic/Clock"], function (Clock) {
  "use strict";

  /** Promotions of a calendar as a file that other calendars read (RFC 5545). */
  const OCTETS_MAX = 75;
  const PLANNED = new Set(["DRAFT", "PENDING_APPROVAL", "APPROVED"]);
  const OVER = new Set(["REJECTED", "INACTIVE", "ARCHIVED"]);

  const escaped = (text) => text.replace(/[\\;,]/g, "\\$&").replace(/\r\n|\r|\n/g, "\\n");

  /** A line in pieces that are short enough, none of which ends within a sign. */
  function folded(line) {
    const encoder = new TextEncoder();
    const pieces = [""];
    let octets = 0;
    for (const sign of line) {
      const size = encoder.encode(sign).length;
      if (octets + size > OCTETS_MAX) {
        pieces.push("");
        octets = 1; // the blank that a piece begins with
      }
      pieces[pieces.length - 1] += sign;
      octets += size;
    }
    return pieces.join("\r\n ");
  }

  const compact = (text) => text.replace(/[-:]/g, "").replace(/\.\d+/, "");
  const inUtc = (moment) => compact(new Date(moment).toISOString());

  /** Whole days have no time: every calendar shows them as these days, wherever it is. Anything else is a moment. */
  function boundsOf(from, to, zone) {
    if ([from, to].every((moment) => Clock.isBegin(moment, zone))) {
      const [first, after] = [from, to].map((moment) => compact(Clock.day(moment, zone)));
      return [`DTSTART;VALUE=DATE:${first}`, `DTEND;VALUE=DATE:${after}`];
    }
    return [`DTSTART:${inUtc(from)}`, `DTEND:${inUtc(to)}`];
  }

  function statusOf(status) {
    return PLANNED.has(status) ? "TENTATIVE" : OVER.has(status) ? "CANCELLED" : "CONFIRMED";
  }

  function eventOf(row, {from, to, zone, now, origin, describe}) {
    return [
      "BEGIN:VEVENT",
      `UID:${row.promotion_ID}@promenade`,
      `DTSTAMP:${inUtc(now)}`,
      ...boundsOf(row.startsAt || from, row.endsAt || to, zone),
      `SUMMARY:${escaped(row.promotionName)}`,
      `DESCRIPTION:${escaped(describe(row))}`,
      ...(row.campaignCode ? [`CATEGORIES:${escaped(row.campaignCode)}`] : []),
      ...(row.posGroups.length ? [`LOCATION:${escaped(row.posGroups.join(", "))}`] : []),
      `STATUS:${statusOf(row.status)}`,
      "TRANSP:TRANSPARENT",
      `URL:${origin}/#/promotion/${row.promotion_ID}`,
      "END:VEVENT"
    ];
  }

  return {
    /**
     * The text of the file. What has no begin or no end has that of the period instead, `from` and `to`; times are on
     * the clock of `zone`; `describe(row)` says what else there is to know.
     */
    of(rows, given) {
      const lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Promenade//Promotion calendar//EN",
        "CALSCALE:GREGORIAN",
        "METHOD:PUBLISH",
        ...rows
          .filter(({startsAt, endsAt}) => !startsAt || !endsAt || startsAt < endsAt)
          .flatMap((one) => eventOf(one, given)),
        "END:VCALENDAR"
      ];
      return `${lines.map(folded).join("\r\n")}\r\n`;
    }
  };
});
