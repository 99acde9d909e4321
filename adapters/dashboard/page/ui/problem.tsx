/** What a dialog asks of the daemon while it is open, and what was wrong with that. */
import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../../../../protocol/errors.ts";

export const Problem = ({ words }: { readonly words: string }) =>
  words === "" ? null : (
    <p class="pane-problem" role="alert">
      {words}
    </p>
  );

/** What fails is the problem, unless the dialog is closed by then, or asks something else instead. */
export function useAttempts() {
  const [problem, setProblem] = useState("");
  const asking = useRef(new AbortController());
  useEffect(() => () => asking.current.abort(), []);
  const attempt = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    setProblem("");
    const { signal } = asking.current;
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) setProblem(messageOf(error));
    }
  };
  const attemptInstead: typeof attempt = (work) => {
    asking.current.abort();
    asking.current = new AbortController();
    return attempt(work);
  };
  return { problem, setProblem, attempt, attemptInstead };
}
