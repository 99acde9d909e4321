#!/usr/bin/env bash
# The tests on real tmux with each of several tmux: tmuxMatrix.sh SOURCE VERSION... [-- TEST_FILE...]
# SOURCE is a git directory of tmux, VERSION a tag or commit of it, which is built once and kept in TMUX_MATRIX_DIR (default
# ~/.cache/tmuxwire/tmux); building needs autoconf, automake, bison, pkg-config, libevent-dev and libncurses-dev. A VERSION
# that is the path of a tmux is used as it is.
# One line per version with what passed, failed and was skipped, then the failing tests; the exit status is 1 if any failed.
# A binary is found by the tests as a user's is: its directory comes first on PATH.
set -uo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
usage() { echo "usage: $0 SOURCE VERSION... [-- TEST_FILE...]" >&2; exit 2; }
source=${1-}
git -C "$source" rev-parse --git-dir >/dev/null 2>&1 || usage
shift
versions=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do versions+=("$1"); shift; done
[ $# -gt 0 ] && shift
[ ${#versions[@]} -gt 0 ] || usage
kept=${TMUX_MATRIX_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/tmuxwire/tmux}

# built VERSION: prints the path of its tmux, which it builds if nobody has.
built() {
  local commit directory
  commit=$(git -C "$source" rev-parse --verify --quiet "$1^{commit}") || { echo "$source has no $1" >&2; return 1; }
  directory=$kept/$commit
  if [ ! -x "$directory/tmux" ]; then
    rm -rf "$directory.part" && mkdir -p "$directory.part" || return 1
    (
      cd "$directory.part" &&
        git -C "$source" archive "$commit" | tar -x &&
        sh autogen.sh && ./configure && make -j "$(nproc)"
    ) >"$directory.log" 2>&1 || { tail -n 5 "$directory.log" >&2; echo "$1 was not built: $directory.log" >&2; return 1; }
    rm -rf "$directory" && mv "$directory.part" "$directory" || return 1
  fi
  echo "$directory/tmux"
}

binaries=()
for version in "${versions[@]}"; do
  if [[ $version == */* && -x $version ]]; then binary=$version; else binary=$(built "$version") || exit 2; fi
  "$binary" -V >/dev/null || { echo "$binary is no tmux that runs here" >&2; exit 2; }
  binaries+=("$binary")
done
work=$(mktemp -d)
# Tests of other users run it as them.
chmod 711 "$work"
trap 'rm -rf "$work"' EXIT
cd "$project" || exit 2
npm run --silent build >/dev/null || exit 2

# summary VERSION REPORT: what vitest's JSON says, in a few lines.
summary() {
  node - "$1" "$2" <<'SUMMARY'
const { readFileSync } = require("node:fs");
const { relative } = require("node:path");
const [version, file] = process.argv.slice(2);
let report;
try {
  report = JSON.parse(readFileSync(file, "utf8"));
} catch {
  console.log(`${version}: the tests did not run`);
  process.exit(1);
}
const files = report.testResults;
const seconds = (Math.max(...files.map((f) => f.endTime)) - report.startTime) / 1000;
const skipped = report.numPendingTests + report.numTodoTests;
const broken = files.filter((f) => f.status === "failed" && f.assertionResults.every((t) => t.status !== "failed"));
console.log(
  `${version}: ${files.length} files, ${report.numPassedTests} passed, ${report.numFailedTests} failed, ` +
    `${skipped} skipped, ${seconds.toFixed(0)} s`,
);
for (const f of files) {
  for (const t of f.assertionResults) {
    if (t.status !== "failed") continue;
    console.log(`  failed: ${relative(".", f.name)} > ${t.fullName}`);
    console.log(`    ${(t.failureMessages[0] ?? "").split("\n")[0].slice(0, 200)}`);
  }
}
for (const f of broken) console.log(`  did not run: ${relative(".", f.name)}`);
process.exit(report.success && files.length > 0 ? 0 : 1);
SUMMARY
}

failed=0
for binary in "${binaries[@]}"; do
  directory=$work/bin$RANDOM
  mkdir "$directory"
  ln -s "$(realpath "$binary")" "$directory/tmux"
  version=$("$binary" -V)
  report=$work/report.json
  rm -f "$report"
  log=${TMUX_MATRIX_LOG:-$work/log}
  # Of a run inside tmux nothing is to be left that names a server of another version.
  env -u TMUX -u TMUX_PANE PATH="$directory:$PATH" \
    npx vitest run --project live --project programs --reporter=json --outputFile="$report" "$@" >"$log" 2>&1
  summary "$version" "$report" || { failed=1; tail -n 40 "$log" >&2; }
done
exit $failed
