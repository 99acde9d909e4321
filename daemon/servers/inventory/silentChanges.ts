/**
 * Detects changes that tmux does not report: windows that `swap-window` or renumbering moves, and, on a server where we are
 * attached to only one session, layouts and titles of the others. While somebody follows the tree, tmux itself compares a
 * format with its last value once a second (`refresh-client -B`) and reports when it has changed. Only the fact of the change
 * is used. The format holds ids, numbers, and titles without control characters, which could end the line (docs/tmuxFacts.md
 * 20).
 */
import { subscribeFormat, unsubscribeFormat } from "../../../protocol/command/build.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";

/** The name of what tmux compares for those who follow the tree. */
const TREE_CHANGES = "tmuxwire";

const PLACES = "#{window_index}#{window_id}#{?window_active,*,}";
/** tmux refuses control characters in titles; a named class (`[:cntrl:]`) would end the modifier. */
const PANES = "#{P:#{=64;s/[\u0001-\u001f\u007f]/_/:pane_title} }";

/** The place of every window. */
const PLACES_FORMAT = `#{S:#{session_id} #{W:${PLACES} }}`;
/** The place and layout of every window. */
const SHAPES_FORMAT = `#{S:#{session_id} #{W:${PLACES}#{window_visible_layout}#{window_layout}${PANES}}}`;

const everywhere = (): string => SHAPES_FORMAT;
/** For a connection that gets the notifications of every session: compares only places. */
export const attachedToAll = ({ features }: ControlConnection): string =>
  features.reportsPaneChanges ? PLACES_FORMAT : SHAPES_FORMAT;

export class SilentChanges {
  readonly #format: (connection: ControlConnection) => string;
  readonly #connection: () => ControlConnection;
  readonly #name: string;
  #isFollowed = false;

  /** @param connection where changes are reported. @throws AppError CONNECTION_LOST while there is none */
  constructor(
    connection: () => ControlConnection,
    format: (of: ControlConnection) => string = everywhere,
    name = TREE_CHANGES,
  ) {
    this.#format = format;
    this.#connection = connection;
    this.#name = name;
  }

  follow(isFollowed: boolean): void {
    this.#isFollowed = isFollowed;
    try {
      this.#send(this.#connection());
    } catch {
      // The next connection will subscribe.
    }
  }

  /** Call for each new connection, which has no subscription yet. */
  attached(connection: ControlConnection): void {
    if (this.#isFollowed) this.#send(connection);
  }

  #send(connection: ControlConnection): void {
    const [name, isFollowed] = [this.#name, this.#isFollowed];
    const command = isFollowed ? subscribeFormat(name, this.#format(connection)) : unsubscribeFormat(name);
    connection.send(command, "none", () => undefined);
  }
}
