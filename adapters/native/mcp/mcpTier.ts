/**
 * What one MCP client may do: which tools it has, and which servers and panes it may name. A tier only restricts what the
 * token allows, so the client itself sets it in the URL: `/mcp?readOnly=true&server=main&panes=work*`.
 */
import * as v from "valibot";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { OWN_SERVER_NAME } from "../../../daemon/ops/daemonConfig.ts";
import { AppError } from "../../../protocol/errors.ts";
import { filled, optional } from "../../../protocol/api/described.ts";
import { type Named, PanePatterns, type Placed } from "../../operations/panes/panePatterns.ts";

/** `reads` changes nothing; `destroys` kills panes, windows or sessions. */
export type ToolEffect = "reads" | "works" | "destroys";

export const tierSchema = v.strictObject({
  readOnly: optional(v.boolean(), "Offer only tools that change nothing."),
  noDestructive: optional(v.boolean(), "Offer no tool that ends or stops something."),
  server: optional(filled(256), "Limit it to this tmux server."),
  panes: optional(
    filled(1_024),
    "Limit it to panes whose id or session name matches: patterns with commas between, * for anything.",
  ),
});
type TierOptions = v.InferOutput<typeof tierSchema>;

export class McpTier {
  readonly #options: TierOptions;
  readonly #patterns: PanePatterns | undefined;

  constructor(options: TierOptions) {
    this.#options = options;
    this.#patterns = options.panes === undefined ? undefined : new PanePatterns(options.panes);
  }

  get isReadOnly(): boolean {
    return this.#options.readOnly === true;
  }

  allows(effect: ToolEffect): boolean {
    if (effect === "reads") return true;
    return !this.isReadOnly && !(effect === "destroys" && this.#options.noDestructive === true);
  }

  /** The default server if none is named. @throws AppError FORBIDDEN */
  serverName(given: string | undefined): string {
    const { server } = this.#options;
    const name = given ?? server ?? OWN_SERVER_NAME;
    if (this.seesServer(name)) return name;
    throw new AppError("FORBIDDEN", `this client may use only the server ${JSON.stringify(server)}`);
  }

  seesServer(name: string): boolean {
    return this.#options.server === undefined || this.#options.server === name;
  }

  seesSession(session: Named): boolean {
    return this.#patterns?.matchesSession(session) !== false;
  }

  seesPane(server: TmuxServer, pane: Placed): boolean {
    return this.#patterns?.matchesPane(server, pane) !== false;
  }

  /** @throws AppError FORBIDDEN */
  requirePane(server: TmuxServer, pane: Placed): void {
    if (!this.seesPane(server, pane)) throw this.#outside(`pane ${pane.id}`);
  }

  /** What another machine has is not looked at pane by pane. @throws AppError FORBIDDEN */
  requireAllPanes(server: string): void {
    if (this.#patterns !== undefined) throw this.#outside(`server ${JSON.stringify(server)} of another machine`);
  }

  get seesAllPanes(): boolean {
    return this.#patterns === undefined;
  }

  /** For operations on every pane of a session. @throws AppError FORBIDDEN */
  requireSession(session: Named): void {
    if (!this.seesSession(session)) throw this.#outside(`session ${JSON.stringify(session.name)}`);
  }

  #outside(what: string): AppError {
    return new AppError(
      "FORBIDDEN",
      `this client may not use ${what}, only panes that match ${JSON.stringify(this.#options.panes)}`,
    );
  }
}
