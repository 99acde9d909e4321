/** Durations for people, short enough for a card. */

const MINUTE_SEC = 60;
const HOUR_SEC = 3_600;
const DAY_SEC = 86_400;

/** `now`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`; never negative, even if the clocks differ. */
export function ageText(sinceUnixMs: number, nowUnixMs: number): string {
  const sec = Math.max(0, Math.floor((nowUnixMs - sinceUnixMs) / 1_000));
  if (sec < 1) return "now";
  if (sec < MINUTE_SEC) return `${sec} s`;
  if (sec < HOUR_SEC) return pair(sec, MINUTE_SEC, "min", 1, "s");
  if (sec < DAY_SEC) return pair(sec, HOUR_SEC, "h", MINUTE_SEC, "min");
  return pair(sec, DAY_SEC, "d", HOUR_SEC, "h");
}

function pair(sec: number, largeSec: number, large: string, smallSec: number, small: string): string {
  const rest = Math.floor((sec % largeSec) / smallSec);
  return `${Math.floor(sec / largeSec)} ${large}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}
