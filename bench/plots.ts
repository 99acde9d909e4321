/**
 * `npm run plots`: draws docs/performance/*.svg from the kept run beside them, docs/performance/run.jsonl: lines as
 * `npm run bench -- --json` and `npm run load -- soakPace` print them, each soak with its own name as `scenario`. Nothing else
 * goes in, so that a plot shows what was measured.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Figure } from "./figures.ts";

/** A line of test/load/soakPace. */
interface MemoryPoint {
  readonly scenario: string;
  readonly minute: number;
  readonly rssMb: number;
}

type Line = Figure | MemoryPoint;

/** Benches whose figures stand beside each other, in one unit. */
const BARS: readonly {
  readonly name: string;
  readonly title: string;
  readonly benches: readonly string[];
  readonly unit: string;
}[] = [
  {
    name: "latency",
    title: "Requests, each beside its alternative (median, ms)",
    benches: ["native", "http"],
    unit: "ms",
  },
  { name: "waits", title: "From printed to told (median, ms)", benches: ["waitLatency"], unit: "ms" },
  { name: "fanout", title: "10 MB/s handed on (% of a core)", benches: ["fanout"], unit: "% of a core" },
];
const MEMORY = { name: "memory", title: "Memory at a steady pace (resident, MB)" };

/** The SVGs by their names. @param run JSON lines @throws Error when a plot has nothing to show */
export function plotsOf(run: string): ReadonlyMap<string, string> {
  const lines = run
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
  const figures = lines.filter((line): line is Figure => "bench" in line);
  const points = lines.filter((line): line is MemoryPoint => "minute" in line);
  const plots = new Map<string, string>();
  for (const { name, title, benches, unit } of BARS) {
    const shown = figures.filter((figure) => benches.includes(figure.bench) && figure.unit === unit);
    if (shown.length === 0) throw new Error(`${name}: no figure of ${benches.join(", ")} in ${unit}`);
    plots.set(name, barsOf(title, shown));
  }
  if (points.length < 2) throw new Error(`${MEMORY.name}: fewer than two points`);
  return plots.set(MEMORY.name, lineOf(MEMORY.title, points));
}

const WIDTH = 880;
const LEFT = 450;
const RIGHT = 90;
const ROW = 46;
const TOP = 44;

/** Two bars a figure, on a logarithmic scale: a tenth and ten times are as far apart anywhere. */
function barsOf(title: string, figures: readonly Figure[]): string {
  const values = figures.flatMap(({ median, baseline }) => [median, baseline.median]);
  const [least, most] = [Math.log10(Math.min(...values)) - 0.3, Math.log10(Math.max(...values))];
  const lengthOf = (value: number): number => ((Math.log10(value) - least) / (most - least)) * (WIDTH - LEFT - RIGHT);
  const bar = (y: number, kind: string, name: string, value: number): string => {
    const length = lengthOf(value).toFixed(1);
    return (
      `<text x="${LEFT - 8}" y="${y + 11}" text-anchor="end" class="${kind}">${escaped(name)}</text>` +
      `<rect x="${LEFT}" y="${y}" width="${length}" height="13" class="${kind}"/>` +
      `<text x="${(LEFT + Number(length) + 5).toFixed(1)}" y="${y + 11}" class="${kind}">${value}</text>`
    );
  };
  const rows = figures.map(({ figure, median, baseline }, at) => {
    const y = TOP + at * ROW;
    return bar(y, "ours", figure, median) + bar(y + 16, "other", baseline.name, baseline.median);
  });
  return svg(title, TOP + figures.length * ROW, rows);
}

const CHART = { width: WIDTH - 130, height: 220, left: 60 };

function lineOf(title: string, points: readonly MemoryPoint[]): string {
  const runs = [...new Set(points.map(({ scenario }) => scenario))];
  const lastMinute = Math.max(...points.map(({ minute }) => minute));
  const topMb = Math.ceil(Math.max(...points.map(({ rssMb }) => rssMb)) / 50) * 50;
  const x = (minute: number): number => CHART.left + (minute / lastMinute) * CHART.width;
  const y = (mb: number): number => TOP + CHART.height - (mb / topMb) * CHART.height;
  const marks = Array.from({ length: topMb / 50 + 1 }, (_, at) => at * 50).map(
    (mb) =>
      `<line x1="${CHART.left}" x2="${CHART.left + CHART.width}" y1="${y(mb).toFixed(1)}" y2="${y(mb).toFixed(1)}" class="grid"/>` +
      `<text x="${CHART.left - 8}" y="${(y(mb) + 4).toFixed(1)}" text-anchor="end">${mb}</text>`,
  );
  const minutes = [0, lastMinute / 2, lastMinute].map(
    (minute) =>
      `<text x="${x(minute).toFixed(1)}" y="${TOP + CHART.height + 18}" text-anchor="middle">${Math.round(minute)} min</text>`,
  );
  const curves = runs.map((run, at) => {
    const of = points.filter(({ scenario }) => scenario === run);
    const path = of.map(({ minute, rssMb }) => `${x(minute).toFixed(1)},${y(rssMb).toFixed(1)}`).join(" ");
    const kind = at === 0 ? "ours" : "other";
    return (
      `<polyline points="${path}" class="${kind}"/>` +
      `<text x="${x(lastMinute / 2).toFixed(1)}" y="${(y(of.at(-1)!.rssMb) - 8).toFixed(1)}" text-anchor="middle" class="${kind}">${escaped(run)}</text>`
    );
  });
  return svg(title, TOP + CHART.height + 30, [...marks, ...minutes, ...curves]);
}

/** Readable on a light page and on a dark one. */
const STYLE =
  "text{font:12px system-ui,sans-serif;fill:#777}.title{font-size:15px;font-weight:600}" +
  "text.ours{fill:#1a7f5a}rect.ours{fill:#2aa876}rect.other{fill:#999}" +
  "polyline{fill:none;stroke-width:2}polyline.ours{stroke:#2aa876}polyline.other{stroke:#999}.grid{stroke:#8884}";

const svg = (title: string, height: number, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">\n` +
  `<style>${STYLE}</style>\n<text x="8" y="22" class="title">${escaped(title)}</text>\n${parts.join("\n")}\n</svg>\n`;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const FOLDER = "docs/performance";

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [name, plot] of plotsOf(readFileSync(join(FOLDER, "run.jsonl"), "utf8")))
    writeFileSync(join(FOLDER, `${name}.svg`), plot);
}
