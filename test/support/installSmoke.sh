#!/usr/bin/env bash
# A stranger's first minutes: a clone, installed without a single install script, so that nothing can compile or download;
# started, a pane, a run and the dashboard; stopped by Ctrl-C; started again without being built again.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
daemon=
cleanup() {
  if [ -n "$daemon" ]; then kill -TERM -- "-$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; fi
  tmux -S "$work/run/tmuxwire/tmux.sock" kill-server 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "install smoke test: $1"; cat "$work/out" "$work/err" 2>/dev/null || true; exit 1; }

# What the working tree holds, committed or not, and nothing that is ignored: as a clone would be.
mkdir -p "$work/clone" "$work/home" "$work/run"
chmod 700 "$work/run"
cd "$project"
git ls-files -z --cached --others --exclude-standard |
  while IFS= read -r -d '' file; do [ -e "$file" ] && printf '%s\0' "$file"; done |
  tar -c --null -T - | tar -x -C "$work/clone"
cd "$work/clone"
started=$SECONDS
npm ci --ignore-scripts --silent
installed=$SECONDS
echo "npm ci --ignore-scripts: $((installed - started)) s"

own=(HOME="$work/home" XDG_RUNTIME_DIR="$work/run" XDG_STATE_HOME= XDG_CONFIG_HOME=)
# start — `npm start` in the background, as the leader of a process group of its own, as a terminal would run it.
start() {
  set -m
  env "${own[@]}" npm start -- --only native,team,dashboard --port 0 --dashboard-port 0 \
    --dashboard-tmux-socket "$work/user.sock" >"$work/out" 2>"$work/err" &
  daemon=$!
  set +m
  dashboard=
  for _ in $(seq 1 600); do
    dashboard=$(sed -n 's/^dashboard listening on //p' "$work/out")
    [ -n "$dashboard" ] && return
    kill -0 "$daemon" 2>/dev/null || fail "npm start ended"
    sleep 0.1
  done
  fail "npm start did not listen"
}
# Ctrl-C: the terminal tells all of them.
interrupt() {
  kill -INT -- "-$daemon"
  wait "$daemon" || true
  daemon=
  ! grep -qE 'stack|    at ' "$work/err" || fail "a stack trace at the end"
  grep -q '"daemon.stopped"' "$work/err" || fail "it did not stop in order"
}
cli() { env "${own[@]}" node dist/adapters/bin/tmuxwire.js "$@"; }

start
cli new smoke >/dev/null
[ "$(cli run smoke 'echo ran-$((40 + 2))')" = ran-42 ] || fail "the run did not answer"
echo "from npm ci to the first run: $((SECONDS - started)) s"
curl -fsS "$dashboard/" | grep -q '<script' || fail "no page"
curl -fsS "$dashboard/api/agents" | grep -q '"agents":\[\]' || fail "no agents"
cli kill smoke >/dev/null
interrupt

built=$(stat -c %Y.%i dist/.built dist/adapters/bin/tmuxwire.js)
start
interrupt
[ "$built" = "$(stat -c %Y.%i dist/.built dist/adapters/bin/tmuxwire.js)" ] || fail "npm start built what was built"
echo "// changed" >>protocol/ids.ts
node build.mjs
[ "$built" != "$(stat -c %Y.%i dist/.built dist/adapters/bin/tmuxwire.js)" ] || fail "a changed source was not built"
echo "install smoke test passed"
