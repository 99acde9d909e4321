/**
 * What the echo figures share: a program that sends back every byte, tokens to send it, and the two ways that ours are
 * compared with, a naive control client and subprocesses.
 */
import { pollUntilSeen, sendText } from "./baseline.ts";
import { type Contender, timed } from "./figures.ts";
import type { NaivePane, PrivateSocket } from "./privateServer.ts";

/** Printed once the terminal is raw; as long as a token, so that no token is cut by the edge of the screen. */
export const READY = "ready!";
/** Sends back every byte as it is. */
export const ECHO = ["sh", "-c", `stty raw -echo; printf ${READY}; exec cat`];

/** Not typed by the relay, but responded to with the screen. */
export const ASKS_FOR_CAPTURE = "capture";

let tokens = 0;
/** Six bytes never sent before. */
export const nextToken = (): string => String(100_000 + (tokens += 1)).slice(-6);

/** The moment at which the token has come whole, in the pieces that `listen` hands out. */
export function seenMs(token: string, listen: (onText: (text: string) => void) => void): Promise<number> {
  return new Promise((resolve) => {
    let echoed = "";
    listen((text) => {
      echoed += text;
      if (echoed.includes(token)) resolve(performance.now());
    });
  });
}

export async function naiveReady({ client, pane }: NaivePane): Promise<void> {
  while (!(await client.command(`capture-pane -p -t ${pane}`)).includes(READY));
}

export function naiveEcho({ client, pane }: NaivePane, name: string): Contender {
  return {
    name,
    sample: async () => {
      const token = nextToken();
      const seen = seenMs(token, (onText) => {
        client.onOutput = onText;
      });
      const startMs = performance.now();
      const [endMs] = await Promise.all([seen, client.command(`send-keys -t ${pane} -l ${token}`)]);
      return endMs - startMs;
    },
  };
}

export function subprocessEcho({ socketPath }: PrivateSocket): Contender {
  return {
    name: "subprocess send-keys, then capture-pane until seen",
    sample: () => {
      const token = nextToken();
      return timed(async () => {
        await sendText(socketPath, token);
        await pollUntilSeen(socketPath, token);
      });
    },
  };
}
