/**
 * What tmux tells nobody: windows that `swap-window` or a renumbering puts elsewhere, and on a server where we are attached
 * to one session only, layouts and titles of the others. While somebody follows the tree, tmux compares a format of them
 * with its last value once a second by itself (`refresh-client -B`) and says when it has changed. Only that it has changed is
 * taken from what it says: ids, numbers, and titles without control characters, which could end the line
 * (docs/tmuxFacts.md 20).
 */
import { subscribeFormat, unsubscribeFormat } from "../../protocol/command/build.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";

/** The name of what tmux compares for those who follow the tree. */
const TREE_CHANGES = "tmuxwire";

const PLACES = "#{window_index}#{window_id}#{?window_active,*,}";
/** tmux refuses control characters in titles; a class by its name (`[:cntrl:]`) would end the modifier. */
const PANES = "#{P:#{=64;s/[\u0001-\u001f\u007f]/_/:pane_title} }";

/** Where every window stands. */
const PLACES_FORMAT = `#{S:#{session_id} #{W:${PLACES} }}`;
/** And what it looks like. */
const SHAPES_FORMAT = `#{S:#{session_id} #{W:${PLACES}#{window_visible_layout}#{window_layout}${PANES}}}`;

const everywhere = (): string => SHAPES_FORMAT;
/** Where every window is in the session that we are attached to. */
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
      // The next connection subscribes when it comes.
    }
  }

  /** Another connection: it knows of nothing yet. */
  attached(connection: ControlConnection): void {
    if (this.#isFollowed) this.#send(connection);
  }

  #send(connection: ControlConnection): void {
    const [name, isFollowed] = [this.#name, this.#isFollowed];
    const command = isFollowed ? subscribeFormat(name, this.#format(connection)) : unsubscribeFormat(name);
    connection.send(command, "none", () => undefined);
  }
}
