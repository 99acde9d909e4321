import { expect, test } from "vitest";
import { Metrics } from "../../../../daemon/ops/metrics.ts";

test("renders counters, gauges and cumulative histograms", () => {
  const metrics = new Metrics();
  const counter = metrics.counter("a_total", "Counts a.");
  counter.add();
  counter.add(2, { kind: "x" });
  counter.add(3, { kind: "x" });
  metrics.collect("b", "gauge", "Is b.", () => [{ value: 7 }, { labels: { name: 'say "hi"\\\n' }, value: 1 }]);
  const seconds = metrics.histogram("c_seconds", "Takes c.");
  seconds.observe(0.0001);
  seconds.observe(0.003);
  seconds.observe(99);
  const lines = metrics.render().split("\n");
  expect(lines.slice(0, 8)).toEqual([
    "# HELP a_total Counts a.",
    "# TYPE a_total counter",
    "a_total 1",
    'a_total{kind="x"} 5',
    "# HELP b Is b.",
    "# TYPE b gauge",
    "b 7",
    'b{name="say \\"hi\\"\\\\\\n"} 1',
  ]);
  expect(lines).toContain('c_seconds_bucket{le="0.0001"} 1');
  expect(lines).toContain('c_seconds_bucket{le="0.0025"} 1');
  expect(lines).toContain('c_seconds_bucket{le="0.005"} 2');
  expect(lines).toContain('c_seconds_bucket{le="30"} 2');
  expect(lines).toContain('c_seconds_bucket{le="+Inf"} 3');
  expect(lines).toContain("c_seconds_count 3");
});

test("a counter adds up, and a name is there only once", () => {
  const metrics = new Metrics();
  const counter = metrics.counter("a_total", "A.");
  counter.add();
  counter.add();
  expect(metrics.render()).toContain("a_total 2\n");
  expect(() => metrics.histogram("a_total", "A.")).toThrow("exists");
});
