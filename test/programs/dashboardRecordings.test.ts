/** Recordings on the dashboard's page: the daemon's list, any speed, any place, and a file that stays in the browser. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../../bench/silentLog.ts";
import { RecordingRegistry } from "../../daemon/recordings/recordingRegistry.ts";
import { StubServer } from "../../daemon/servers/stub/stubServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { eventually } from "../support/clock/eventually.ts";
import { dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { pageSuite } from "../support/page/pageSuite.ts";

const suite = pageSuite();
const DEMO = resolve(import.meta.dirname, "../../docs/demo.cast");
const ID = "20261120T064247Z-1f2e3d4c";
const STARTED = Date.UTC(2026, 10, 20, 6, 42, 47);

const EVENTS = [
  { version: 2, width: 40, height: 5, timestamp: STARTED / 1_000, tmuxwire: { server: "main", pane: "%7" } },
  [0, "o", "\u001bcfirst line\r\n"],
  [100, "o", "second line\r\n"],
  [200, "r", "60x6"],
  [200, "o", "\u001bcthird line\u001b]52;c;c3RvbGVu\u0007\u001b[c"],
  [300, "o", "\r\nlast line"],
];

test.skipIf(NO_BROWSER !== undefined)(
  "the daemon's recordings are listed and played, at any speed and any place",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tw-played-"));
    await using server = new StubServer({ nowUnixMs: Date.now, onListenerError: () => undefined });
    try {
      writeFileSync(join(folder, `${ID}.cast`), EVENTS.map((event) => `${JSON.stringify(event)}\n`).join(""));
      const recordings = await RecordingRegistry.open({
        folder,
        clock: systemClock,
        nowUnixMs: () => STARTED,
        log: silentLog,
      });
      await using dashboard = await dashboardFixture(server, { pageDirectory: suite.bundle.directory, recordings });
      await using opened = await suite.browser.open(dashboard.url);
      const { page } = opened;
      const rows = () => page.locator(".recordings .xterm-rows").innerText();
      const shows = (...texts: string[]) =>
        eventually(async () => {
          const shown = (await rows()).replaceAll("\u00a0", " ");
          return ["first line", "second line", "third line", "last line"].every(
            (text) => shown.includes(text) === texts.includes(text),
          );
        });
      const place = page.getByLabel("Place");
      await page.getByRole("button", { name: "Recordings" }).click();
      await page.getByRole("button", { name: "main %7" }).click();
      await page.getByRole("button", { name: "Pause" }).click();
      await shows("first line");
      await place.fill("150");
      await shows("first line", "second line");
      await place.fill("250");
      await shows("third line");
      await place.fill("0");
      await shows("first line");
      await page.getByLabel("Speed").selectOption("100");
      await page.getByRole("button", { name: "Play", exact: true }).click();
      await shows("third line", "last line");
      await page.getByRole("button", { name: "Play", exact: true }).waitFor();
      expect(await page.locator(".player-time").innerText()).toBe("5:00 / 5:00");

      await page.getByRole("button", { name: "All recordings" }).click();
      await page.locator(".recordings [type=file]").setInputFiles(DEMO);
      await page.getByRole("heading", { name: "demo.cast" }).waitFor();
      await page.getByRole("button", { name: "All recordings" }).click();
      await page.locator(".recordings [type=file]").setInputFiles(import.meta.filename);
      await page.getByText("is not an asciicast file of version 2 or 3").waitFor();
      await page.keyboard.press("Escape");
      await page.locator(".recordings").waitFor({ state: "detached" });
      expect(opened.wrongs).toEqual([]);
      await recordings.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test.skipIf(NO_BROWSER !== undefined)("a daemon that keeps none says so, and plays a file all the same", async () => {
  await using server = new StubServer({ nowUnixMs: Date.now, onListenerError: () => undefined });
  await using dashboard = await dashboardFixture(server, { pageDirectory: suite.bundle.directory });
  const { status, json } = await dashboard.call("GET", "/api/recordings");
  expect([status, json]).toMatchObject([400, { error_type: "invalid_argument" }]);
  await using opened = await suite.browser.open(dashboard.url);
  const { page } = opened;
  await page.getByRole("button", { name: "Recordings" }).click();
  await page.getByText("this daemon keeps no recordings").waitFor();
  await page.locator(".recordings [type=file]").setInputFiles(DEMO);
  await page.getByRole("heading", { name: "demo.cast" }).waitFor();
});
