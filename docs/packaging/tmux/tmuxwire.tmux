#!/bin/sh
# A plugin for tmux: agents in the status line, and a key that goes to the one that asks (README.md beside this file).
directory=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
option() {
  value=$(tmux show-option -gqv "$1")
  printf '%s' "${value:-$2}"
}
program=$(option @tmuxwire-program tmuxwire)
for line in status-left status-right; do
  # tmux keeps such a program running, and shows its last line.
  tmux show-option -gqv "$line" | grep -qF '#{tmuxwire_agents}' || continue
  shown=$(tmux show-option -gqv "$line" | PROGRAM="$program" awk '{
    while ((at = index($0, "#{tmuxwire_agents}")) > 0)
      $0 = substr($0, 1, at - 1) "#(exec " ENVIRON["PROGRAM"] " agents -w --line 2>/dev/null)" substr($0, at + 18)
    print
  }')
  tmux set-option -g "$line" "$shown"
done
tmux bind-key -N 'go to the agent that asks' "$(option @tmuxwire-key A)" \
  run-shell -b "PROGRAM='$program' '$directory/attachAsking.sh'"
