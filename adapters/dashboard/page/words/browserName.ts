/** What a browser is called in the list of channels, from what it says of itself. */

const BROWSERS = [
  [/Edg/, "edge"],
  [/OPR|Opera/, "opera"],
  [/Firefox|FxiOS/, "firefox"],
  [/Chrom|CriOS/, "chrome"],
  [/Safari/, "safari"],
] as const;
const SYSTEMS = [
  [/Android/, "android"],
  [/iPhone|iPad/, "ios"],
  [/Mac OS/, "mac"],
  [/Windows/, "windows"],
  [/CrOS/, "chromeos"],
  [/Linux/, "linux"],
] as const;

/** `chrome-android`. */
export const browserName = (userAgent: string): string =>
  [BROWSERS, SYSTEMS]
    .map((known) => known.find(([pattern]) => pattern.test(userAgent))?.[1])
    .filter((word) => word !== undefined)
    .join("-") || "browser";
