#!/usr/bin/env bash
# Sets up a fresh Debian 12, builds everything and runs the tests.
#
#   scripts/test.sh                the default set
#   scripts/test.sh --long         the long set too, and the runtime-only, asan and tsan builds
#   scripts/test.sh --label lit    only tests of one label: unit lit emu device e2e fuzz clients
#   scripts/test.sh -- ARGS...     ARGS go to ctest
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

long=0
labels=()
extra=()
while (($#)); do
  case $1 in
  --long) long=1 ;;
  --label) labels+=("${2:?--label needs a name}"); shift ;;
  --) shift; extra=("$@"); break ;;
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) printf 'error: unknown option %s (see --help)\n' "$1" >&2; exit 2 ;;
  esac
  shift
done

# runTests PRESET DIRECTORY: builds that preset and runs its set.
runTests() {
  scripts/setup.sh --preset "$1"
  local args=(--test-dir "$2" --output-on-failure --no-tests=error -j "${JOBS:-$(nproc)}")
  ((${#labels[@]})) && args+=(-L "^($(IFS='|'; echo "${labels[*]}"))\$")
  ((long)) || args+=(-LE '^long$')
  printf '\n==> testing (%s)\n' "$1" >&2
  ctest "${args[@]}" "${extra[@]}"
}

start=$SECONDS
runTests release build
if ((long)); then
  for preset in runtime-only asan tsan; do runTests "$preset" "build/$preset"; done
fi
printf '\n==> all tests passed in %d s\n' $((SECONDS - start)) >&2
