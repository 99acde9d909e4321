/** A recording as a picture (SVG) for documents: what stands on its screen at the end. */
import xterm from "@xterm/headless";

const CELL = { width: 8.4, height: 19 };
const PAD = { x: 18, top: 44, bottom: 16 };

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** @param cast an asciicast file (version 2), as `tmuxwire rec` writes it, of a shell whose prompt is `$ ` */
export async function pictureOf(cast: string): Promise<string> {
  const [head, ...events] = cast
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line)) as [Readonly<Record<string, unknown>>, ...[number, string, string][]];
  const { width: cols, height: rows, title } = head as { width: number; height: number; title: string };
  const terminal = new xterm.Terminal({ cols, rows, allowProposedApi: true });
  const output = events.filter(([, kind]) => kind === "o").map(([, , data]) => data);
  await new Promise<void>((resolve) => terminal.write(output.join(""), resolve));
  const screen = Array.from(
    { length: rows },
    (_, y) => terminal.buffer.active.getLine(y)?.translateToString(true) ?? "",
  );
  terminal.dispose();
  const shown = screen.slice(0, screen.findLastIndex((text) => !["", "$"].includes(text.trim())) + 1);
  const width = Math.round(cols * CELL.width + 2 * PAD.x);
  const height = shown.length * CELL.height + PAD.top + PAD.bottom;
  const drawn = shown.map((text, y) => {
    const typed = text.startsWith("$ ");
    const inner = typed ? `<tspan class="prompt">$ </tspan>${escaped(text.slice(2))}` : escaped(text);
    const style = typed ? ' class="typed"' : "";
    return `<text x="${PAD.x}" y="${PAD.top + y * CELL.height + 14}"${style}>${inner}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #c9d1d9; white-space: pre; }
.title { fill: #8b949e; } .typed { fill: #fff; } .prompt { fill: #7ee787; }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
<text class="title" x="${width / 2}" y="25" text-anchor="middle">${escaped(title)}</text>
${drawn.join("\n")}
</svg>
`;
}
