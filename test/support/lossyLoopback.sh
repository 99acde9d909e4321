#!/bin/sh
# Runs a command in a network namespace of its own, whose loopback interface loses some of the packets:
#   sh test/support/lossyLoopback.sh 1 npm run load -- hostCuts
# By nftables, because not every kernel has netem. Needs root, for sshd's sake.
set -eu
percent=$1
shift
if [ "$(id -u)" -ne 0 ]; then
  echo "lossyLoopback.sh: only root may make a network namespace in which sshd runs" >&2
  exit 77
fi
exec unshare --net sh -c '
  set -eu
  ip link set lo up
  nft add table ip loss
  nft add chain ip loss input "{ type filter hook input priority 0; }"
  nft add rule ip loss input numgen random mod 1000 "<" "$(($0 * 10))" counter drop
  status=0
  "$@" || status=$?
  nft list chain ip loss input | grep counter
  exit "$status"
' "$percent" "$@"
