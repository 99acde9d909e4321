#!/usr/bin/env bash
# The live suite with each of several tmux: tmuxMatrix.sh TMUX_BINARY... [-- TEST_FILE...]
# One line per version with what passed, failed and was skipped, then the failing tests; the exit status is 1 if any failed.
# A binary is found by the tests as a user's is: its directory comes first on PATH.
set -uo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
binaries=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do binaries+=("$1"); shift; done
[ $# -gt 0 ] && shift
[ ${#binaries[@]} -gt 0 ] || { echo "usage: $0 TMUX_BINARY... [-- TEST_FILE...]" >&2; exit 2; }
for binary in "${binaries[@]}"; do
  "$binary" -V >/dev/null || { echo "$binary is no tmux that runs here" >&2; exit 2; }
done
work=$(mktemp -d)
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
    if (t.status === "failed") console.log(`  failed: ${relative(".", f.name)} > ${t.fullName}`);
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
