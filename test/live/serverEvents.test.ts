/** The events of a real server, as they come over SSE and over a WebSocket: ends, respawns and readiness. */
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { type NativeServerEvent, serverEventSchema } from "../../protocol/api/native/nativeTree.ts";
import { eventually } from "../support/clock/eventually.ts";
import { nativeFixture, type NativeFixture } from "../support/daemon/nativeServer.ts";
import { RawSocket } from "../support/daemon/nativeSocket.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";
import { realReadiness } from "../support/agents/readinessWatch.ts";

interface Reader extends AsyncDisposable {
  readonly events: readonly NativeServerEvent[];
}

const WAYS: Readonly<Record<string, (api: NativeFixture) => Promise<Reader>>> = {
  SSE: async (api) => {
    const stop = new AbortController();
    const events: NativeServerEvent[] = [];
    const ended = (async () => {
      const stream = createClient({ url: api.url }).server("main").events({ readiness: true, signal: stop.signal });
      for await (const { event } of stream) events.push(event);
    })().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    return {
      events,
      [Symbol.asyncDispose]: async () => {
        stop.abort();
        await ended;
      },
    };
  },
  WebSocket: async (api) => {
    const socket = await RawSocket.open(api.port);
    socket.send({ type: "follow-events", id: 1, server: "main", readiness: true });
    return {
      get events() {
        return socket.messages.flatMap((message) =>
          message["type"] === "server-event" ? [message["event"] as NativeServerEvent] : [],
        );
      },
      [Symbol.asyncDispose]: () => socket[Symbol.asyncDispose](),
    };
  },
};

async function scene(kind: "owned" | "guest") {
  const fixture =
    kind === "owned" ? await ownedFixture() : await guestFixture((socket) => void userSession(socket, "home"));
  const { server, socket } = fixture;
  if (kind === "owned") await server.createSession({ name: "home", command: ["cat"] });
  const readiness = realReadiness(Date.now);
  const api = await nativeFixture(server, { readiness });
  return {
    server,
    socket,
    api,
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]();
      readiness.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

const SAYS =
  "read x; printf '\\033]7501;state=working\\007'; read x; printf '\\033]7501;state=idle\\007'; read x; exit 3";

describe.each(["owned", "guest"] as const)("%s", (kind) => {
  test.each(Object.keys(WAYS))("%s: a program works, is idle and ends, and its pane is respawned", async (way) => {
    await using there = await scene(kind);
    const { server, socket, api } = there;
    const session = await server.createSession({
      name: "work",
      command: ["sh", "-c", `stty -echo; ${SAYS}`],
      remainOnExit: keepsPanes(),
    });
    const pane = session.activePane!;
    await using reader = await WAYS[way]!(api);
    const of = <Type extends NativeServerEvent["type"]>(type: Type) =>
      reader.events.filter(
        (event): event is Extract<NativeServerEvent, { type: Type }> =>
          event.type === type && "pane" in event && event.pane === pane,
      );
    const states = () => of("readiness").map(({ readiness }) => readiness.state);
    await eventually(() => reader.events[0]?.type === "reset");
    expect(reader.events[0]).toMatchObject({ readiness: { [pane]: {} } });
    const enter = () => server.input(pane, [{ kind: "keys", keys: ["Enter"] }]);
    await enter();
    await eventually(() => states().includes("busy"));
    await enter();
    await eventually(() => states().lastIndexOf("idle") > states().indexOf("busy"));
    expect(of("pane-exited")).toEqual([]);
    await enter();
    if (!keepsPanes()) {
      await eventually(() => of("pane-closed").length === 1);
      return;
    }
    await eventually(() => of("pane-exited").length === 1 && states().at(-1) === "dead");
    expect(of("pane-exited")[0]?.exit).toMatchObject({ exitCode: 3 });

    // By a person, in a process of its own; of it tmux tells nobody.
    socket.tmux("respawn-pane", "-t", pane, "cat");
    await eventually(() => of("pane-respawned").length === 1);
    const pid = Number(socket.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"));
    expect(of("pane-respawned")[0]?.pid).toBe(pid);
    expect(server.findPane(pane)).toMatchObject({ pid, exit: undefined });
    // Before its program has ended, too.
    socket.tmux("respawn-pane", "-k", "-t", pane, "sh", "-c", "kill -9 $$");
    await eventually(() => of("pane-respawned").length === 2 && of("pane-exited").length === 2);
    expect(of("pane-exited")[1]?.exit).toMatchObject({ signal: 9 });

    // By us: a new pane in its place.
    const { layout } = createClient({ url: api.url }).server("main");
    const { pane: fresh } = await layout.respawnPane({ pane, command: ["cat"] });
    await eventually(() => of("pane-closed").length === 1);
    const created = () => reader.events.find((event) => event.type === "pane-created" && event.pane.id === fresh);
    await eventually(() => created() !== undefined);
    expect(created()).toMatchObject({ pane: { exit: null } });
    for (const event of reader.events) expect(v.parse(serverEventSchema, event)).toEqual(event);
  });
});
