#!/usr/bin/env bash
# The tarball a user gets: packed, installed elsewhere, started, asked once, stopped.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
daemon=
cleanup() {
  if [ -n "$daemon" ]; then kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; fi
  tmux -S "$work/bridge/tmux.sock" kill-server 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

cd "$project"
tarball=$(npm pack --silent --pack-destination "$work" | tail -n 1)
# What it holds: no map that leads to sources which are not in it; documents and the Python client.
listed=$(tar -tzf "$work/$tarball")
! grep -q '\.map$' <<<"$listed" || { echo "source maps in the package"; exit 1; }
for file in adapters/client/python/tmuxwire.py docs/index.md docs/examples/repl.py README.md SECURITY.md LICENSE; do
  grep -qx "package/$file" <<<"$listed" || { echo "$file is not in the package"; exit 1; }
done
for script in marks.bash zsh/.zshenv fish/vendor_conf.d/tmuxwire.fish; do
  grep -qx "package/dist/daemon/shell/tmuxwire-marks/$script" <<<"$listed" || { echo "$script is not in the package"; exit 1; }
done
echo "the package holds $(wc -l <<<"$listed") files, $(stat -c %s "$work/$tarball") bytes packed"

# The README's own lines, with this package for the published one.
mkdir "$work/app" "$work/home" "$work/stranger"
global=$(sed -n 's/^    \(npm install -g tmuxwire\)$/\1/p' "$project/README.md")
dependency=$(sed -n 's/^    \(npm install tmuxwire\)$/\1/p' "$project/README.md")
once=$(sed -n 's/^    \(npx tmuxwire serve\)$/\1/p' "$project/README.md")
[ -n "$global" ] && [ -n "$dependency" ] && [ -n "$once" ] || { echo "the README installs in another way"; exit 1; }
(
  cd "$work/stranger"
  export npm_config_prefix="$work/prefix" npm_config_audit=false npm_config_fund=false npm_config_loglevel=error
  ${global/tmuxwire/"$work/$tarball"} >/dev/null
  [ "$("$work/prefix/bin/tmuxwire" --version)" = "tmuxwire $(node -p "require('$project/package.json').version")" ]
  npm init -y >/dev/null
  ${dependency/tmuxwire/"$work/$tarball"} >/dev/null
  node --input-type=module -e 'import "tmuxwire/client"'
  ${once/serve/--version} >/dev/null
)
cd "$work/app"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund "$work/$tarball"

# What it exports can be loaded, and its types need nothing that is not installed with it.
cat >uses.mts <<'END'
import { createClient } from "tmuxwire/client";
import { CastPlayer } from "tmuxwire/player";
import teamTmux from "tmuxwire/pi-extension";
export const made: unknown[] = [createClient({ url: "http://127.0.0.1:1", token: "none" }).server("main").pane(5), CastPlayer, teamTmux];
END
ln -s "$project/node_modules/@types" node_modules/@types
node "$project/node_modules/typescript/bin/tsc" --module nodenext --target es2023 --strict --types node uses.mts
node uses.mjs

# start ARGUMENT… — the daemon in the background; `url` is where it listens.
start() {
  rm -f "$work/lines"; mkfifo "$work/lines"
  HOME="$work/home" XDG_RUNTIME_DIR= XDG_STATE_HOME= XDG_CONFIG_HOME= PORT=0 TMUX_BRIDGE_SOCKET_DIR="$work/bridge" \
    ./node_modules/.bin/tmuxwire serve "$@" >"$work/lines" 2>"$work/log" &
  daemon=$!
  url=
  while read -r line; do
    case "$line" in *"listening on "*) url=${line#*listening on }; url=${url%% *}; break ;; esac
  done <"$work/lines"
  [ -n "$url" ] || { echo "the packed daemon did not start:"; cat "$work/log"; exit 1; }
}
stop() { kill -TERM "$daemon"; wait "$daemon"; daemon=; }

start --only addin --http
ask() { curl -fsS -H 'Origin: https://localhost:3000' "$@"; }
ask "$url/health" | grep -q '"ok":true'
ask -H 'Content-Type: application/json' -d '{"action":"create_session","session":"smoke"}' "$url/v1/tmux" >/dev/null
ask -H 'Content-Type: application/json' \
  -d '{"action":"send_and_capture","session":"smoke","text":"echo sm''oke-$((40+2))","enter":true,"wait_for":"smoke-42"}' \
  "$url/v1/tmux" | grep -q 'smoke-42'
ask -H 'Content-Type: application/json' -d '{"action":"kill_session","session":"smoke"}' "$url/v1/tmux" >/dev/null

stop

./node_modules/.bin/tmuxwire skill | grep -q '^name: tmuxwire$'

# The second executable, as somebody finds it whose server does not run.
told=0
HOME="$work/home" FRESHELL_URL=http://127.0.0.1:1 ./node_modules/.bin/freshell health 2>/dev/null || told=$?
[ "$told" = 69 ]

start --only dashboard --dashboard-tmux-socket "$work/user.sock"
curl -fsS "$url/" | grep -q '<script'
curl -fsS "$url/api/agents" | grep -q '"agents":\[\]'
stop
echo "package smoke test passed: $tarball"
