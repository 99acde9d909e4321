/** When nothing is sent: a range of the day, by this machine's clock. */

/** @param quiet such as `22:00-07:00`; undefined: none */
export function isAllowedAt(quiet: string | undefined, unixMs: number): boolean {
  const range = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(quiet ?? "");
  if (range === null) return true;
  const [from = 0, fromMinute = 0, to = 0, toMinute = 0] = range.slice(1).map(Number);
  const now = new Date(unixMs);
  const minute = now.getHours() * 60 + now.getMinutes();
  const [start, end] = [from * 60 + fromMinute, to * 60 + toMinute];
  return start <= end ? minute < start || minute >= end : minute < start && minute >= end;
}
