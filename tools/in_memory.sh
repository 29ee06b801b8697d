#!/usr/bin/env bash
# Run a command with its temporary files in memory, where that has room for them; else where they usually are.
#
#   tools/in_memory.sh COMMAND [ARGUMENT]...
set -euo pipefail

memory=/dev/shm
need_kb=$((8 << 20)) # a test writes a record of 2 GB, and keeps three copies of it beside the file

if [[ -z ${TMPDIR:-} && -d $memory && -w $memory ]]; then
  free_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  room_kb=$(df -Pk "$memory" | awk 'NR == 2 { print $4 }')
  if ((free_kb > 2 * need_kb && room_kb > need_kb)); then
    TMPDIR=$(mktemp -d "$memory/tfrkit.XXXXXX")
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
  fi
fi
"$@"
