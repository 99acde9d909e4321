/**
 * What `send-keys` types for its tokens, left to right: a token that names a key is that key; any other token is text, typed
 * unchanged, with nothing in between. Names are tmux's, in upper or lower case (seed 002 §8.1). Literal tokens are text
 * joined with one space.
 */

/** Parts of an input job; adjacent tokens of one kind are one part. */
type KeyTokenPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "keys"; readonly keys: readonly string[] };

/** In tmux's spelling. */
export const KEY_NAMES = [
  ..."Enter Tab BTab BSpace Escape Space Up Down Left Right Home End PageUp PageDown IC DC".split(" "),
  ...Array.from({ length: 12 }, (_, index) => `F${index + 1}`),
] as const;

const NAMES: ReadonlyMap<string, string> = new Map(KEY_NAMES.map((name) => [name.toLowerCase(), name]));
const MODIFIERS = /^(?:[CMS]-)+(?=.)/i;
/** The characters that Control changes. */
const CONTROLLED = /^[a-z@[\\\]^_?]$/i;

export function keyTokenParts(tokens: readonly string[], literal: boolean): KeyTokenPart[] {
  if (literal) return partsOf([tokens.join(" ")], () => undefined);
  return partsOf(tokens, keyOf);
}

/** The key that a token names, as tmux's `send-keys` takes it; undefined if the token is text. */
export function keyOf(token: string): string | undefined {
  const given = MODIFIERS.exec(token)?.[0] ?? "";
  const [modifiers, base] = [given.toUpperCase(), token.slice(given.length)];
  const name = NAMES.get(base.toLowerCase());
  if (name !== undefined) return modifiers + name;
  // Shift gives another character, so `S-a` is not a key and is typed as text.
  if (modifiers === "" || modifiers.includes("S")) return undefined;
  if (!modifiers.includes("C")) return /^[!-~]$/.test(base) ? modifiers + base : undefined;
  return CONTROLLED.test(base) ? modifiers + base.toLowerCase() : undefined;
}

function partsOf(tokens: readonly string[], key: (token: string) => string | undefined): KeyTokenPart[] {
  const parts: ({ kind: "text"; text: string } | { kind: "keys"; keys: string[] })[] = [];
  for (const token of tokens) {
    if (token === "") continue;
    const last = parts.at(-1);
    const name = key(token);
    if (name !== undefined) {
      if (last?.kind === "keys") last.keys.push(name);
      else parts.push({ kind: "keys", keys: [name] });
    } else if (last?.kind === "text") last.text += token;
    else parts.push({ kind: "text", text: token });
  }
  return parts;
}
