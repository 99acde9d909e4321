// oxlint-disable typescript/no-unsafe-assignment -- plain JavaScript: messages and the compiled engine have no types
/**
 * A daemon for tests that kill it: the compiled engine on the socket given as argument, driven by messages of its
 * parent. `{id, call, args}` is answered by `{id, value}` or `{id, error}`; `streaming` is said once a pane's output
 * runs.
 */
const [, , engine, socketPath] = process.argv;
const { startOwnedServer } = await import(new URL("daemon/server/ownedServer.js", engine).href);
const { systemClock } = await import(new URL("daemon/time/clock.js", engine).href);
const { paneEnvironment } = await import(new URL("daemon/ops/environment.js", engine).href);

const calls = {
  state: (server) => ({ ...server.status(), sessions: server.sessions(), panes: server.panes() }),
  create: (server, request) => server.createSession(request),
  type: (server, pane, text) => server.input(pane, [{ kind: "text", bytes: Buffer.from(text) }]),
  capture: (server, pane) => server.capture(pane),
  /** Answers when the pane's output, from now on, holds `text`. */
  see: (server, pane, text) =>
    new Promise((resolve) => {
      const source = server.output(pane);
      let at = source.tailSeq;
      let all = "";
      const readOn = () => {
        for (;;) {
          const slice = source.read(at);
          if (slice.kind === "end") break;
          at = slice.kind === "gap" ? slice.gap.to : slice.to;
          if (slice.kind === "bytes") all = (all + Buffer.from(slice.bytes).toString("latin1")).slice(-65_536);
        }
        if (all.includes(text)) resolve(true);
      };
      source.subscribe({ advanced: readOn, gap: readOn, exited: () => undefined, closed: () => undefined });
      readOn();
    }),
};

try {
  const server = await startOwnedServer({ socketPath, env: paneEnvironment(process.env), clock: systemClock });
  process.on("message", ({ id, call, args }) => {
    Promise.resolve()
      .then(() => calls[call](server, ...args))
      .then(
        (value) => process.send({ id, value }),
        (error) => process.send({ id, error: { code: error.code, message: error.message } }),
      );
  });
  process.on("disconnect", () => process.exit(1));
  process.send({ id: 0, value: true });
} catch (error) {
  process.send({ id: 0, error: { code: error.code, message: error.message } }, () => process.exit(1));
}
