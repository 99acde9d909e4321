/** The dashboard over a stub server, with a readiness and a delivery that say what the test tells them. */
import { afterEach, beforeEach, expect } from "vitest";
import type {
  ChooseRequest,
  Delivery,
  DeliveryOutcome,
  PressRequest,
  SubmitRequest,
  SubmitResult,
} from "../../../daemon/delivery/delivery.ts";
import type {
  Dialog,
  HookEvidence,
  PaneReadiness,
  Readiness,
  ReadinessState,
  ReadinessWatcher,
} from "../../../daemon/readiness/readiness.ts";
import type { InputPart } from "../../../daemon/tmux/io.ts";
import type { StubServer } from "../../../daemon/servers/stub/stubServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import {
  databaseDirectory,
  dashboardFixture,
  type DashboardFixture,
  type DashboardFixtureOptions,
  UUID,
} from "./dashboardFixture.ts";
import { deferred } from "../clock/deferred.ts";
import { eventually } from "../clock/eventually.ts";
import { type NativeAnswer, stubServer } from "./nativeServer.ts";
import { PROFILES } from "../agents/agentCatalogue.ts";

type Outcome = () => Promise<DeliveryOutcome>;

/** Of the test that runs (`eachHasScene`). */
export let scene: DashboardScene;

/** In place of the one that the test has. */
export async function otherScene(options: DashboardFixtureOptions): Promise<void> {
  await scene[Symbol.asyncDispose]();
  scene = await DashboardScene.start(options);
}

/** Each test of the file has a scene of its own. */
export function eachHasScene(options: DashboardFixtureOptions = {}): void {
  beforeEach(async () => {
    scene = await DashboardScene.start(options);
  });
  afterEach(() => scene[Symbol.asyncDispose]());
}

export class DashboardScene implements AsyncDisposable {
  readonly server: StubServer;
  readonly pane: PaneId;
  readonly submitted: SubmitRequest[] = [];
  readonly chosen: ChooseRequest[] = [];
  readonly pressed: PressRequest[] = [];
  readonly reported: HookEvidence["state"][] = [];
  probes = 0;
  dashboard!: DashboardFixture;
  readonly #inputs: InputPart[] = [];
  readonly #directory = databaseDirectory();
  readonly #listeners = new Set<(readiness: Readiness) => void>();
  #outcome: Outcome = () => Promise.resolve("submitted");
  /** What the screen says after a delivery. */
  screenNote: string | undefined;
  #current: Readiness = {
    state: "unknown",
    source: "none",
    sinceUnixMs: 0,
    position: undefined,
    profile: "generic",
  };

  private constructor(server: StubServer, pane: PaneId) {
    this.server = server;
    this.pane = pane;
    const input = server.input.bind(server);
    server.input = (target, parts, options) => {
      this.#inputs.push(...parts);
      return input(target, parts, options);
    };
  }

  static async start(options: DashboardFixtureOptions = {}): Promise<DashboardScene> {
    const server = stubServer();
    const session = await server.createSession({ name: "agent" });
    if (session.activePane === undefined) throw new Error("no pane");
    const made = new DashboardScene(server, session.activePane);
    made.dashboard = await made.another(options);
    return made;
  }

  /** Its dashboard keeps its records in a file from now on. Returns what starts another one on that. */
  async onDisk(): Promise<() => Promise<void>> {
    const databasePath = `${this.#directory.path}/d.db`;
    const restart = async (): Promise<void> => {
      await this.dashboard[Symbol.asyncDispose]();
      this.dashboard = await this.another({ databasePath });
    };
    await restart();
    return restart;
  }

  /** A dashboard over the same server, as after a restart. */
  another(options: DashboardFixtureOptions = {}): Promise<DashboardFixture> {
    return dashboardFixture(this.server, {
      readiness: this.#readiness(),
      delivery: this.#delivery(),
      availability: { level: "exists", programs: new Set(["claude"]) },
      ...options,
    });
  }

  /** Registers an agent in this pane, and lets its first hook claim it; without a pane for undefined. */
  async register({ pane }: { readonly pane: string | undefined } = { pane: this.pane }): Promise<number> {
    const at = pane === undefined ? {} : { tmux_pane_id: pane };
    const body = { session_uuid: UUID, project_path: "/work/project", ...at };
    const { json } = await this.dashboard.call("POST", "/api/sessions", body);
    await this.hook("session-start", { headspace_session_id: UUID });
    return Number(json["agent_id"]);
  }

  /** A hook of the agent's session. */
  hook(name: string, body: object = {}, headers: Record<string, string> = {}): Promise<NativeAnswer> {
    return this.dashboard.hook(name, { session_id: "s1", ...body }, headers);
  }

  async prompt(text: string): Promise<void> {
    await this.hook("user-prompt-submit", { prompt: text });
  }

  async notify(): Promise<void> {
    await this.hook("notification", { message: "Claude is waiting for your input" });
  }

  /** An agent at work. */
  async working(): Promise<number> {
    const agentId = await this.register();
    await this.prompt("go");
    return agentId;
  }

  /** An agent that waits in its prompt box. */
  async asking(): Promise<number> {
    const agentId = await this.working();
    await this.notify();
    return agentId;
  }

  async card(agentId: number): Promise<Record<string, unknown> | undefined> {
    const { json } = await this.dashboard.call("GET", "/api/agents");
    return (json["agents"] as Record<string, unknown>[]).find((card) => card["agent_id"] === agentId);
  }

  submits(outcome: DeliveryOutcome): void {
    this.#outcome = () => Promise.resolve(outcome);
  }

  submitsWith(outcome: Outcome): void {
    this.#outcome = outcome;
  }

  /** Until the function it returns is called, deliveries are under way. */
  holdSubmit(outcome: DeliveryOutcome = "submitted"): () => void {
    const { promise, resolve } = deferred();
    this.#outcome = () => promise.then(() => outcome);
    return resolve;
  }

  untilSubmitted(count: number): Promise<void> {
    return eventually(() => this.submitted.length >= count);
  }

  untilChosen(count: number): Promise<void> {
    return eventually(() => this.chosen.length >= count);
  }

  /** What the screen says now. */
  shows(state: ReadinessState, dialog?: Dialog, profile = "claude", source: Readiness["source"] = "screen"): void {
    this.#current = { state, source, sinceUnixMs: Date.now(), position: undefined, profile, dialog };
    for (const listener of this.#listeners) listener(this.#current);
  }

  /** Keys pressed, in order. */
  keys(): readonly string[] {
    return this.#inputs.flatMap((part) => (part.kind === "keys" ? part.keys : []));
  }

  texts(): readonly string[] {
    return this.#inputs.flatMap((part) => (part.kind === "keys" ? [] : [new TextDecoder().decode(part.bytes)]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dashboard[Symbol.asyncDispose]();
    await this.server.close();
    this.#directory[Symbol.dispose]();
  }

  #readiness(): ReadinessWatcher {
    const current = (): Readiness => this.#current;
    const listeners = this.#listeners;
    const watch = (): PaneReadiness => ({
      get current() {
        return current();
      },
      subscribe: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      report: ({ state }) => void this.reported.push(state),
      probe: async () => {
        this.probes += 1;
        return current();
      },
      [Symbol.dispose]: () => undefined,
    });
    return { profiles: PROFILES, watch, known: current, hadAgent: () => false };
  }

  #delivery(): Delivery {
    const result = async (): Promise<SubmitResult> => ({
      outcome: await this.#outcome(),
      position: undefined,
      latencyMs: 1,
      firstByteMs: 1,
      enterMs: 1,
      enterPresses: 1,
      details: this.screenNote === undefined ? undefined : { screenNote: this.screenNote },
    });
    return {
      submit: (request) => {
        this.submitted.push(request);
        return result();
      },
      choose: (request) => {
        this.chosen.push(request);
        return result();
      },
      press: async (request) => {
        this.pressed.push(request);
        const { pane, steps } = request;
        for (const step of steps) {
          const part =
            step.kind === "key"
              ? ({ kind: "keys", keys: [step.key] } as const)
              : ({ kind: "paste", bytes: new TextEncoder().encode(step.text) } as const);
          await this.server.input(pane, [part]);
        }
        return { ...(await result()), outcome: "echoed_unconfirmed" };
      },
      interrupt: () => Promise.resolve(),
      clear: () => Promise.resolve(),
      look: () => Promise.reject(new Error("the dashboard never looks")),
    };
  }
}

/** What an answer that has failed looks like. */
export const failed = (errorType: string, message: string | RegExp): object => ({
  status: "error",
  error_type: errorType,
  message: typeof message === "string" ? message : (expect.stringMatching(message) as string),
});
