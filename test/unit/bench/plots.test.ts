import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plotsOf } from "../../../bench/plots.ts";

const FOLDER = join(import.meta.dirname, "../../../docs/performance");
const kept = readFileSync(join(FOLDER, "run.jsonl"), "utf8");

test("the plots of docs/performance.md are those of the kept run", () => {
  const plots = plotsOf(kept);
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".svg"));
  expect(names.toSorted()).toEqual([...plots.keys()].map((name) => `${name}.svg`).toSorted());
  for (const [name, plot] of plots) expect(readFileSync(join(FOLDER, `${name}.svg`), "utf8")).toBe(plot);
  const document = readFileSync(join(FOLDER, "../performance.md"), "utf8");
  for (const name of plots.keys()) expect(document).toContain(`](performance/${name}.svg)`);
});

test("a name in a run is text of the plot and never markup", () => {
  const named = kept.replaceAll("subprocess capture-pane", '<script>&\\"');
  expect(plotsOf(named).get("latency")).toContain("&lt;script>&amp;&quot;</text>");
});

test("a run without the figures of a plot is refused", () => {
  const without = kept.split("\n").filter((line) => !line.includes('"fanout"'));
  expect(() => plotsOf(without.join("\n"))).toThrow("fanout: no figure of fanout in % of a core");
});
