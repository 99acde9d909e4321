/** Panes published on a real NATS server and followed from it: every byte once and in order, or a declared gap. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  connect,
  type NatsConnection,
  nkeyAuthenticator,
  nkeys,
  type NodeConnectionOptions,
} from "@nats-io/transport-node";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { describe, expect, test, vi } from "vitest";
import { FleetClient, type FleetServer, type PaneEvent } from "../../adapters/fleet/fleetClient.ts";
import { outSubject, STATE_STREAM, stateSubject } from "../../adapters/fleet/fleetSubjects.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { formatPosition } from "../../protocol/position.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type Publishing, type PublishOptions, publish, STREAM_OF_OTHERS } from "../support/daemon/fleetScene.ts";
import { DOMAIN, NO_NATS, natsServers, natsVersion } from "../support/daemon/natsServers.ts";
import { Record, StreamChecker } from "../support/daemon/nativeChecker.ts";
import { echoPane } from "../support/daemon/nativeEchoPane.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { breakConnection, ownedFixture } from "../support/tmux/ownedFixture.ts";
import { ownDirectory } from "../support/daemon/ownDirectory.ts";

const AT = { host: "box", server: "main" };
if (natsVersion === undefined) process.stderr.write(`fleet: skipped, ${NO_NATS}\n`);

/** What a follower has seen, while it follows. */
class Seen implements AsyncDisposable {
  readonly events: PaneEvent[] = [];
  readonly #abort = new AbortController();
  readonly #ended: Promise<unknown>;
  error: unknown;

  constructor(nc: NatsConnection, pane: PaneId, from?: string, checker?: StreamChecker, domain?: string) {
    this.#ended = (async () => {
      for await (const event of new FleetClient(nc, { domain }).follow({
        ...AT,
        pane,
        from,
        signal: this.#abort.signal,
      })) {
        this.events.push(event);
        checker?.see(event);
      }
    })().catch((error: unknown) => {
      if (!this.#abort.signal.aborted) this.error = error;
    });
  }

  get text(): string {
    return Buffer.concat(this.events.flatMap((event) => (event.kind === "output" ? [event.bytes] : []))).toString();
  }

  get kinds(): string {
    return this.events.map(({ kind }) => kind).join(" ");
  }

  /** Resolves when it has ended by itself. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  async until(holds: () => boolean): Promise<void> {
    await eventually(() => {
      if (this.error !== undefined) throw this.error as Error;
      return holds();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#ended;
  }
}

const words = (from: number, to: number): Buffer =>
  Buffer.from(Array.from({ length: to - from }, (_, at) => `line ${from + at}\r\n`).join(""));

/** The pane prints these lines, and the viewer sees the last one. */
async function shown(pane: { print(bytes: Buffer): Promise<unknown> }, viewer: Seen, from: number, to: number) {
  await pane.print(words(from, to));
  await viewer.until(() => viewer.text.includes(`line ${to - 1}\r\n`));
}

/** A metric of `tmuxwire_nats_`. */
const metric = ({ metrics }: Publishing, name: string): number =>
  Number(new RegExp(`^tmuxwire_nats_${name} (\\d+)$`, "m").exec(metrics.render())?.[1]);

/** Its pane's first screen is stored. Asking for it while the stream is being made can end a server of 2.9 (docs/fleet.md). */
const published = (publishing: Publishing): Promise<void> =>
  eventually(() => metric(publishing, "messages_total") >= 2);

describe.skipIf(natsVersion === undefined)("on NATS", () => {
  async function scene(options: PublishOptions = {}, servers: Parameters<typeof natsServers>[0] = {}) {
    const nats = await natsServers(servers);
    const owned = await ownedFixture();
    const pane = await echoPane(owned.server, "work", 80, 24);
    const record = new Record();
    record.begin(owned.server, pane.pane);
    const start = (more: PublishOptions = {}) => publish(nats.urls, owned.server, { ...options, ...more });
    const nc = await nats.connect();
    return {
      nats,
      owned,
      ...pane,
      record,
      start,
      nc,
      client: new FleetClient(nc),
      [Symbol.asyncDispose]: async () => {
        await owned[Symbol.asyncDispose]();
        await nats[Symbol.asyncDispose]();
      },
    };
  }

  test("a viewer from each place sees every byte once", async () => {
    await using at = await scene();
    await using publishing = at.start();
    await published(publishing);
    const checkers = ["now", "snapshot", "start"].map((from) => ({ from, checker: new StreamChecker(at.record) }));
    await at.print(words(0, 500));
    await using early = new Seen(at.nc, at.pane, "start");
    await early.until(() => early.text.includes("line 499\r\n"));
    const viewers = checkers.map(({ from, checker }) => new Seen(at.nc, at.pane, from, checker));
    await viewers[0]!.until(() => viewers.every((viewer) => viewer.events.length > 0));
    const middle = formatPosition({ epoch: at.source.epoch, outputSeq: at.source.outputSeq - 1_234 });
    const fourth = new StreamChecker(at.record);
    viewers.push(new Seen(at.nc, at.pane, middle, fourth));
    await at.print(words(500, 1_000));
    for (const viewer of viewers) {
      await viewer.until(() => viewer.text.includes("line 999\r\n"));
      expect(viewer.kinds).not.toContain("gap");
    }
    expect(viewers[0]!.text).toBe(words(500, 1_000).toString());
    expect(viewers[3]!.events[0]).toMatchObject({ kind: "open", position: middle });
    expect(viewers[2]!.kinds).toMatch(/^open snapshot /);
    for (const viewer of viewers) await viewer[Symbol.asyncDispose]();
  });

  test("a long history is read to its end, while the pane goes on printing", async () => {
    await using at = await scene({ coalesceMs: 0 });
    await using publishing = at.start();
    await published(publishing);
    for (let line = 0; line < 150; line += 1) await at.print(words(line, line + 1));
    const checker = new StreamChecker(at.record);
    await using viewer = new Seen(at.nc, at.pane, "start", checker);
    for (let line = 150; line < 300; line += 1) await at.print(words(line, line + 1));
    await viewer.until(() => viewer.text.includes("line 299\r\n"));
    expect(viewer.kinds).not.toContain("gap");
    expect(viewer.text).toBe(words(0, 300).toString());
  });

  test("the publisher goes on after a restart where it was, and what was printed between two connections is a gap", async () => {
    await using at = await scene();
    const checker = new StreamChecker(at.record);
    {
      await using publishing = at.start();
      await published(publishing);
      await at.print(words(0, 50));
    }
    await at.print(words(50, 100));
    await using viewer = new Seen(at.nc, at.pane, "start", checker);
    await using _ = at.start();
    await shown(at, viewer, 100, 150);
    expect(viewer.kinds).not.toContain("gap");
    await breakConnection(at.owned);
    at.record.begin(at.owned.server, at.pane);
    await at.owned.server.input(at.pane, [{ kind: "text", bytes: words(150, 200) }]);
    await viewer.until(() => viewer.text.includes("line 199\r\n"));
    expect(checker.gaps).toMatchObject([{ reason: "epoch" }]);
    expect(checker.snapshots).toBeGreaterThan(1);
  });

  test("NATS is away, and comes back with what it had: nothing twice, the pane unharmed, too much a gap", async () => {
    await using at = await scene();
    await using publishing = at.start();
    await published(publishing);
    const checker = new StreamChecker(at.record);
    await using viewer = new Seen(at.nc, at.pane, "start", checker);
    await viewer.until(() => viewer.kinds.includes("snapshot"));
    await at.nats.kill(0);
    await at.print(words(0, 100));
    await at.nats.start(0);
    await viewer.until(() => viewer.text.includes("line 99\r\n"));
    expect(checker.gaps).toEqual([]);
    await at.nats.kill(0);
    // More than the ring holds.
    for (let round = 0; round < 20; round += 1) await at.print(words(round * 6_000, (round + 1) * 6_000));
    await at.nats.start(0);
    await viewer.until(() => checker.gaps.length > 0);
    await at.print(words(200_000, 200_001));
    await viewer.until(() => viewer.text.includes("line 200000\r\n"));
    expect(checker.gaps).toMatchObject([{ reason: "evicted" }]);
    expect(metric(publishing, "gaps_total")).toBe(1);
  });

  test("NATS stops for a while without a word: what is on its way is stored once", async () => {
    await using at = await scene();
    await using publishing = at.start();
    await published(publishing);
    const checker = new StreamChecker(at.record);
    await using viewer = new Seen(at.nc, at.pane, "start", checker);
    await viewer.until(() => viewer.kinds.includes("snapshot"));
    for (let round = 0; round < 3; round += 1) {
      const printing = at.print(words(round * 1_000, round * 1_000 + 900));
      await at.nats.kill(0, "SIGSTOP");
      await printing;
      await at.print(words(round * 1_000 + 900, (round + 1) * 1_000));
      await at.nats.kill(0, "SIGCONT");
    }
    await viewer.until(() => viewer.text.includes("line 2999\r\n"));
    expect(checker.gaps).toEqual([]);
    expect(viewer.text).toBe(words(0, 3_000).toString());
  });

  test("NATS comes back without what it had: the daemon makes its streams again and tells all that is known", async () => {
    await using at = await scene();
    await using publishing = at.start();
    await published(publishing);
    await using early = new Seen(at.nc, at.pane, "start", new StreamChecker(at.record));
    await shown(at, early, 0, 10);
    await at.nats.kill(0);
    at.nats.forget(0);
    await at.nats.start(0);
    await at.print(words(10, 20));
    const known = () => at.client.servers().catch(() => []);
    await eventually(async () => (await known()).some(({ tree }) => tree.panes.length === 1));
    await using late = new Seen(at.nc, at.pane, "snapshot");
    await late.until(() => late.kinds.includes("snapshot"));
    await shown(at, late, 20, 30);
    await early.until(() => early.text.includes("line 29\r\n"));
    await using second = at.start();
    await eventually(() => metric(second, "host_taken") === 1);
    expect(publishing.link.state).toEqual({ connected: true, problem: undefined });
  });

  test("a daemon that was cut off publishes and answers no longer when another one has its host's name since", async () => {
    await using at = await scene({}, { domain: DOMAIN });
    await using leaf = await natsServers({ leafOf: at.nats.leafUrl });
    await using first = publish(leaf.urls, at.owned.server, { access: { domain: DOMAIN } });
    await published(first);
    await leaf.kill(0);
    await using other = await ownedFixture();
    await other.server.createSession({ name: "elsewhere", command: ["cat"] });
    await using second = publish(at.nats.urls, other.server);
    await published(second);
    await leaf.start(0);
    // It has nothing to publish that the other would refuse.
    await eventually(() => metric(first, "host_taken") === 1);
    expect(metric(first, "panes")).toBe(0);
  });

  test("a daemon that does not notice that it was cut off finds that another one has its host's name since", async () => {
    await using at = await scene({}, { domain: DOMAIN });
    await using leaf = await natsServers({ leafOf: at.nats.leafUrl });
    await using first = publish(leaf.urls, at.owned.server, { access: { domain: DOMAIN } });
    await published(first);
    await leaf.kill(0, "SIGSTOP");
    await using other = await ownedFixture();
    await other.server.createSession({ name: "elsewhere", command: ["cat"] });
    await using second = publish(at.nats.urls, other.server);
    await published(second);
    await leaf.kill(0, "SIGCONT");
    await eventually(() => metric(first, "host_taken") === 1);
    expect(metric(second, "host_taken")).toBe(0);
  });

  test("a second daemon with the same host is refused, and takes over when the first has ended", async () => {
    await using at = await scene();
    const first = at.start();
    await published(first);
    await using second = publish(at.nats.urls, at.owned.server);
    await eventually(() => metric(second, "host_taken") === 1);
    expect(metric(second, "panes")).toBe(0);
    const checker = new StreamChecker(at.record);
    await using viewer = new Seen(at.nc, at.pane, "start", checker);
    await shown(at, viewer, 0, 10);
    await first[Symbol.asyncDispose]();
    await eventually(() => metric(second, "host_taken") === 0);
    await shown(at, viewer, 10, 20);
    expect(viewer.text).toBe(words(0, 20).toString());
  });

  test("a message of somebody else on the pane's subject ends nothing", async () => {
    await using at = await scene();
    await using publishing = at.start();
    await published(publishing);
    const checker = new StreamChecker(at.record);
    await using viewer = new Seen(at.nc, at.pane, "start", checker);
    await shown(at, viewer, 0, 5);
    await jetstream(at.nc).publish(outSubject({ ...AT, pane: at.pane }), "not a message of ours");
    await shown(at, viewer, 5, 10);
    expect(viewer.text).toBe(words(0, 10).toString());
  });

  test("resizes, exits and closings are told; a pane with the same id of another tmux server is another pane", async () => {
    await using at = await scene();
    await using publishing = at.start();
    await published(publishing);
    await using viewer = new Seen(at.nc, at.pane, "start");
    await viewer.until(() => viewer.kinds.includes("snapshot"));
    await at.owned.server.resize(at.pane, 100, 30);
    await viewer.until(() => viewer.kinds.endsWith("resize snapshot"));
    expect(viewer.events.at(-2)).toEqual({ kind: "resize", cols: 100, rows: 30 });
    await at.owned.server.killSession(at.owned.server.findSession("work")!.id);
    await viewer.ended;
    expect(viewer.events.at(-1)).toMatchObject({ kind: "closed", code: "NOT_FOUND" });
    await using late = new Seen(at.nc, at.pane, "now");
    await late.ended;
    expect(late.kinds).toBe("open closed");
  });

  test("a pane that has ended leaves nothing that waits for the end of the connection", async () => {
    const any = vi.spyOn(AbortSignal, "any");
    await using at = await scene();
    await using publishing = at.start();
    await published(publishing);
    await using viewer = new Seen(at.nc, at.pane, "start");
    await viewer.until(() => viewer.kinds.includes("snapshot"));
    const waiting = (): number =>
      any.mock.results.filter(
        ({ value }, call) =>
          !(value as AbortSignal).aborted && [...any.mock.calls[call]![0]].includes(publishing.link.signal),
      ).length;
    expect(waiting()).toBe(1);
    await at.owned.server.killSession(at.owned.server.findSession("work")!.id);
    await viewer.ended;
    await eventually(() => waiting() === 0);
    expect(publishing.link.signal.aborted).toBe(false);
  });

  test("a daemon that was started before tmux knows whose panes they are, and its next start goes on with them", async () => {
    await using nats = await natsServers();
    await using guest = await guestFixture((socket) => void userSession(socket, "work"));
    const client = new FleetClient(await nats.connect());
    const start = () => publish(nats.urls, guest.server);
    {
      await using first = start();
      await published(first);
      await eventually(async () => (await client.servers()).some(({ tree }) => tree.panes.length === 1));
    }
    guest.socket.tmux("kill-server");
    await eventually(() => guest.server.status().identity === undefined);
    const second = start();
    await eventually(() => metric(second, "panes") === 1);
    const pane = userSession(guest.socket, "work");
    await published(second);
    await using viewer = new Seen(await nats.connect(), pane, "snapshot");
    await viewer.until(() => viewer.kinds.includes("snapshot"));
    await second[Symbol.asyncDispose]();
    await using _ = start();
    await guest.server.input(pane, [{ kind: "text", bytes: Buffer.from("still here\r") }]);
    await eventually(() => viewer.text.includes("still here") || viewer.kinds.includes("closed"));
    expect(viewer.kinds).not.toContain("closed");
  });

  test("a pane that went while nobody looked is closed by the next daemon", async () => {
    await using at = await scene();
    {
      await using publishing = at.start();
      await published(publishing);
      await eventually(async () =>
        (await at.client.servers()).some(({ tree }) => tree.panes.some(({ id }) => id === at.pane)),
      );
    }
    await using viewer = new Seen(at.nc, at.pane, "snapshot");
    await viewer.until(() => viewer.kinds.includes("snapshot"));
    await at.owned.server.createSession({ name: "other" });
    await at.owned.server.killSession(at.owned.server.findSession("work")!.id);
    await using _ = at.start();
    await viewer.ended;
    expect(viewer.kinds).toMatch(/closed$/);
  });

  test("what is known of a server is a last value, and only of published panes where it could hold text", async () => {
    await using at = await scene({ panes: "work" });
    await using _ = at.start();
    await at.owned.server.createSession({ name: "secret" });
    await eventually(async () => (await at.client.servers()).some(({ tree }) => tree.sessions.length === 2));
    await eventually(async () => Object.keys((await at.client.servers())[0]!.readiness).length === 1);
    const [server, ...others] = await at.client.servers();
    expect(others).toEqual([]);
    expect(server).toMatchObject({ ...AT, ended: false });
    expect(Object.keys(server!.readiness)).toEqual([at.pane]);
    const secret = at.owned.server.findSession("secret")!.activePane!;
    await using refused = new Seen(at.nc, secret, "start");
    await eventually(() => server !== undefined);
    expect(refused.events).toEqual([]);
  });

  test("a server that its host publishes no longer is told as ended", async () => {
    await using at = await scene();
    await using publishing = at.start();
    await published(publishing);
    // An earlier daemon has told of it.
    const tree = JSON.stringify({ sessions: [], windows: [], panes: [] });
    await jetstream(at.nc).publish(stateSubject("box", "default", "tree"), tree);
    const told = async () => (await at.client.servers()).map(({ server, ended }) => [server, ended]);
    await eventually(async () => (await told()).length === 2);
    expect(await told()).toEqual([
      ["default", true],
      ["main", false],
    ]);
  });

  test("a pane that is not wanted is not published after a restart either, and one that was is closed", async () => {
    await using at = await scene({ panes: "work" });
    await at.owned.server.createSession({ name: "secret", command: ["sh", "-c", "echo s3cret; exec cat"] });
    const secret = at.owned.server.findSession("secret")!.activePane!;
    const subject = outSubject({ ...AT, pane: secret });
    const told = () => eventually(async () => (await at.client.servers()).some(({ tree }) => tree.panes.length === 2));
    const jsm = await jetstreamManager(at.nc, { checkAPI: false });
    for (let round = 0; round < 2; round += 1) {
      await using _ = at.start();
      await told();
      await at.print(words(round, round + 1));
      await using viewer = new Seen(at.nc, at.pane, "start");
      await viewer.until(() => viewer.text.includes(`line ${round}\r\n`));
      expect(await jsm.streams.getMessage("TMUXWIRE_box", { last_by_subj: subject })).toBeNull();
    }
    {
      await using _ = publish(at.nats.urls, at.owned.server);
      await eventually(async () => (await jsm.streams.getMessage("TMUXWIRE_box", { last_by_subj: subject })) !== null);
    }
    await using viewer = new Seen(at.nc, secret, "snapshot");
    await viewer.until(() => viewer.kinds.includes("snapshot"));
    await using _ = at.start();
    await viewer.ended;
    expect(viewer.events.at(-1)).toMatchObject({ kind: "closed" });
  });

  test("a pane whose session is renamed is published as long as the name is one of those that are wanted", async () => {
    await using at = await scene({ panes: "work*" });
    await using publishing = at.start();
    await published(publishing);
    await using first = new Seen(at.nc, at.pane, "start");
    await shown(at, first, 0, 1);
    const { layout } = at.owned.server;
    const { id: session } = at.owned.server.findSession("work")!;
    const readiness = async () => Object.keys((await at.client.servers())[0]?.readiness ?? {});
    await layout.run({ kind: "rename-session", session, name: "private" });
    await first.ended;
    expect(first.events.at(-1)).toMatchObject({ kind: "closed" });
    await eventually(async () => (await readiness()).length === 0);
    await at.print(words(1, 2));
    await layout.run({ kind: "rename-session", session, name: "work2" });
    await eventually(() => metric(publishing, "panes") === 1);
    await eventually(async () => (await readiness()).length === 1);
    const opened = async () => {
      const { value } = await at.client.follow({ ...AT, pane: at.pane, from: "start" }).next();
      return (value as { position: string }).position !== (first.events[0] as { position: string }).position;
    };
    await eventually(opened);
    await using second = new Seen(at.nc, at.pane, "start");
    await shown(at, second, 2, 3);
    expect(second.text).toBe(words(2, 3).toString());
  });

  test("a stream made by others, with another name, and full: nothing is lost, and the pane goes on", async () => {
    await using at = await scene();
    const jsm = await jetstreamManager(at.nc, { checkAPI: false });
    await jsm.streams.add({ ...STREAM_OF_OTHERS, max_msgs: 5 });
    await using publishing = at.start();
    await published(publishing);
    const checker = new StreamChecker(at.record);
    await using viewer = new Seen(at.nc, at.pane, "start", checker);
    for (let line = 0; line < 20; line += 1) {
      await at.print(words(line, line + 1));
      await delay(25);
    }
    await eventually(() => metric(publishing, "refused") === 1);
    await jsm.streams.update("OURS", { max_msgs: 1_000 });
    await viewer.until(() => viewer.text.includes("line 19\r\n"));
    expect(checker.gaps).toEqual([]);
    expect((await jsm.streams.info("OURS")).config.max_age).toBe(0);
    expect(metric(publishing, "refused")).toBe(0);
  });

  test("a stream that the daemon made follows its settings to the shortest time and back", async () => {
    await using at = await scene();
    const jsm = await jetstreamManager(at.nc);
    for (const ageMs of [3_600_000, 60_000, 3_600_000]) {
      await using publishing = at.start({ retention: { ageMs, bytes: 268_435_456, replicas: 1 } });
      await eventually(async () => {
        const found = await jsm.streams.info("TMUXWIRE_box").catch(() => undefined);
        return found?.config.max_age === ageMs * 1e6 || publishing.link.state.problem !== undefined;
      });
      expect(publishing.link.state.problem).toBeUndefined();
    }
  });

  test("what is known is read from a stream made by others, with another name", async () => {
    await using at = await scene();
    const jsm = await jetstreamManager(at.nc, { checkAPI: false });
    await jsm.streams.add({
      name: "THEIRS",
      subjects: STATE_STREAM.subjects,
      allow_direct: true,
      max_msgs_per_subject: 1,
    });
    await using publishing = at.start();
    await published(publishing);
    await eventually(async () => (await jsm.streams.info("THEIRS")).state.messages === 4);
    expect((await at.client.servers()).map(({ host, server }) => ({ host, server }))).toEqual([AT]);
    const unknown = at.client.follow({ ...AT, pane: "%99" });
    await expect(unknown.next()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("wrong credentials are tried until they are right", async () => {
    await using nats = await natsServers({ config: "authorization { user: me, password: right }" });
    await using owned = await ownedFixture();
    await echoPane(owned.server, "work", 80, 24);
    await using publishing = publish(nats.urls, owned.server, { access: { user: "me", password: "wrong" } });
    await eventually(() => metric(publishing, "refused") === 1);
    nats.configure("authorization { user: me, password: wrong }");
    await published(publishing);
    expect(publishing.link.state).toEqual({ connected: true, problem: undefined });
  });

  test.each(["token", "nkey", "TLS"])("a connection with %s", async (what) => {
    const directory = ownDirectory();
    const file = (name: string, text = ""): string => {
      if (text !== "") writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const pair = nkeys.createUser();
    const certificate = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout ${file("key")} -out ${file("cert")}`;
    if (what === "TLS") spawnSync("openssl", certificate.split(" "));
    const [config, access, own] = {
      token: ["authorization { token: t0ken }", { token: "t0ken" }, { token: "t0ken" }],
      nkey: [
        `authorization { users: [ { nkey: ${pair.getPublicKey()} } ] }`,
        { nkeyPath: file("seed", `${new TextDecoder().decode(pair.getSeed())}\n`) },
        { authenticator: nkeyAuthenticator(pair.getSeed()) },
      ],
      TLS: [
        `tls { cert_file: ${JSON.stringify(file("cert"))}, key_file: ${JSON.stringify(file("key"))} }`,
        { tls: { caPath: file("cert"), certificatePath: undefined, keyPath: undefined } },
        { tls: { caFile: file("cert") } },
      ],
    }[what] as [string, NonNullable<PublishOptions["access"]>, NodeConnectionOptions];
    await using nats = await natsServers({ config, own });
    await using owned = await ownedFixture();
    await echoPane(owned.server, "work", 80, 24);
    await using publishing = publish(nats.urls, owned.server, { access });
    await published(publishing);
    expect(publishing.link.state).toEqual({ connected: true, problem: undefined });
  });

  test("a connection that NATS has ended because its key was replaced comes back with what its file holds now", async () => {
    const [first, second] = [nkeys.createUser(), nkeys.createUser()];
    const users = (...pairs: (typeof first)[]) =>
      `authorization { users: [ ${pairs.map((pair) => `{ nkey: ${pair.getPublicKey()} }`).join(", ")} ] }`;
    const nkeyPath = join(ownDirectory(), "seed");
    writeFileSync(nkeyPath, first.getSeed());
    const own = { authenticator: nkeyAuthenticator(second.getSeed()) };
    await using nats = await natsServers({ config: users(first, second), own });
    await using owned = await ownedFixture();
    await echoPane(owned.server, "work", 80, 24);
    await using publishing = publish(nats.urls, owned.server, { access: { nkeyPath } });
    await published(publishing);
    writeFileSync(nkeyPath, second.getSeed());
    nats.configure(users(second));
    await eventually(() => !publishing.link.state.connected);
    await eventually(() => publishing.link.state.connected);
    expect(publishing.link.state).toEqual({ connected: true, problem: undefined });
  });

  test("calls: what is allowed is performed once, everything else refused with the reason", async () => {
    await using at = await scene({ calls: ["input", "capture"] });
    await using publishing = at.start();
    await published(publishing);
    const { client, pane } = at;
    await client.call("box", "input", {
      server: "main",
      pane,
      input: { parts: [{ kind: "text", text: "over NATS" }] },
    });
    await eventually(async () => {
      const screen = await client.call<{ lines: string[] }>("box", "capture", { server: "main", pane, input: {} });
      return screen.lines.join("").includes("over NATS");
    });
    await expect(client.call("box", "killSession", { server: "main", session: "work" })).rejects.toMatchObject({
      code: "DAEMON_UNREACHABLE",
    });
    await expect(client.call("box", "input", { server: "other", pane, input: { parts: [] } })).rejects.toMatchObject({
      code: expect.stringMatching(/NOT_FOUND|INVALID_ARGUMENT/) as string,
    });
    await expect(client.call("box", "input", { server: "main", pane, input: { parts: 5 } })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    const [reply] = [await at.nc.request("tmuxwire.box.call.input", "{", { timeout: 2_000 })];
    expect(reply.json()).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
  });

  test("a connection that the client has closed is another one from then on: publishing, calls and the claim go on", async () => {
    await using at = await scene({ calls: ["capture", "wait"] });
    await using publishing = at.start();
    await published(publishing);
    const { client, pane } = at;
    const capture = () => client.call("box", "capture", { server: "main", pane, input: {} });
    await capture();
    // Its reply finds the connection closed.
    const input = { pattern: { literal: "line 0" }, timeoutMs: 30_000 };
    const unanswered = client.call("box", "wait", { server: "main", pane, input }).catch(() => undefined);
    await using viewer = new Seen(at.nc, pane, "now", new StreamChecker(at.record));
    const former = await publishing.link.connection(publishing.link.signal);
    await former.close();
    publishing.link.answer("tmuxwire.box.call.later", (message) => void message.respond("yes"));
    await eventually(() => !publishing.link.state.connected);
    await shown(at, viewer, 0, 1);
    await capture();
    expect((await at.nc.request("tmuxwire.box.call.later")).string()).toBe("yes");
    await using second = at.start();
    await eventually(() => metric(second, "host_taken") === 1);
    expect(publishing.link.state).toEqual({ connected: true, problem: undefined });
    void unanswered;
  });

  test("what is known is told as it changes, and after NATS was away", async () => {
    await using at = await scene();
    const stop = new AbortController();
    let newest: readonly FleetServer[] = [];
    {
      await using publishing = at.start();
      await published(publishing);
      const watching = (async () => {
        for await (const servers of at.client.changes({ host: "box", signal: stop.signal })) newest = servers;
      })();
      const has = (name: string) => (): boolean =>
        newest.some(({ tree }) => tree.sessions.some((session) => session.name === name));
      await eventually(has("work"));
      await at.owned.server.createSession({ name: "later", command: ["cat"] });
      await eventually(has("later"));
      await at.nats.kill(0);
      await at.owned.server.createSession({ name: "meanwhile", command: ["cat"] });
      await at.nats.start(0);
      await eventually(has("meanwhile"));
      expect(newest.map(({ host, server, ended }) => [host, server, ended])).toEqual([["box", "main", false]]);
      await publishing[Symbol.asyncDispose]();
      await eventually(() => newest[0]?.ended === true);
      stop.abort();
      await watching;
    }
    const [first] = [await at.client.changes({ host: "elsewhere" }).next()];
    expect(first.value).toEqual([]);
  });

  test("what is known is told as it is after any outage, whatever the viewer's clock says", async () => {
    await using at = await scene({}, { domain: DOMAIN });
    await using leaf = await natsServers({ leafOf: at.nats.leafUrl });
    await using publishing = at.start();
    await published(publishing);
    const [realNow, stop] = [Date.now, new AbortController()];
    vi.spyOn(Date, "now").mockImplementation(() => realNow() + 3_600_000);
    const nc = await leaf.connect();
    const changes = new FleetClient(nc, { domain: DOMAIN }).changes({ signal: stop.signal });
    const names = (servers: readonly FleetServer[]) =>
      servers.flatMap(({ tree }) => tree.sessions.map(({ name }) => name));
    let newest: readonly FleetServer[] = [];
    const watching = (async () => {
      for await (const servers of changes) newest = servers;
    })();
    const told = (name: string) => Promise.race([watching, eventually(() => names(newest).includes(name))]);
    await told("work");
    await at.owned.server.createSession({ name: "live", command: ["cat"] });
    await told("live");
    await leaf.kill(0);
    await at.owned.server.createSession({ name: "meanwhile", command: ["cat"] });
    await eventually(async () => names(await at.client.servers()).includes("meanwhile"));
    await leaf.start(0);
    await told("meanwhile");
    // Its server lives, but nobody who keeps anything.
    await at.nats.kill(0);
    await nc.reconnect();
    await at.owned.server.createSession({ name: "last", command: ["cat"] });
    await at.nats.start(0);
    await told("last");
    expect(names(newest).toSorted()).toEqual(["last", "live", "meanwhile", "work"]);
    stop.abort();
    await watching;
  });

  test("a stream that has forgotten a silent pane gets its screen again", async () => {
    await using at = await scene({ retention: { ageMs: 2_000, bytes: 268_435_456, replicas: 1 } });
    await using publishing = at.start();
    await published(publishing);
    await at.print(words(0, 3));
    const jsm = await jetstreamManager(at.nc, { checkAPI: false });
    await jsm.streams.purge("TMUXWIRE_box");
    await eventually(
      async () =>
        (await jsm.streams.getMessage("TMUXWIRE_box", { last_by_subj: outSubject({ ...AT, pane: at.pane }) })) !== null,
    );
    await using viewer = new Seen(at.nc, at.pane, "snapshot");
    await viewer.until(() => viewer.kinds.includes("snapshot"));
    await shown(at, viewer, 3, 4);
    expect(viewer.kinds).not.toContain("gap");
  });

  test("the rights that docs/fleet.md lists are enough, and a viewer has no others", async () => {
    const rows = [
      ...readFileSync("docs/fleet.md", "utf8").matchAll(/^\| (its daemon|a viewer) \| (.*) \| (.*) \|$/gm),
    ].map(([, who, publishes = "", subscribes = ""]) => {
      const list = (cell: string) =>
        [...cell.matchAll(/`([^`]+)`/g)].map(([, subject = ""]) => JSON.stringify(subject.replaceAll("build7", "box")));
      return `{ user: ${who!.split(" ")[1]}, password: pw, permissions: { publish: [${list(publishes).join(", ")}], subscribe: [${list(subscribes).join(", ")}] } }`;
    });
    expect(rows).toHaveLength(2);
    const all = "{ user: all, password: pw }";
    await using nats = await natsServers({ config: `authorization { users: [${[all, ...rows].join(", ")}] }` });
    await using owned = await ownedFixture();
    const { pane, ...echo } = await echoPane(owned.server, "work", 80, 24);
    const as = (user: string) => nats.urls.map((url) => url.replace("//", `//${user}:pw@`));
    await using publishing = publish(as("daemon"), owned.server, { calls: ["input"] });
    await published(publishing);
    for (let line = 0; line < 60; line += 1) await echo.print(words(line, line + 1));
    const nc = await connect({ servers: nats.urls[0]!, user: "viewer", pass: "pw" });
    await eventually(async () => (await new FleetClient(nc).servers()).length === 1);
    await using viewer = new Seen(nc, pane, "start");
    await viewer.until(() => viewer.text.includes("line 59\r\n"));
    await echo.print(words(60, 61));
    await viewer.until(() => viewer.text.includes("line 60\r\n"));
    const changes = new FleetClient(nc).changes({ host: "box" });
    expect((await changes.next()).value).toHaveLength(1);
    await owned.server.createSession({ name: "later", command: ["cat"] });
    for await (const known of changes)
      if (known.some(({ tree }) => tree.sessions.some(({ name }) => name === "later"))) break;
    await expect(async () => {
      for await (const known of new FleetClient(nc).changes()) expect(known).toHaveLength(1);
    }).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(
      new FleetClient(nc).call("box", "input", { server: "main", pane, input: { parts: [] } }, { timeoutMs: 2_000 }),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });
    await nc.close();
  });

  test("through a leaf node that keeps nothing, and whose connection to the others is lost for a while", async () => {
    await using at = await scene({}, { domain: DOMAIN });
    await using leaf = await natsServers({ leafOf: at.nats.leafUrl });
    // The daemon is at one as well.
    await using publishing = publish(leaf.urls, at.owned.server, { access: { domain: DOMAIN } });
    await published(publishing);
    await at.print(words(0, 20));
    const nc = await leaf.connect();
    const checker = new StreamChecker(at.record);
    await using viewer = new Seen(nc, at.pane, "start", checker, DOMAIN);
    await viewer.until(() => viewer.text.includes("line 19\r\n"));
    await at.nats.kill(0);
    await at.print(words(20, 40));
    await at.nats.start(0);
    await shown(at, viewer, 40, 60);
    expect(checker.gaps).toEqual([]);
    const client = new FleetClient(nc, { domain: DOMAIN });
    await eventually(async () => (await client.servers()).some(({ host }) => host === "box"));
  });

  test("an unknown pane, host and place are errors that say so", async () => {
    await using at = await scene();
    await using publishing = at.start();
    await published(publishing);
    await eventually(async () => (await at.client.servers()).length === 1);
    const ends = async (where: { host?: string; pane?: string; from?: string }) => {
      for await (const event of at.client.follow({ ...AT, pane: at.pane, ...where })) return event;
      return undefined;
    };
    await expect(ends({ pane: "%999" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(ends({ host: "nowhere" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(ends({ from: "yesterday" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(ends({ pane: "work" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(ends({ from: formatPosition({ epoch: at.source.epoch, outputSeq: 1e9 }) })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});
