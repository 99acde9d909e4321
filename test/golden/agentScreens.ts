/** Reads the recorded screens of agent programs; their format stands in the head of `agents/record.mjs`. */
import type { ReadinessState } from "../../daemon/readiness/readiness.ts";

export interface AgentScreen {
  readonly name: string;
  /** What the program was doing. */
  readonly state: ReadinessState;
  /** What the engine has to say: the same, or `unknown` where the screen alone cannot tell. */
  readonly judged: ReadinessState;
  readonly title: string;
  readonly command: string;
  readonly cursor: { readonly row: number; readonly col: number };
  readonly cols: number;
  readonly rows: number;
  /** Of the options that a dialog has to be read with; empty when the section names none. */
  readonly labels: readonly string[];
  /** With their attributes. */
  readonly lines: readonly string[];
}

export function readAgentScreens(document: string): AgentScreen[] {
  return document
    .split(/^## /mu)
    .slice(1)
    .map((section) => {
      const [head = "", rest = ""] = section.split("\n```\n", 2);
      const [name = "", ...entries] = head.split("\n");
      const fields = new Map(entries.map((entry) => [entry.split(": ", 1)[0]!, entry.slice(entry.indexOf(": ") + 2)]));
      const [row = 0, col = 0] = (fields.get("cursor") ?? "").split(",").map(Number);
      const [cols = 80, rows = 24] = (fields.get("size") ?? "").split("x").map(Number);
      const state = (fields.get("state") ?? "unknown") as ReadinessState;
      const drawn = rest
        .replace(/\n```\s*$/u, "")
        .replaceAll("␛", "\u001b")
        .split("\n");
      while (drawn.length > 0 && drawn.at(-1) === "") drawn.pop();
      return {
        name,
        state,
        judged: (fields.get("judged") ?? state) as ReadinessState,
        title: fields.get("title") ?? "",
        command: fields.get("command") ?? "",
        cursor: { row, col },
        cols,
        rows,
        labels: (fields.get("options") ?? "").split(" | ").filter((label) => label !== ""),
        lines: drawn,
      };
    });
}
