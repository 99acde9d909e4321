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

type Part = { readonly text: string } | { readonly token: DisplayToken };

/** A token is as many letters as follow. @throws AppError INVALID_ARGUMENT */
export function parseFormat(format: string): readonly Part[] {
  return [...format.matchAll(/%%|%[A-Za-z]+|%|[^%]+/g)].map(([part]): Part => {
    if (!part.startsWith("%")) return { text: part };
    if (part === "%%") return { text: "%" };
    const token = DISPLAY_TOKENS.find((one) => `%${one}` === part);
    if (token !== undefined) return { token };
    throw new AppError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(part.slice(0, 80))} is not a token: %% is a percent sign, tokens are ${DISPLAY_TOKENS.map((one) => `%${one}`).join(" ")}`,
    );
  });
}

export const tokensOf = (parts: readonly Part[]): ReadonlySet<DisplayToken> =>
  new Set(parts.flatMap((part) => ("token" in part ? [part.token] : [])));

/** A missing value is empty. */
export const rendered = (parts: readonly Part[], values: Readonly<Partial<Record<DisplayToken, string>>>): string =>
  parts.map((part) => ("text" in part ? part.text : (values[part.token] ?? ""))).join("");
