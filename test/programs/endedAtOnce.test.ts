/** An account without a login shell, and a program that is not there: the message names what was tried. */
import { expect, test } from "vitest";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";

test.each([
  ["/bin/false", 'the shell "/bin/false" was started (SHELL is "/bin/false" there)'],
  // tmux falls back to the account's shell, which is one that stays.
  [undefined, undefined],
])("with SHELL %s", async (shell, words) => {
  await using sandbox = cliSandbox();
  await sandbox.serve([], { env: { SHELL: shell } });
  const made = await sandbox.run(["new", "w"]);
  if (words === undefined) {
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const split = await sandbox.run(["split-window", "w", "--", "/no/such/program"]);
    expect(split.stderr).toContain('the pane ended at once; is its program there? "/no/such/program" was started');
  } else {
    expect(made).toMatchObject({ code: 1, stdout: "" });
    expect(made.stderr).toBe(
      `tmuxwire: session w ended at once; ${words}: give a program, or end the tmux server and set SHELL to a shell that stays\n`,
    );
  }
});
