/** The requests that tell a notice, as their receivers parse them. */
import { expect, test } from "vitest";
import type { Channel } from "../../../../../adapters/agents/notify/channelBook.ts";
import { type Notice, tellRequest, withdrawRequest } from "../../../../../adapters/agents/notify/notices.ts";

const CHANNELS: readonly Channel[] = [
  { name: "ntfy", kind: "ntfy", url: "https://ntfy.example/topic", text: true, answers: "https://work.example" },
  { name: "slack", kind: "slack", url: "https://slack.example/hook", text: true },
  { name: "discord", kind: "discord", url: "https://discord.example/hook", text: true },
  { name: "hook", kind: "webhook", url: "https://hook.example/", text: true },
  {
    name: "push",
    kind: "push",
    url: "https://push.example/x",
    keys: { p256dh: "p", auth: "a" },
    text: true,
    answers: true,
  },
];

test.each(CHANNELS)(
  "$kind gets no half of a letter where a text is cut: its receiver would refuse all of it",
  (channel) => {
    for (const before of ["", "a", "ab\ud83d"]) {
      const long = before + "\u{1f600}".repeat(1_200);
      const notice: Notice = {
        id: "notice-5b1c0e7f2a9d4c38",
        kind: "asking",
        subject: "agent-3f9c21ab04de",
        name: before.slice(0, 1) + "\u{1f600}".repeat(200),
        program: "Claude Code",
        project: long,
        sinceUnixMs: 1_795_149_767_000,
      };
      const answer = { token: "t", options: [{ option: 0, label: long }] };
      const told = tellRequest(channel, notice, { text: long, options: [long, long], answer });
      const back = withdrawRequest(channel, notice, "1", undefined);
      // JSON has a surrogate as an escape where it is alone.
      for (const { body } of [told, back ?? told]) expect(JSON.stringify(body) ?? "").not.toMatch(/\\ud[89a-f]/i);
      expect(JSON.stringify(told.body)).toContain("\u{1f600}");
    }
  },
);
