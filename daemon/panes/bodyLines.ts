/** A captured body as its lines; each ends with a line feed. */
const utf8 = new TextDecoder();

export function linesOf(body: Uint8Array): string[] {
  const lines = utf8.decode(body).split("\n");
  lines.pop();
  return lines;
}
