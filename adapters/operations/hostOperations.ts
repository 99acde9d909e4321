/** Other machines whose servers are served from here: list, add, check, remove. */
import {
  addHostSchema,
  checkedHostSchema,
  hostsSchema,
  type NativeCheckedHost,
} from "../../protocol/api/native/nativeHosts.ts";
import { emptyRequestSchema } from "../../protocol/api/native/nativeRequests.ts";
import { JUST_DONE, type Hosts, operation, type OperationContext, requirePart } from "./operation.ts";

const EXAMPLE_HOST: NativeCheckedHost = {
  name: "build",
  destination: "me@build.example",
  sshConfig: null,
  program: null,
  agentless: false,
  state: "connected",
  sinceUnixMs: 1_795_149_767_000,
  why: null,
  version: "0.1.0",
  tmuxVersion: "3.5a",
  roundTripMs: 14,
  servers: 3,
  agents: 9,
};

export const hostOperations = {
  listHosts: operation({
    summary: "List the other machines.",
    description: "As they are now; a machine that does not respond in time is listed with what is known.",
    scope: "daemon",
    input: emptyRequestSchema,
    output: hostsSchema,
    errors: ["INVALID_ARGUMENT"],
    example: { input: {}, output: { hosts: [EXAMPLE_HOST] } },
    run: async (context) => ({ hosts: await requireHosts(context).list() }),
  }),

  addHost: operation({
    summary: "Serve the tmux servers of another machine, over ssh.",
    description:
      "The system's ssh connects, with the user's configuration and keys; it never asks anything. The machine is remembered, also when it cannot be reached now: read `state` and `why`.",
    scope: "daemon",
    input: addHostSchema,
    output: checkedHostSchema,
    errors: ["INVALID_ARGUMENT", "ALREADY_EXISTS", "RESOURCE_LIMIT"],
    long: true,
    example: { input: { name: "build", destination: "me@build.example" }, output: EXAMPLE_HOST },
    run: (context, _target, host, { signal }) => requireHosts(context).add(host, signal),
  }),

  showHost: operation({
    summary: "Check another machine.",
    description: "Connects if need be, and measures how long its daemon takes to respond.",
    scope: "host",
    input: emptyRequestSchema,
    output: checkedHostSchema,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
    long: true,
    example: { input: {}, output: EXAMPLE_HOST },
    run: (_context, { host, hosts }, _input, { signal }) => hosts.check(host, signal),
  }),

  removeHost: operation({
    summary: "Serve another machine no longer.",
    description: "Ends its connection. What runs there goes on.",
    scope: "host",
    ...JUST_DONE,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
    run: async (_context, { host, hosts }) => {
      await hosts.remove(host);
      return { ok: true } as const;
    },
  }),
} as const;

/** @throws AppError INVALID_ARGUMENT */
export const requireHosts = ({ remote }: Pick<OperationContext, "remote">): Hosts =>
  requirePart(remote, "serves no other machines; run the daemon of `tmuxwire serve`");
