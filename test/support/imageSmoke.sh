#!/usr/bin/env bash
# The image: built, healthy, one run in it, nobody privileged. Where there is no docker this says so and is over.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! docker info >/dev/null 2>&1; then
  echo "image smoke test: no docker here, so the image is not built"
  exit 0
fi
name=tmuxwire-smoke-$$
cleanup() { docker rm -f "$name" >/dev/null 2>&1 || true; docker rmi -f "$name" >/dev/null 2>&1 || true; }
trap cleanup EXIT
docker build -q -t "$name" . >/dev/null
docker run -d --name "$name" --health-interval=1s "$name" >/dev/null
for _ in $(seq 1 120); do
  health=$(docker inspect -f '{{.State.Health.Status}}' "$name")
  [ "$health" = healthy ] && break
  sleep 0.5
done
[ "$health" = healthy ] || { echo "the image is $health"; docker logs "$name"; exit 1; }
docker exec "$name" tmuxwire new work >/dev/null
[ "$(docker exec "$name" tmuxwire run work 'id -un')" = node ] || { echo "the run did not answer"; exit 1; }
echo "image smoke test passed"
