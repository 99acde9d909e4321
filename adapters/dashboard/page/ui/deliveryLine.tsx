/** The outcome of the last answer. */
import type { AgentCard } from "../model/agentCard.ts";
import type { AnswerProgress } from "../model/pageState.ts";
import { MAX_ANSWER_TRIES } from "../net/sendAnswer.ts";
import { ageText } from "../words/age.ts";
import { deliveredText, isUnconfirmed } from "../words/deliveryWords.ts";

interface DeliveryLineProps {
  readonly progress: AnswerProgress | undefined;
  /** As the daemon has it, from any page. */
  readonly last: AgentCard["lastDelivery"];
  readonly nowUnixMs: number;
}

export function DeliveryLine({ progress, last, nowUnixMs }: DeliveryLineProps) {
  if (progress === undefined) return <RememberedLine last={last} nowUnixMs={nowUnixMs} />;
  switch (progress.kind) {
    case "sending":
      return (
        <p class="delivery sending">
          {progress.tries === 1
            ? "sending…"
            : `no response yet, trying again (${progress.tries} of ${MAX_ANSWER_TRIES})…`}
        </p>
      );
    case "delivered":
      return <p class={`delivery ${progress.isSure ? "delivered" : "unsure"}`}>{progress.words}</p>;
    case "failed":
      return (
        <p class="delivery failed" role="alert">
          {progress.words}
        </p>
      );
  }
}

function RememberedLine({ last, nowUnixMs }: Omit<DeliveryLineProps, "progress">) {
  if (last === undefined) return null;
  const when = last.atUnixMs === undefined ? "" : `, ${whenText(last.atUnixMs, nowUnixMs)}`;
  return (
    <p class={`delivery${isUnconfirmed(last.delivery) ? " unsure" : ""}`}>
      last answer: {deliveredText(last.delivery, last.latencyMs, last.screenNote)}
      {when}
    </p>
  );
}

function whenText(atUnixMs: number, nowUnixMs: number): string {
  const age = ageText(atUnixMs, nowUnixMs);
  return age === "now" ? "just now" : `${age} ago`;
}
