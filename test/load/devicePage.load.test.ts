/**
 * What holds for the device's page in a browser (docs/contracts/freshell.md §10): a key's way to its glyph beside the dashboard's
 * page on the same terminal, a reload with many terminals, and a split that another device asks for. `PAGE_TRIES` sets how
 * often. Other work on the machine shows in them, so its load is printed beside.
 */
import { loadavg } from "node:os";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startGuestServer } from "../support/tmux/guestEngine.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { dashboardFixture, UUID } from "../support/daemon/dashboardFixture.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { deviceScenes, screenOf } from "../support/page/devicePageScene.ts";
import { pageSuite } from "../support/page/pageSuite.ts";

const TRIES = Number(process.env["PAGE_TRIES"] ?? 120);
const TERMINALS = 20;
const WITHIN_MS = 600_000;

const scenes = deviceScenes();
const dashboardSuite = pageSuite("dashboard");
const tell = (what: string, figures: object): void =>
  report("devicePage", { what, ...figures, load: loadavg()[0]?.toFixed(2) });

/** From the key to the screen that shows what came of it, in the page's own time. */
const WATCH_KEYS = `(() => {
  window.keyTimes = [];
  let pressedMs;
  document.addEventListener("keydown", () => { pressedMs = performance.now(); }, { capture: true });
  new MutationObserver((changes) => {
    if (pressedMs === undefined || !changes.some(({ target }) => target.parentElement?.closest(".xterm-rows"))) return;
    window.keyTimes.push(performance.now() - pressedMs);
    pressedMs = undefined;
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
})()`;

async function typed(page: Page, count: number): Promise<readonly number[]> {
  await page.bringToFront();
  const before = await page.evaluate<number>("window.keyTimes.length");
  for (let at = 1; at <= count; at += 1) {
    await page.keyboard.press("x");
    await expect
      .poll(() => page.evaluate<number>("window.keyTimes.length"), { interval: 5, timeout: 30_000 })
      .toBe(before + at);
  }
  return page.evaluate<readonly number[]>(`window.keyTimes.slice(${before})`);
}

test.skipIf(NO_BROWSER !== undefined)(
  "a key's glyph, beside the dashboard's page",
  async () => {
    await using at = await scenes.open();
    expect(await at.rpc("new-tab", { title: "keys" })).toMatchObject({ ok: true });
    const screen = screenOf(at.page);
    await screen.locator(".xterm-screen").click();
    await at.page.keyboard.type("exec cat > /dev/null\n");
    await expect.poll(() => at.owned.socket.tmux("list-panes", "-a", "-F", "#{pane_current_command}")).toContain("cat");
    const all = at.owned.socket.tmux("list-panes", "-a", "-F", "#{pane_current_command} #{pane_id}");
    const [, paneId = ""] = /^cat (%\d+)$/m.exec(all) ?? [];
    expect(paneId).toMatch(/^%/);
    // The dashboard is a guest of the same tmux server: both show the same pane.
    const guest = await startGuestServer({
      socketPath: at.owned.socket.socketPath,
      env: process.env,
      clock: systemClock,
      log: () => undefined,
    });
    await using dashboard = await dashboardFixture(guest, {
      pageDirectory: dashboardSuite.bundle.directory,
    });
    const names = { session_uuid: UUID, project_path: "/work/shop", tmux_pane_id: paneId };
    await dashboard.call("POST", "/api/sessions", names);
    await dashboard.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
    await using opened = await dashboardSuite.browser.open(dashboard.url);
    await opened.page.locator("#agent-1").getByRole("button", { name: "Open pane" }).click();
    await opened.page.getByRole("button", { name: "Take control" }).click();
    await opened.page.getByRole("button", { name: "Release" }).waitFor();
    await at.page.evaluate(WATCH_KEYS);
    await opened.page.evaluate(WATCH_KEYS);
    const [ours, theirs]: number[][] = [[], []];
    const rounds = 4;
    for (let round = 0; round < rounds; round += 1) {
      ours?.push(...(await typed(at.page, TRIES / rounds)));
      theirs?.push(...(await typed(opened.page, TRIES / rounds)));
      // A new line for both.
      await at.page.bringToFront();
      await at.page.keyboard.press("Enter");
    }
    const [device, other] = [spread(ours ?? []), spread(theirs ?? [])];
    tell("key to glyph", { tries: TRIES, device, dashboard: other, ratio: (device.p50Ms / other.p50Ms).toFixed(2) });
    expect(device.p50Ms).toBeLessThanOrEqual(1.2 * other.p50Ms);
    await guest.close();
  },
  WITHIN_MS,
);

test.skipIf(NO_BROWSER !== undefined)(
  "twenty terminals reload, and a split of another device is painted",
  async () => {
    await using at = await scenes.open({
      viewport: { width: 1_600, height: 1_000 },
      before: `(() => {
        const look = () => {
          const painted = [...document.querySelectorAll(".xterm-rows")].filter((rows) => /ready-42/.test(rows.textContent ?? ""));
          if (painted.length >= ${TERMINALS}) window.paintedMs ??= performance.now();
          else requestAnimationFrame(look);
        };
        if (self === top) requestAnimationFrame(look);
      })()`,
    });
    const { page, freshell } = at;
    expect(await at.rpc("new-tab", { title: "many" })).toMatchObject({ ok: true });
    const panes = [(await at.layout()).snapshot.panes[0]?.id ?? ""];
    const splits: number[] = [];
    await screenOf(page).locator(".xterm-rows").getByText(/\S/).first().waitFor();
    for (let count = 1; count < TERMINALS; count += 1) {
      // The oldest one: the tree stays shallow.
      const target = panes.shift() ?? "";
      await page.evaluate(`(() => {
        window.splitAt = undefined;
        const painted = () => [...document.querySelectorAll('.terminal-pane[data-status="live"] .xterm-rows')].filter((rows) => (rows.textContent ?? "").trim() !== "").length;
        const was = painted();
        const observer = new MutationObserver(() => {
          if (painted() <= was) return;
          window.splitAt = performance.timeOrigin + performance.now();
          observer.disconnect();
        });
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
      })()`);
      const askedMs = performance.timeOrigin + performance.now();
      const made = await at.rpc("split-pane", {
        target: `pane:${target}`,
        direction: count % 2 === 0 ? "vertical" : "horizontal",
      });
      expect(made.ok ? undefined : made.error).toBeUndefined();
      if (made.ok) panes.push(target, String(made.result["paneId"]));
      await expect
        .poll(() => page.evaluate("window.splitAt !== undefined"), { interval: 5, timeout: 30_000 })
        .toBe(true);
      splits.push((await page.evaluate<number>("window.splitAt")) - askedMs);
    }
    tell("remote split to its prompt", spread(splits));
    const { json } = await freshell.call("GET", "/api/terminals");
    const terminals = json as unknown as { readonly terminalId: string }[];
    expect(terminals).toHaveLength(TERMINALS);
    for (const { terminalId } of terminals) {
      await freshell.call("POST", `/api/terminals/${terminalId}/input`, {
        data: "seq 400; clear; echo ready-$((40+2))\r",
      });
    }
    await expect.poll(() => page.evaluate("window.paintedMs !== undefined"), { timeout: 60_000 }).toBe(true);
    const reloads: number[] = [];
    for (let tries = 0; tries < 5; tries += 1) {
      await page.reload({ waitUntil: "commit" });
      await expect.poll(() => page.evaluate("window.paintedMs !== undefined"), { timeout: 60_000 }).toBe(true);
      reloads.push(await page.evaluate<number>("window.paintedMs"));
    }
    tell("reload with 20 terminals to the last one painted", spread(reloads));
    expect(spread(reloads).p50Ms).toBeLessThanOrEqual(2_000);
    expect(spread(splits).p50Ms).toBeLessThanOrEqual(150);
  },
  WITHIN_MS,
);
