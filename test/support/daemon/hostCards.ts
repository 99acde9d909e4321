/** Other machines and their agents as the dashboard's server tells of them, for tests of the page. */
import { EXAMPLE_AGENT } from "../../../adapters/operations/examples.ts";
import type { HostAgent, HostEvent } from "../../../protocol/api/dashboardHosts.ts";
import type { NativeHost } from "../../../protocol/api/native/nativeHosts.ts";

export const hostEntry = (name: string, fields: Partial<NativeHost> = {}): NativeHost => ({
  name,
  destination: `${name}.example`,
  sshConfig: null,
  program: null,
  agentless: false,
  state: "connected",
  sinceUnixMs: 1_000,
  why: null,
  version: "0.2.0",
  tmuxVersion: "3.5a",
  ...fields,
});

/** One of `build`. */
export const hostAgent = (id: string, fields: Partial<HostAgent> = {}): HostAgent => ({
  ...EXAMPLE_AGENT,
  question: null,
  id: `${id}@build`,
  name: `${id}@build`,
  server: "main@build",
  state: "ready",
  cwd: "/srv/shop",
  ...fields,
});

export const HOST_DIALOG = {
  id: "d1",
  text: "Proceed?",
  multi: false,
  options: [
    { index: 0, number: "1", label: "Yes", keys: ["1"] },
    { index: 1, number: "2", label: "Other", keys: ["2"] },
  ],
  otherIndex: 1,
} satisfies NonNullable<HostAgent["question"]>;

export const hostAgents = (...agents: readonly HostAgent[]): HostEvent => ({
  type: "host_agents",
  host: "build",
  agents,
  messages: [],
});
