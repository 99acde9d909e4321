/** Streams that go on after the daemon was killed or stopped, and what they say when tmux itself was. */
import { expect, test } from "vitest";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { type Restart, resumeRestarts } from "../support/daemon/resumeRestarts.ts";

const READERS = 6;

test("over kill -9, SIGTERM and the end of tmux: nothing twice, nothing lost, every hole declared", async () => {
  await using sandbox = cliSandbox();
  const restarts: readonly Restart[] = ["SIGKILL", "SIGTERM", "tmux"];
  const result = await resumeRestarts(sandbox, READERS, restarts);
  expect(result).toMatchObject({ restarts: 3, resumes: 3 * READERS, gaps: 3 * READERS });
});
