/**
 * The page that is the owner goes at a step of a hybrid: it is closed, loaded again, taken over by a page beside it, crashed, or
 * its profile is gone and comes back as it was before. Its layout is as before or as after, whoever asks again has it once,
 * each pane's terminal runs, and each terminal is in a pane or told of as an orphan (docs/contracts/freshell.md).
 */
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  argsFor,
  auditOf,
  type Hybrid,
  notePlain,
  requireWhole,
  terminalsIn,
} from "../support/freshell/hybridKills.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { pageOwner } from "../support/page/pageOwner.ts";

const owner = pageOwner();

/** Before it hears of the place, behind its answer, before it hears the end, with the end stored and told to nobody. */
type Moment = "reserve" | "act" | "finalize" | "finalized";
type End = "closed" | "reloaded" | "replaced" | "crashed" | "taken over";

/** Each step of each hybrid, and at each step the page's several ends. */
const ROWS: readonly (readonly [Hybrid, Moment, End])[] = [
  ["split-pane", "reserve", "closed"],
  ["split-pane", "act", "reloaded"],
  ["split-pane", "finalize", "replaced"],
  ["split-pane", "finalized", "crashed"],
  ["attach-terminal", "reserve", "reloaded"],
  ["attach-terminal", "act", "taken over"],
  ["attach-terminal", "finalize", "closed"],
  ["respawn-pane", "reserve", "taken over"],
  ["respawn-pane", "act", "closed"],
  ["respawn-pane", "finalize", "reloaded"],
  ["respawn-pane", "finalized", "reloaded"],
];

/** From then on the page hears nothing and says nothing, until the one that comes next says hello. */
function cutAt(moment: Moment): Promise<void> {
  const phases = new Map<unknown, string | undefined>();
  let isCut = false;
  return new Promise((resolve) => {
    const cut = (): void => {
      isCut = true;
      resolve();
    };
    owner().watch = (from, { type, requestId, phase }) => {
      if (isCut) {
        if (type === "hello") owner().watch = () => true;
        return type === "hello";
      }
      if (from === "server" && type === "layout.rpc.request") {
        phases.set(requestId, phase);
        if (phase === moment) cut();
      } else if (from === "client" && type === "layout.rpc.result") {
        const answered = phases.get(requestId);
        if (moment === "finalized" && answered === "finalize") cut();
        // The answer with the place still arrives.
        if (moment === "act" && answered === "reserve") {
          cut();
          return true;
        }
      }
      return !isCut;
    };
  });
}

/** Before: what is needed for it. Then the page goes, and one that is the same device comes. */
async function ending(end: End): Promise<() => Promise<unknown>> {
  const { page } = owner();
  switch (end) {
    case "closed":
      return async () => {
        await page.close();
        await owner().another();
      };
    case "reloaded":
      return () => page.reload();
    case "crashed":
      return async () => {
        const crash = page.waitForEvent("crash");
        void page.goto("chrome://crash").catch(() => undefined);
        await crash;
        await page.close();
        await owner().another();
      };
    case "replaced": {
      const profile: BrowserContextOptions = { storageState: await page.context().storageState() };
      return async () => {
        await owner().close();
        await owner().open(profile);
      };
    }
    case "taken over": {
      const second: Page = await owner().another();
      await second.locator('.device[data-role="mirror"][data-link="live"]').waitFor();
      return () => page.close();
    }
  }
}

describe.skipIf(NO_BROWSER !== undefined)("the page that is the owner goes at a step of a hybrid", () => {
  test.each(ROWS)(
    "F089 F090 F092 F160 %s, at %s the page is %s: nothing is half there",
    async (hybrid, moment, end) => {
      const what = `${hybrid} ${moment} ${end}`;
      const { scene, daemon } = owner();
      const { paneId } = await owner().done("new-tab", { title: hybrid });
      const request = await owner().request(hybrid, await argsFor(daemon, hybrid, `pane:${paneId}`));
      const go = await ending(end);
      await notePlain(daemon);
      const [before, shown] = [await owner().layout(), await owner().shown()];
      const cut = cutAt(moment);
      const answer = owner().send(request);
      await cut;
      await go();
      const code = moment === "reserve" ? "DEVICE_OFFLINE" : "INCONSISTENT_STATE";
      const refused = await answer;
      expect(refused).toMatchObject({ ok: false, error: { code } });
      await owner().isBack();
      const isDone = moment === "finalized";
      const after = await owner().layout();
      expect(after.workspaceRevision).toBe(before.workspaceRevision + (isDone ? 1 : 0));
      if (!isDone) expect([after.snapshot, await owner().shown()]).toEqual([before.snapshot, shown]);
      await requireWhole(scene.sandbox, daemon, terminalsIn(await owner().layout()), what);
      const again = await owner().send({ ...request, requestId: `${String(request["requestId"])}-again` });
      expect(again).toMatchObject({ ok: true, appliedRevision: before.workspaceRevision + 1 });
      if (!again.ok) return;
      const { revision, panes } = await owner().shown();
      expect(revision).toBe(before.workspaceRevision + 1);
      const { paneId: pane = "", terminalId = "" } = again.result as Record<string, string>;
      expect(panes[pane]).toContain(`terminal ${terminalId}`);
      await requireWhole(scene.sandbox, daemon, terminalsIn(await owner().layout()), what);
      const audited = auditOf(scene.sandbox).filter(({ requestId }) => requestId === request["requestId"]);
      expect(audited.map(({ result }) => result)).toEqual(["error"]);
      const remediation = refused.ok ? undefined : refused.error.details?.["remediation"];
      if (typeof remediation !== "string" || isDone) return;
      // It can be pasted: the terminal that has no pane goes, or the pane shows what it was to show.
      await scene.data(...remediation.split(" ").slice(1));
      expect((await daemon.terminals()).filter(({ orphan }) => orphan === true)).toEqual([]);
    },
  );
});
