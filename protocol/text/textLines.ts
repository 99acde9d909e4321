/**
 * The lines of a text that comes in pieces. A line ends with LF alone: `node:readline` of Node 24 also ends one at U+2028 and
 * U+2029, which a text in a line of JSON may hold.
 */
export async function* textLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of pieces) {
    const [first = "", ...others] = decoder.decode(piece, { stream: true }).split("\n");
    rest += first;
    for (const line of others) {
      yield rest;
      rest = line;
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
