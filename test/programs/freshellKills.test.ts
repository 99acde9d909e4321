/**
 * Hybrids whose owner, caller or daemon ends at each of their steps: afterwards each terminal is in a pane or told of as an
 * orphan, each pane's terminal runs, and tmux holds nothing that is not listed (F089–F092, docs/contracts/freshell.md).
 */
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { FakeOwner, requestOf } from "../support/freshell/fakeOwner.ts";
import {
  argsFor,
  auditOf,
  type Daemon,
  type Hybrid,
  HYBRIDS,
  notePlain,
  requireWhole,
  serve,
  type Step,
  STEPS,
} from "../support/freshell/hybridKills.ts";

/** An owner with a terminal in its first pane, what it keeps taken from the one before. */
async function ownerAt(daemon: Daemon, before?: FakeOwner): Promise<FakeOwner> {
  const owner = await FakeOwner.start(daemon, "desk", { allow: ["caller"] });
  if (before === undefined) {
    const { json } = await daemon.call("POST", "/api/terminals", { shell: "/bin/sh" });
    owner.panes = [{ id: "p1", content: { kind: "terminal", terminalId: json["terminalId"] } }];
  } else {
    // Places that it had given are gone with the connection.
    owner.panes = before.panes;
    owner.revision = before.revision;
    for (const [key, answer] of before.done) owner.done.set(key, answer);
  }
  owner.publish();
  await owner.settled();
  return owner;
}

const requestFor = async (daemon: Daemon, hybrid: Hybrid, owner: FakeOwner): Promise<object> =>
  requestOf(hybrid, "desk", await argsFor(daemon, hybrid, "pane:p1"), { expectedRevision: owner.revision });

/** Calls `end` at the step: before the owner responds to its frame, or right behind its place, while the server acts. */
function endAt(owner: FakeOwner, step: Step, end: () => void, isApplied: boolean): Promise<void> {
  return new Promise((ended) => {
    const now = (): void => {
      owner.answer = (asked) => owner.honest(asked);
      end();
      ended();
    };
    owner.answer = (asked) => {
      if (asked.phase === step) {
        if (isApplied) owner.result(asked.requestId, owner.honest(asked));
        now();
        return undefined;
      }
      if (step === "act" && asked.phase === "reserve") {
        owner.result(asked.requestId, owner.honest(asked));
        now();
        return undefined;
      }
      return owner.honest(asked);
    };
  });
}

async function requireOwnersWhole(sandbox: CliSandbox, daemon: Daemon, owner: FakeOwner, what: string): Promise<void> {
  owner.publish();
  await owner.settled();
  const shown = owner.panes.flatMap(({ content }) => (content["kind"] === "terminal" ? [content["terminalId"]] : []));
  await requireWhole(sandbox, daemon, shown, what);
}

test("the owner or the caller ends at each step of each hybrid", async () => {
  await using sandbox = cliSandbox();
  const daemon = await serve(sandbox);
  let owner = await ownerAt(daemon);
  for (const hybrid of HYBRIDS) {
    for (const step of STEPS) {
      for (const who of ["owner", "caller"] as const) {
        const what = `${hybrid} ${step} ${who}`;
        const request = await requestFor(daemon, hybrid, owner);
        await notePlain(daemon);
        const revision = owner.revision;
        const caller = await daemon.connect({
          device: { deviceId: "caller", deviceLabel: "c", deviceType: "cli", role: "caller" },
        });
        const ended = endAt(
          owner,
          step,
          () => (who === "owner" ? owner.client : caller).socket.terminate(),
          who === "caller",
        );
        caller.send(request);
        await ended;
        const { requestId } = request as { requestId: string };
        if (who === "owner") {
          const { error } = (await caller.next("layout.rpc.result")) as unknown as { error: { code: string } };
          const isUnsure = step !== "reserve";
          expect([what, error.code]).toEqual([what, isUnsure ? "INCONSISTENT_STATE" : "OWNER_TIMEOUT"]);
          caller.socket.terminate();
          owner = await ownerAt(daemon, owner);
          expect([what, owner.revision]).toEqual([what, revision]);
        } else {
          await eventually(() => auditOf(sandbox).some((line) => line.requestId === requestId));
          expect([what, owner.revision]).toEqual([what, revision + 1]);
        }
        expect([
          what,
          auditOf(sandbox)
            .filter((line) => line.requestId === requestId)
            .map(({ result }) => result),
        ]).toEqual([what, [who === "owner" ? "error" : "ok"]]);
        await requireOwnersWhole(sandbox, daemon, owner, what);
      }
    }
  }
});

/** Of a daemon and of its owner, on a machine that has much else to do. */
const NINE_STARTS_MS = 300_000;

test(
  "the daemon is killed at each step of each hybrid",
  async () => {
    await using sandbox = cliSandbox();
    let daemon = await serve(sandbox);
    let owner = await ownerAt(daemon);
    for (const hybrid of HYBRIDS) {
      for (const step of STEPS) {
        // A place that was confirmed to nobody: the terminal has none.
        const isApplied = hybrid !== "split-pane";
        const what = `${hybrid} ${step} daemon`;
        const request = await requestFor(daemon, hybrid, owner);
        await notePlain(daemon);
        const before = (await daemon.terminals()).filter(({ orphan }) => orphan).length;
        const { child } = daemon.running;
        const ended = endAt(owner, step, () => child.kill("SIGKILL"), isApplied);
        void daemon.call("POST", "/api/rpc", request).catch(() => undefined);
        await ended;
        await daemon.running.finished;
        daemon = await serve(sandbox);
        owner = await ownerAt(daemon, owner);
        await requireOwnersWhole(sandbox, daemon, owner, what);
        if (step === "finalize" && !isApplied) {
          expect([what, (await daemon.terminals()).filter(({ orphan }) => orphan).length]).toEqual([what, before + 1]);
        }
        const { requestId } = request as { requestId: string };
        // It has a line, though nobody lived to write it.
        expect([what, auditOf(sandbox).filter((line) => line.requestId === requestId).length]).toEqual([what, 1]);
        // What is asked again with its key is done once.
        const again = await daemon.call("POST", "/api/rpc", { ...request, requestId: `${requestId}-again` });
        expect([what, again.status]).toEqual([what, 200]);
        await requireOwnersWhole(sandbox, daemon, owner, what);
        await notePlain(daemon);
      }
    }
  },
  NINE_STARTS_MS,
);
