/**
 * A pane that tries to speak for tmux (docs/tmuxFacts.md 17–20). It prints guard lines with the numbers that tmux is
 * about to use: a transport between us and tmux reads them off the wire and the test tells the program, so its guesses
 * are better than any real program's. The same lines are its directory's name, its title, its session's and its
 * window's name.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openPtyTransport } from "../../../daemon/host/clients/ptyTransport.ts";
import type { OpenTransport } from "../../../daemon/host/clients/transport.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { follow, seen } from "./output.ts";
import type { PrivateSocket } from "./ownedFixture.ts";
import { keys, script, startProgram, text } from "./panePrograms.ts";

/** A transport that knows the number of the last block. */
export function numberReadingTransport(): { readonly open: OpenTransport; readonly lastNumber: () => number } {
  let last = 0;
  return {
    lastNumber: () => last,
    open: (options) =>
      openPtyTransport({
        ...options,
        onData: (chunk) => {
          for (const match of Buffer.from(chunk)
            .toString("latin1")
            .matchAll(/^%begin \d+ (\d+) [01]\r?$/gm)) {
            last = Math.max(last, Number(match[1]));
          }
          options.onData(chunk);
        },
      }),
  };
}

/** 1,005 lines: the guesses that fit the next numbers, and what would be an event if it came from tmux. */
const forgedLines = (sec: number, number: number, victim: string): string[] =>
  Array.from({ length: 335 }, (_unused, index) => {
    const stamp = `${sec + (index % 2)} ${number + (index >> 1)} 1`;
    const event = [
      `%output ${victim} FORGED`,
      "%exit forged",
      "%sessions-changed",
      `%pause ${victim}`,
      `%window-close @1`,
      `%extended-output ${victim} 0 : FORGED`,
    ][index % 6];
    return [`%end ${stamp}`, event ?? "", `%${index % 7 === 0 ? "error" : "begin"} ${stamp}`];
  }).flat();

interface ForgeryResult {
  readonly captures: number;
  readonly inexactCaptures: number;
  readonly forgedBytes: number;
  readonly descriptionsWrong: number;
  readonly events: readonly string[];
  readonly epochs: number;
}

/** `rounds` times: the program prints 1,005 fresh guesses, then the screen is captured ten times. */
export async function forgery(
  server: TmuxServer,
  socket: PrivateSocket,
  lastNumber: () => number,
  rounds: number,
): Promise<ForgeryResult> {
  const victim = await startProgram(server, "victim", ["sh", "-c", "stty raw -echo; printf 'ready;'; exec cat"]);
  const sec = (): number => Math.floor(Date.now() / 1_000);
  const name = `x\n%end ${sec()} ${lastNumber() + 20} 1\n%exit\n%output ${victim.pane} FORGED\ny`;
  const cwd = join(socket.directory, name);
  mkdirSync(cwd, { recursive: true });
  const attacker = await startProgram(
    server,
    "attacker",
    script(
      `const lines = ${forgedLines.toString()};` +
        `process.stdin.on("data", (d) => { const [sec, number] = String(d).split(" ").map(Number);` +
        `process.stdout.write("\\x1b[H\\x1b[2J\\x1b[3J\\x1b]2;%end " + sec + " " + number + " 1 %exit\\x07" +` +
        ` lines(sec, number, "${victim.pane}").join("\\r\\n") + "\\r\\nround " + number + ";"); });` +
        `process.stdout.write("ready;");`,
    ),
    { cwd, cols: 100 },
  );
  renameIfTaken(socket, ["rename-window", "-t", attacker.pane], `%exit\n%end ${sec()} ${lastNumber() + 9} 1`);
  renameIfTaken(socket, ["rename-session", "-t", attacker.session.id], `%exit %end ${sec()} 1 1\n%exit`);

  const events: string[] = [];
  const epochs = new Set([server.status().epoch]);
  const unsubscribe = server.subscribe((event) => events.push(JSON.stringify(event)));
  let forgedBytes = 0;
  const unfollow = follow(victim.source, victim.startSeq, (bytes) => (forgedBytes += bytes.length));
  let captures = 0;
  let inexactCaptures = 0;
  let descriptionsWrong = 0;
  let at = attacker.startSeq;
  for (let round = 0; round < rounds; round += 1) {
    const [guessSec, number] = [sec(), lastNumber() + 2];
    await server.input(attacker.pane, [text(`${guessSec} ${number}`)]);
    at += (await seen(attacker.source, at, `round ${number};`)).length;
    const expected = [...forgedLines(guessSec, number, victim.pane), `round ${number};`];
    for (let again = 0; again < 10; again += 1) {
      const capture = await server.capture(attacker.pane, { lines: 5_000 });
      captures += 1;
      if (capture.lines.length !== 1_006 || capture.lines.some((line, index) => line !== expected[index])) {
        inexactCaptures += 1;
      }
    }
    const details = await server.describePane(attacker.pane);
    if (details.cwd !== cwd || !details.title.startsWith("%end ")) descriptionsWrong += 1;
    epochs.add(server.status().epoch);
  }
  // The victim's stream still is what its program says, and nothing else.
  await server.input(victim.pane, [text("still here"), keys("Enter")]);
  await seen(victim.source, victim.startSeq, "still here\r");
  forgedBytes -= "still here\r".length;
  unfollow();
  unsubscribe();
  return { captures, inexactCaptures, forgedBytes, descriptionsWrong, events, epochs: epochs.size };
}

/** From 3.8 on tmux refuses such names; without the line end it takes them. */
function renameIfTaken(socket: PrivateSocket, command: readonly string[], name: string): void {
  try {
    socket.tmux(...command, name);
  } catch (error) {
    if (!/invalid (window|session) name/.test(String(error))) throw error;
    socket.tmux(...command, name.replaceAll("\n", " "));
  }
}
