/** Other machines on the dashboard's page (docs/contracts/dashboard.md §5). What a machine says is foreign text, cut. */
import type { NativeMessage } from "./native/nativeAgentMessages.ts";
import type { NativeAgent } from "./native/nativeAgents.ts";
import type { NativeHost } from "./native/nativeHosts.ts";

/** With names that end in `@HOST`. */
export type HostAgent = Pick<
  NativeAgent,
  | "id"
  | "name"
  | "agent"
  | "version"
  | "state"
  | "sinceUnixMs"
  | "why"
  | "task"
  | "lastMessage"
  | "question"
  | "cwd"
  | "branch"
  | "server"
  | "session"
  | "pane"
>;
export type HostMessage = Pick<NativeMessage, "id" | "agent" | "text" | "outcome" | "reason" | "createdUnixMs">;

/** The `data` of each event; `type` is the event's name. */
export type HostEvent =
  /** The first: all of them. Others are gone. */
  | { readonly type: "hosts"; readonly hosts: readonly NativeHost[] }
  | { readonly type: "host"; readonly host: NativeHost }
  | { readonly type: "host_removed"; readonly host: string }
  /** Not all of its agents can be shown; until its next `host_agents`. */
  | { readonly type: "host_problem"; readonly host: string; readonly problem: string }
  /** All that run there now, and the messages for them that were not delivered. */
  | {
      readonly type: "host_agents";
      readonly host: string;
      readonly agents: readonly HostAgent[];
      readonly messages: readonly HostMessage[];
    }
  /** It has appeared or changed or, in the state `ended`, ended. */
  | { readonly type: "host_agent"; readonly host: string; readonly agent: HostAgent }
  /** All that were not delivered there. */
  | { readonly type: "host_messages"; readonly host: string; readonly messages: readonly HostMessage[] };
