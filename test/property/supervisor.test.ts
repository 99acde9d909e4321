/** One connection at a time, and always a next step, whatever tmux does and whoever asks for what. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ControlConnection } from "../../daemon/connection/controlConnection.ts";
import { Supervisor } from "../../daemon/connection/supervisor.ts";
import { AppError } from "../../protocol/errors.ts";
import { FakeClock } from "../support/clock/fakeClock.ts";
import { fuzz, FUZZ_TIMEOUT_MS } from "../support/tmux/fuzz.ts";
import { FakeTransport, turn } from "../support/tmux/fakeTransport.ts";

type Step =
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "open" | "prepare"; readonly how: "at once" | "fails" | "when tmux replies" }
  | { readonly kind: "speaks" | "replies" | "drops" | "retryNow" | "check" | "doubt" | "send" | "idle" | "busy" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(0, 1, 60, 250, 1_000, 5_000, 6_000, 12_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("open" as const, "prepare" as const),
      how: fc.constantFrom("at once" as const, "fails" as const, "when tmux replies" as const),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(["speaks", "replies", "drops", "retryNow", "check", "doubt", "send", "idle", "busy"] as const),
      ),
    }),
  },
);

class World {
  readonly clock = new FakeClock();
  readonly transports: FakeTransport[] = [];
  readonly states: string[] = [];
  opens = "at once";
  prepares = "at once";
  isIdle = false;
  /** What is awaited by `open` now. */
  readonly #opening: (() => void)[] = [];
  readonly #replied = new Map<FakeTransport, number>();
  readonly supervisor = new Supervisor({
    clock: this.clock,
    open: () => this.#open(),
    prepare: (connection) => this.#prepare(connection),
    onState: (state) => this.states.push(state),
    onEvent: () => undefined,
    isServerIdle: () => this.isIdle,
    onBeat: () => undefined,
    checkup: () => ({ command: "how are you", fault: (reply) => (reply.length > 6 ? "moved" : undefined) }),
  });

  get open(): readonly FakeTransport[] {
    return this.transports.filter(({ closed }) => !closed);
  }

  async #open(): Promise<ControlConnection> {
    const how = this.opens;
    if (how === "fails") throw new AppError("CONNECTION_LOST", "no server");
    if (how === "when tmux replies") await new Promise<void>((resolve) => this.#opening.push(resolve));
    const transport = new FakeTransport();
    this.transports.push(transport);
    const connection: ControlConnection = new ControlConnection({
      open: transport.open,
      spawn: { tmux: "tmux", args: [], env: {}, cwd: "/" },
      onOutput: () => undefined,
      onNotification: () => undefined,
      onChunkEnd: () => this.supervisor.received(),
      onClosed: (error) => this.supervisor.lost(connection, error),
    });
    transport.attach();
    return connection;
  }

  async #prepare(connection: ControlConnection): Promise<void> {
    if (this.prepares === "fails") throw new AppError("CONNECTION_LOST", "not yet");
    if (this.prepares === "when tmux replies") await connection.command("who are you");
  }

  /** To the oldest of the commands that it has not replied to. */
  #reply(transport: FakeTransport): void {
    const replied = this.#replied.get(transport) ?? 0;
    if (replied === transport.lines.length) return;
    this.#replied.set(transport, replied + 1);
    transport.reply("well\n");
  }

  /** All goes well from now on. Returns the state in which that must end. */
  async answer(): Promise<string> {
    const isOver = this.supervisor.state === "closed";
    for (const kind of ["open", "prepare"] as const) await this.take({ kind, how: "at once" });
    for (let second = 0; second < 12; second += 1) {
      // More than it is asked in a second.
      for (let reply = 0; reply < 60; reply += 1) await this.take({ kind: "replies" });
      await this.take({ kind: "wait", ms: 1_000 });
    }
    return isOver ? "closed" : "ready";
  }

  async take(taken: Step): Promise<void> {
    const last = this.open.at(-1);
    switch (taken.kind) {
      case "wait":
        this.clock.advanceMs(taken.ms);
        break;
      case "open":
        this.opens = taken.how;
        break;
      case "prepare":
        this.prepares = taken.how;
        break;
      case "speaks":
        for (let second = 0; second < 7; second += 1) {
          last?.push("%output %1 x\n");
          this.clock.advanceMs(1_000);
        }
        break;
      case "replies":
        for (const opened of this.#opening.splice(0)) opened();
        if (last !== undefined) this.#reply(last);
        break;
      case "drops":
        last?.drop();
        break;
      case "retryNow":
        this.supervisor.retryNow();
        break;
      case "check":
        void this.supervisor.check();
        break;
      case "doubt":
        this.supervisor.doubt();
        break;
      case "send":
        if (this.supervisor.state === "ready") this.supervisor.connection().send("x", "ours", () => undefined);
        break;
      case "idle":
      case "busy":
        this.isIdle = taken.kind === "idle";
    }
    await turn();
    await turn();
  }
}

test(
  "there is one connection at a time and always a next step, until it is closed for good",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.boolean(),
        fc.boolean(),
        async (steps, mayWait, isAnswered) => {
          const world = new World();
          const { supervisor, clock, states } = world;
          const started = mayWait ? supervisor.startOrWait() : supervisor.start().catch(() => undefined);
          await turn();
          for (const taken of steps) {
            await world.take(taken);
            const { state } = supervisor;
            const open = world.open.length;
            expect(open).toBeLessThanOrEqual(1);
            if (state === "ready" || state === "degraded") expect(open).toBe(1);
            if (state === "ready") expect(supervisor.connection().closed).toBe(false);
            else expect(() => supervisor.connection()).toThrow(AppError);
          }
          if (isAnswered) {
            const due = await world.answer();
            expect(supervisor.state).toBe(due);
          }
          supervisor.close();
          await world.take({ kind: "replies" });
          await started;
          const opened = world.transports.length;
          supervisor.retryNow();
          for (let second = 0; second < 3; second += 1) await world.take({ kind: "wait", ms: 1_000 });
          expect([world.open.length, world.transports.length, clock.pendingTimers, states.at(-1)]).toEqual([
            0,
            opened,
            0,
            "closed",
          ]);
          for (const [at, state] of states.entries()) expect(state).not.toBe(states[at - 1]);
        },
      ),
      fuzz(200),
    );
  },
  FUZZ_TIMEOUT_MS,
);
