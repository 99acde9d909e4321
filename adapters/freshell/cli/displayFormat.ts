/** The format of `display` (seed 002 §8.7): `%` with a word stands for a value of a pane, `%%` for a percent sign. */
import { AppError } from "../../../protocol/errors.ts";

export const DISPLAY_TOKENS = [
  "deviceId",
  "tabId",
  "tabTitle",
  "paneId",
  "paneKind",
  "terminalId",
  "sessionRef",
  "ownerOnline",
  "workspaceRevision",
] as const;
export type DisplayToken = (typeof DISPLAY_TOKENS)[number];

/** A token is as many letters as follow. */
const TOKEN = /%(%|[A-Za-z]*)/g;

/** The tokens of a format. @throws AppError INVALID_ARGUMENT */
export function tokensOf(format: string): ReadonlySet<DisplayToken> {
  const names = [...format.matchAll(TOKEN)].map(([, name = ""]) => name).filter((name) => name !== "%");
  const wrong = names.find((name) => !(DISPLAY_TOKENS as readonly string[]).includes(name));
  if (wrong === undefined) return new Set(names as DisplayToken[]);
  const known = DISPLAY_TOKENS.map((one) => `%${one}`).join(" ");
  throw new AppError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(`%${wrong}`.slice(0, 80))} is not a token: %% is a percent sign, tokens are ${known}`,
  );
}

/** A missing value is empty. */
export const rendered = (format: string, values: Readonly<Partial<Record<DisplayToken, string>>>): string =>
  format.replaceAll(TOKEN, (_, name: string) => (name === "%" ? "%" : (values[name as DisplayToken] ?? "")));
