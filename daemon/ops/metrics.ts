/**
 * The daemon's metrics, in Prometheus' text format (exposition format 0.0.4). Values are either pushed (a counter or a
 * histogram that its owner holds) or read on request (a value that exists anyway).
 */
import { Histogram, type HistogramSnapshot } from "./histogram.ts";

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels?: Labels | undefined;
  readonly value: number;
}

interface HistogramSample extends HistogramSnapshot {
  readonly labels?: Labels | undefined;
}

export interface Counter {
  add(amount?: number, labels?: Labels): void;
}

interface DurationHistogram {
  observe(value: number, labels?: Labels): void;
}

/** In seconds: from a command served from memory to a request whose caller has given up. */
const SECONDS_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30,
] as const;

type Kind = "counter" | "gauge" | "histogram";

interface Family {
  readonly name: string;
  readonly kind: Kind;
  readonly help: string;
  readonly lines: () => readonly string[];
}

export class Metrics {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string): Counter {
    const values = new Map<string, number>();
    this.#add({
      name,
      kind: "counter",
      help,
      lines: () => [...values].map(([key, value]) => `${name}${key} ${value}`),
    });
    return {
      add: (amount = 1, labels) => {
        const key = labelText(labels);
        values.set(key, (values.get(key) ?? 0) + amount);
      },
    };
  }

  histogram(name: string, help: string): DurationHistogram {
    const series = new Map<string, { readonly labels: Labels | undefined; readonly histogram: Histogram }>();
    this.#add({
      name,
      kind: "histogram",
      help,
      lines: () =>
        [...series.values()].flatMap(({ labels, histogram }) =>
          histogramLines(name, { labels, ...histogram.snapshot() }),
        ),
    });
    return {
      observe: (value, labels) => {
        const key = labelText(labels);
        let entry = series.get(key);
        if (entry === undefined) {
          entry = { labels, histogram: new Histogram(SECONDS_BUCKETS) };
          series.set(key, entry);
        }
        entry.histogram.observe(value);
      },
    };
  }

  /** A value that exists anyway, read on request. */
  collect(name: string, kind: "counter" | "gauge", help: string, read: () => readonly Sample[]): void {
    this.#add({
      name,
      kind,
      help,
      lines: () => read().map((each) => `${name}${labelText(each.labels)} ${each.value}`),
    });
  }

  collectHistogram(name: string, help: string, read: () => readonly HistogramSample[]): void {
    this.#add({ name, kind: "histogram", help, lines: () => read().flatMap((each) => histogramLines(name, each)) });
  }

  /** The whole text; families are in the order in which they were added. */
  render(): string {
    let out = "";
    for (const { name, kind, help, lines } of this.#families.values()) {
      out += `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;
      for (const line of lines()) out += `${line}\n`;
    }
    return out;
  }

  #add(family: Family): void {
    if (this.#families.has(family.name)) throw new TypeError(`metric ${family.name} exists`);
    this.#families.set(family.name, family);
  }
}

function histogramLines(name: string, { labels, buckets, count, sum }: HistogramSample): string[] {
  let below = 0;
  const lines = buckets.map((bucket) => {
    below += bucket.count;
    const le = bucket.le === Infinity ? "+Inf" : String(bucket.le);
    return `${name}_bucket${labelText({ ...labels, le })} ${below}`;
  });
  const text = labelText(labels);
  return [...lines, `${name}_sum${text} ${sum}`, `${name}_count${text} ${count}`];
}

/** By object identity: per-request counters reuse label objects that were created once. */
const labelTexts = new WeakMap<Labels, string>();

function labelText(labels: Labels | undefined): string {
  if (labels === undefined) return "";
  let text = labelTexts.get(labels);
  if (text === undefined) {
    text = textOfLabels(labels);
    labelTexts.set(labels, text);
  }
  return text;
}

function textOfLabels(labels: Labels): string {
  const entries = Object.entries(labels);
  if (entries.length === 0) return "";
  const texts = entries.map(([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, escapeCharacter)}"`);
  return `{${texts.join(",")}}`;
}

const escapeCharacter = (character: string): string => (character === "\n" ? "\\n" : `\\${character}`);
