/** Shown when there are no agents. */

export const EmptyState = () => (
  <section class="empty">
    <h2>No agents yet</h2>
    <p>Agents appear here by themselves once their hooks tell tmuxwire about them.</p>
    <ol>
      <li>
        Install the hooks once: <code>tmuxwire hooks install claude</code> (or codex, gemini, opencode, pi, copilot)
      </li>
      <li>
        Start an agent in a tmux pane: <code>tmux new -s work claude</code>
      </li>
      <li>When it needs an answer, its card turns amber, and you can answer from here.</li>
    </ol>
    <p class="quiet">
      Nothing happens? <code>tmuxwire doctor</code> says what is missing.
    </p>
  </section>
);
