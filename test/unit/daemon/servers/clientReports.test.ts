/** What tmux says of our client once a second, and what is done when it does not, over a fake transport and a clock moved by hand. */
import { expect, test } from "vitest";
import { ConnectionChecker } from "../../../../daemon/connection/checkup.ts";
import { clientCheckup } from "../../../../daemon/servers/clientCheck.ts";
import { ClientReports } from "../../../../daemon/servers/clientReports.ts";
import type { WrittenWindows } from "../../../../daemon/servers/outputWatch.ts";
import type { SessionId, WindowId } from "../../../../protocol/ids.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { fakeConnection, turn } from "../../../support/tmux/fakeTransport.ts";

const SESSION = "$3" as SessionId;
const FLAGS = "attached,control-mode,ignore-size,pause-after=10,UTF-8";

function scene() {
  const { connection, transport, closedWith, notifications } = fakeConnection();
  const clock = new FakeClock();
  const written: WrittenWindows[] = [];
  const checker = new ConnectionChecker(connection);
  const server = { isIdle: true };
  const checkup = clientCheckup(() => [SESSION], true);
  const reports = new ClientReports({
    clock,
    connection: () => connection,
    places: () => ["@1" as WindowId],
    session: () => SESSION,
    checkup: () => checkup,
    onWritten: (each) => written.push(each),
    onLate: () => checker.doubt(clock, checkup, () => server.isIdle),
  });
  reports.begin();
  transport.reply();
  const says = (value: string): void => {
    transport.push(`%subscription-changed tmuxwire-client $3 @1 0 - : ${value}\n`);
    checker.received();
    for (const notification of notifications.splice(0)) reports.noticed(notification);
  };
  const passes = async (ms: number): Promise<void> => {
    clock.advanceMs(ms);
    await turn();
  };
  return { transport, clock, written, reports, server, says, passes, closedWith, checker };
}

const reasons = (errors: readonly { readonly details?: Readonly<Record<string, unknown>> | undefined }[]) =>
  errors.map(({ details }) => details?.["reason"]);

test("a report has the times of the session's windows, and the second in which tmux compared", () => {
  const { transport, written, says } = scene();
  expect(transport.lines.at(-1)).toContain("refresh-clien -B");
  says(`$3 ${FLAGS} at 1700000002 @1 1700000000 @12 1700000002 `);
  expect(written).toEqual([
    {
      sinceSec: 0,
      askedSec: 1_700_000_002,
      rows: [
        { session: SESSION, window: "@1", writtenSec: 1_700_000_000 },
        { session: SESSION, window: "@12", writtenSec: 1_700_000_002 },
      ],
    },
  ]);
});

test.each([
  [`$3 ${FLAGS},no-output at 1 `, "it was made no-output"],
  [`$3 ${FLAGS},suspended at 1 `, "it was made suspended"],
  [`$3 attached,control-mode,ignore-size at 1 `, "it has lost its flag pause-after=10"],
  [`$4 ${FLAGS} at 1 `, "it is attached to another session"],
])("a client that is not as it should be is given up at once: %s", (value, reason) => {
  const { written, says, closedWith } = scene();
  says(value);
  expect(reasons(closedWith)).toEqual([reason]);
  expect(written).toEqual([]);
});

test("no report and no reply from an idle server: it has forgotten our client", async () => {
  const { says, passes, closedWith } = scene();
  says(`$3 ${FLAGS} at 1 `);
  await passes(1_149);
  await passes(1);
  await passes(60);
  expect(closedWith).toEqual([]);
  await passes(60);
  expect(reasons(closedWith)).toEqual(["tmux has forgotten it"]);
});

test("a server that is busy at first is looked at until it replies or is idle", async () => {
  const { clock, server, says, passes, closedWith } = scene();
  says(`$3 ${FLAGS} at 1 `);
  server.isIdle = false;
  await passes(1_150);
  for (let at = 0; at < 10; at += 1) await passes(60);
  server.isIdle = true;
  await passes(60);
  expect(closedWith).toEqual([]);
  await passes(60);
  expect(reasons(closedWith)).toEqual(["tmux has forgotten it"]);
  await passes(60);
  expect(clock.pendingTimers).toBe(0);
});

test("a server that is busy, or replies, is given time", async () => {
  const { transport, clock, server, says, passes, closedWith, checker } = scene();
  server.isIdle = false;
  says(`$3 ${FLAGS} at 1 `);
  for (let at = 0; at < 5; at += 1) await passes(1_000);
  expect(closedWith).toEqual([]);
  says(`$3 ${FLAGS} at 6 `);
  await passes(1_150);
  transport.lines.slice(-1).forEach(() => transport.reply(`$3 ${FLAGS}\n`));
  checker.received();
  await passes(60);
  server.isIdle = true;
  for (let at = 0; at < 5; at += 1) await passes(1_000);
  expect(closedWith).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});

test("what is said after its end, and by others, is nothing; no timer is left", async () => {
  const { transport, clock, written, reports, says } = scene();
  says(`$3 ${FLAGS} at 1 `);
  reports.noticed({ kind: "subscription-changed", name: "tmuxwire", value: `$9 ${FLAGS} at 1 ` });
  reports.end();
  await turn();
  expect(transport.lines.at(-1)).toBe('refresh-clien -B "tmuxwire-client"');
  says(`$9 ${FLAGS} at 2 `);
  expect([written.length, clock.pendingTimers]).toEqual([1, 0]);
});
