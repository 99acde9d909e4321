/** Operations on one pane: describe it, type into it, read it. */
import { typeFor } from "../../../daemon/delivery/pane/addressee.ts";
import type { PaneInfo } from "../../../daemon/tmux/inventory.ts";
import * as responses from "../../../protocol/api/native/nativeResponses.ts";
import {
  captureRequestSchema,
  emptyRequestSchema,
  inputRequestSchema,
  sizeRequestSchema,
} from "../../../protocol/api/native/nativeRequests.ts";
import { formatPosition } from "../../../protocol/position.ts";
import { EXAMPLE_PANE } from "../examples.ts";
import { inputParts } from "./inputs.ts";
import { ON_TMUX, operation, POSITION_HEADER } from "../operation.ts";
import { nativeCapture, nativePane, nativeWaiting } from "../outputs.ts";
import { readinessNow, requireReadiness } from "./readinessAsked.ts";
import { nativeSnapshot } from "./screenOutputs.ts";

export const paneOperations = {
  listPanes: operation({
    summary: "List panes.",
    description: "Includes the panes of all sessions.",
    scope: "server",
    input: emptyRequestSchema,
    output: responses.panesSchema,
    errors: ["NOT_FOUND"],
    example: { input: {}, output: { panes: [EXAMPLE_PANE] } },
    run: ({ readiness }, { server }) => {
      const known = (pane: PaneInfo) => readiness?.known(server, pane.id);
      return { panes: server.panes().map((pane) => nativePane(server, pane, known(pane))) };
    },
  }),

  describePane: operation({
    summary: "Describe one pane.",
    description: "Also asks tmux for the current program, directory and history.",
    scope: "pane",
    input: emptyRequestSchema,
    output: responses.paneDetailsSchema,
    errors: ON_TMUX,
    example: {
      input: {},
      output: {
        ...EXAMPLE_PANE,
        command: "bash",
        cwd: "/home/me/project",
        tty: "/dev/pts/7",
        historyLines: 300,
        alternateScreen: false,
        inMode: false,
      },
    },
    run: async (context, { server, pane }) => {
      const [details, readiness] = await Promise.all([
        server.describePane(pane.id),
        readinessNow(context, server, pane.id),
      ]);
      const { waiting } = server.status();
      return {
        ...nativePane(server, server.findPane(pane.id) ?? pane, readiness),
        ...details,
        ...nativeWaiting(waiting),
      };
    },
  }),

  input: operation({
    summary: "Type into a pane.",
    description: "The parts are typed in order, as one job that other senders cannot interrupt.",
    scope: "pane",
    input: inputRequestSchema,
    output: responses.receiptSchema,
    errors: ["INVALID_ARGUMENT", "RESOURCE_LIMIT", "WRONG_STATE", "INCONSISTENT_STATE", ...ON_TMUX],
    example: {
      input: { parts: [{ kind: "text", text: "make test" }, { kind: "enter" }] },
      output: { position: "k3Jd9:1024" },
    },
    run: async (context, { server, pane }, { parts, profile }, { isLate }) => {
      const typed = inputParts(parts);
      const { position } = await (profile === undefined
        ? server.input(pane.id, typed)
        : typeFor(server, pane.id, requireReadiness(context).profiles.named(profile), typed, { isLate }));
      return { position: formatPosition(position) };
    },
  }),

  capture: operation({
    summary: "Read the text a pane shows, or its last lines.",
    description: "Includes the position of the text in the output stream.",
    scope: "pane",
    input: captureRequestSchema,
    output: responses.captureSchema,
    errors: ["INVALID_ARGUMENT", "RESOURCE_LIMIT", ...ON_TMUX],
    example: {
      input: { lines: 200, joined: true },
      output: {
        position: "k3Jd9:2048",
        exact: true,
        cols: 120,
        rows: 40,
        alternateScreen: false,
        lines: ["$ make test", "42 passed", "$"],
        cursor: { col: 2, row: 2 },
      },
    },
    plainText: ({ lines, position, exact }) => ({
      text: lines.map((line) => `${line}\n`).join(""),
      headers: { [POSITION_HEADER]: position, ...(exact ? {} : { "tmuxwire-exact": "false" }) },
    }),
    run: async (_context, { server, pane }, { lines, joined, ansi }) =>
      nativeCapture(await server.capture(pane.id, { lines, joinWrapped: joined, ansi })),
  }),

  snapshot: operation({
    summary: "Read the bytes that rebuild a pane's screen.",
    scope: "pane",
    input: emptyRequestSchema,
    output: responses.snapshotSchema,
    errors: ON_TMUX,
    example: {
      input: {},
      output: {
        position: "k3Jd9:2048",
        exact: true,
        cols: 120,
        rows: 40,
        alternateScreen: false,
        data: "G2MbWz8ybA==",
      },
    },
    run: async (_context, { server, pane }) => nativeSnapshot(await server.snapshot(pane.id)),
  }),

  resize: operation({
    summary: "Set the size of a pane's window.",
    description: "Not on a guest server.",
    scope: "pane",
    input: sizeRequestSchema,
    output: responses.okSchema,
    errors: ["INVALID_ARGUMENT", ...ON_TMUX],
    example: { input: { cols: 120, rows: 40 }, output: { ok: true } },
    run: async (_context, { server, pane }, { cols, rows }) => {
      await server.resize(pane.id, cols, rows);
      return { ok: true } as const;
    },
  }),
} as const;
