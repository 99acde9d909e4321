/** Layouts: what is parsed and formatted again is the same text, and nothing else is taken for one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { paneIdOf } from "../../protocol/ids.ts";
import { type LayoutCell, layoutChecksum, panesOfLayout, parseLayout } from "../../protocol/windowLayout.ts";
import { formatLayout } from "../support/tmux/formatLayout.ts";

/** Splits cells as tmux does: a border between two, and at least one column and row each. */
const layout = fc
  .tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 100 }), fc.array(fc.nat(), { maxLength: 60 }))
  .map(([cols, rows, choices]) => {
    const left = [...choices];
    let panes = 0;
    const cell = (at: { cols: number; rows: number; left: number; top: number }, inside: string): LayoutCell => {
      const choice = left.pop();
      const kind =
        inside === "row" ? "column" : inside === "column" ? "row" : (choice ?? 0) % 2 === 0 ? "row" : "column";
      const length = kind === "row" ? at.cols : at.rows;
      if (choice === undefined || choice % 5 === 0 || length < 3) {
        panes += 1;
        return { kind: "pane", ...at, pane: paneIdOf(panes) };
      }
      const cells: LayoutCell[] = [];
      for (let from = 0; from < length;) {
        const rest = length - from;
        const size = rest < 3 ? rest : Math.min(rest, 1 + ((left.pop() ?? rest) % rest));
        const taken = rest - size === 1 ? rest : size;
        cells.push(
          cell(
            kind === "row" ? { ...at, left: at.left + from, cols: taken } : { ...at, top: at.top + from, rows: taken },
            kind,
          ),
        );
        from += taken + 1;
      }
      return { kind, ...at, cells };
    };
    return cell({ cols, rows, left: 0, top: 0 }, "");
  });

test("every layout comes back as it was", () => {
  fc.assert(
    fc.property(layout, (root) => {
      const text = formatLayout(root);
      expect(parseLayout(text)).toEqual(root);
      expect(new Set(panesOfLayout(root).map(({ pane }) => pane)).size).toBe(panesOfLayout(root).length);
    }),
  );
});

test("one changed character is no layout, or is the same text", () => {
  fc.assert(
    fc.property(layout, fc.nat(), fc.constantFrom(...Array.from("0123456789abcdefx,{}[]< \n%")), (root, at, char) => {
      const text = formatLayout(root);
      const changed = `${text.slice(0, at % text.length)}${char}${text.slice((at % text.length) + 1)}`;
      fc.pre(changed !== text);
      const parsed = parseLayout(changed);
      // The checksum is 16 bits: what passes it must at least be whole.
      expect(parsed === undefined || formatLayout(parsed) === changed).toBe(true);
    }),
  );
});

test("anything else is none, and costs no more than its length", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from("0123456789x,{}[]")), maxLength: 2_000 }), (body) => {
      const text = `${layoutChecksum(body)},${body}`;
      const parsed = parseLayout(text);
      expect(parsed === undefined || formatLayout(parsed) === text).toBe(true);
    }),
  );
  expect(parseLayout("")).toBeUndefined();
  const deep = "9x9,0,0{".repeat(100_000);
  expect(parseLayout(`${layoutChecksum(deep)},${deep}`)).toBeUndefined();
});

test("those of tmux's manual and of our own eyes", () => {
  const text = "bb62,159x48,0,0{79x48,0,0,79x48,80,0}";
  const root = parseLayout(text);
  expect(root).toMatchObject({
    kind: "row",
    cells: [
      { cols: 79, pane: null },
      { cols: 79, left: 80, pane: null },
    ],
  });
  expect(formatLayout(root!)).toBe(text);
  expect(parseLayout("bb63,159x48,0,0{79x48,0,0,79x48,80,0}")).toBeUndefined();
  const gap = "159x48,0,0{78x48,0,0,1,79x48,80,0,2}";
  expect(parseLayout(`${layoutChecksum(gap)},${gap}`)).toBeUndefined();
});
