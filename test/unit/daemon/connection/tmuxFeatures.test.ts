/** What a server can do is asked of it; the replies are those of real builds of the versions named. */
import { expect, test } from "vitest";
import { featuresOf, introduce } from "../../../../daemon/connection/tmuxFeatures.ts";
import { ByteBudget } from "../../../../daemon/ops/byteBudget.ts";
import { InputQueue } from "../../../../daemon/panes/input/inputJobs.ts";
import type { PaneId } from "../../../../protocol/ids.ts";
import { fakeConnection, turn } from "../../../support/tmux/fakeTransport.ts";

const ESCAPES = "[-dprS] [-s separator] [-b buffer-name] [-t target-pane]\n";
const PLAIN = "[-dpr] [-s separator] [-b buffer-name] [-t target-pane]\n";
const usages: readonly (readonly [versions: string, usage: string, pasteNeedsRaw: boolean])[] = [
  ["3.2a to 3.6b", PLAIN, false],
  ["3.7c and next-3.8", ESCAPES, true],
  ["none", "", false],
];

test.each(usages)("whether paste-buffer must be told to leave bytes alone: %s", (_versions, usage, pasteNeedsRaw) => {
  expect(featuresOf("3.4", Buffer.from(usage)).pasteNeedsRaw).toBe(pasteNeedsRaw);
});

// As `display-message -p` had it of the same text on each of these.
test.each([
  ["3.3a", "a$b \\$_ ${ $5 $ é$x\n"],
  ["3.4", "a\\$b \\\\$_ \\${ $5 $ é\\$x\n"],
  ["3.5a", "a$b \\$_ ${ $5 $ é$x\n"],
])("what tmux %s means by what it prints", (version, printed) => {
  const meant = featuresOf(version).meant(Buffer.from(printed));
  expect(Buffer.from(meant).toString()).toBe("a$b \\$_ ${ $5 $ é$x\n");
});

// As `new-session -s` and `#{session_name}` had it on each of these.
test.each([
  ["3.2a", "a_b_c", "p\\$HOME"],
  ["3.3a", "a_b_c", "p\\$HOME"],
  ["3.4", "a_b_c", "p\\$HOME"],
  ["3.5a", "a_b_c", "p$HOME"],
  ["3.6b", "a_b_c", "p$HOME"],
  ["3.7c", "a.b:c", "p$HOME"],
  ["next-3.8", "a.b:c", "p$HOME"],
  ["openbsd-7.9", "a.b:c", "p$HOME"],
])("how tmux %s writes names", (version, dotted, dollar) => {
  const { sessionName } = featuresOf(version);
  expect([sessionName("a.b:c"), sessionName("p$HOME"), sessionName("5$"), sessionName("a\\b")]).toEqual([
    dotted,
    dollar,
    "5$",
    "a\\\\b",
  ]);
});

test.each([
  ["3.2a", false],
  ["3.3a", true],
  ["3.7c", true],
  ["next-3.8", true],
  ["master", true],
])("whether tmux %s tells signals", (version, reportsSignals) => {
  expect(featuresOf(version).reportsSignals).toBe(reportsSignals);
  // Notifications of swapped panes and the hook of titles came with it.
  expect(featuresOf(version).reportsPaneChanges).toBe(reportsSignals);
  expect(featuresOf(version).reportsOwnUnlink).toBe(!["next-3.8", "master"].includes(version));
});

test.each([
  ["3.3a", PLAIN, "paste-buffe -d -r -p -b b1 -t %7"],
  ["3.7c", ESCAPES, "paste-buffe -d -r -S -p -b b1 -t %7"],
  // A development build's version says nothing of what it can do.
  ["next-3.7", PLAIN, "paste-buffe -d -r -p -b b1 -t %7"],
])("a paste to tmux %s", async (version, usage, expected) => {
  const { connection, transport } = fakeConnection();
  const introduced = introduce(connection);
  transport.reply(`4711 1700000000 ${version} $0 @0 %0\n`);
  transport.reply(usage);
  expect(await introduced).toMatchObject({ version, session: "$0" });
  const pane = "%7" as PaneId;
  const queue = new InputQueue({
    onTyped: () => undefined,
    pane,
    connection: () => connection,
    bufferName: () => "b1",
    budget: new ByteBudget({ maxBytes: 1_024, maxBytesEach: 1_024 }),
  });
  queue.submit([{ kind: "paste", bytes: Buffer.from("a\tb") }]).catch(() => undefined);
  await turn();
  expect(transport.lines.at(-1)).toContain(expected);
});
