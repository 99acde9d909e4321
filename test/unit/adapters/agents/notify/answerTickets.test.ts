/** A button of a notification is for one answer: once, for minutes, for the options that it shows. */
import { expect, test } from "vitest";
import { AnswerTickets } from "../../../../../adapters/agents/notify/answerTickets.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

const QUESTION = {
  agent: "agent-000000000001",
  dialogId: "1-abc",
  notice: "notice-1",
  channel: "phone",
  options: [
    { index: 0, label: "Yes" },
    { index: 2, label: "No" },
  ],
};

function scene() {
  const clock = new FakeClock();
  const tickets = new AnswerTickets(clock);
  const why = (token: string, option = 0): string => {
    try {
      tickets.redeem(token, option);
      return "taken";
    } catch (error) {
      return (error as Error).message;
    }
  };
  return { clock, tickets, why };
}

test("a token answers one question once, with an option that is offered", () => {
  const { tickets, why } = scene();
  const token = tickets.offer(QUESTION);
  expect(why(token, 1)).toMatch(/^option: is not one that the notification offers/);
  expect(tickets.redeem(token, 2)).toMatchObject({ agent: QUESTION.agent, dialogId: "1-abc", option: { label: "No" } });
  expect(why(token, 2)).toMatch(/no longer valid.*answer on the dashboard/);
});

test("it ends after fifteen minutes, when its question is settled, when its channel is removed, and when it is offered anew", () => {
  const { clock, tickets, why } = scene();
  const [late, settled] = [tickets.offer(QUESTION), tickets.offer({ ...QUESTION, notice: "notice-2" })];
  const removed = tickets.offer({ ...QUESTION, notice: "notice-3", channel: "browser" });
  const [before, anew] = [1, 2].map(() => tickets.offer({ ...QUESTION, notice: "notice-4" })) as [string, string];
  tickets.revokeNotice("notice-2");
  tickets.revokeChannel("browser");
  for (const token of [settled, removed, before]) expect(why(token)).toMatch(/no longer valid/);
  clock.advanceMs(899_999);
  expect(why(anew)).toBe("taken");
  clock.advanceMs(1);
  expect(why(late)).toMatch(/older than 15 minutes/);
});

test("one that is made up is refused, and after twenty all are, for a minute", () => {
  const { clock, tickets, why } = scene();
  const token = tickets.offer(QUESTION);
  const [id = "", secret = ""] = token.split(".");
  for (const made of [id, `${id}.`, `${id}.${secret}x`, `.${secret}`, "", "."])
    expect(why(made)).toMatch(/no longer valid/);
  for (let at = 0; at < 14; at += 1) why("x.y");
  expect(why(token)).toMatch(/too many invalid buttons/);
  clock.advanceMs(60_000);
  expect(why(token)).toBe("taken");
});
