#!/usr/bin/env bash
# From a fresh Debian 12 to a verified result: installs packages, builds, and runs BF16 attention
# (D192/V128, causal, 12 heads, eight prompts in one batch), compiled for gfx942, on the emulator
# with every check on, against a float64 reference. Runs it twice: the second call's kernel comes
# from the disk cache.
#
#   scripts/quickstart.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} =~ ^(-h|--help)$ ]] && { sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0; }

scripts/setup.sh --target wavesmith

# An own, fresh cache directory, so that the first call shows a cold compile every time.
cache=$PWD/build/quickstart-cache
rm -rf "$cache"
mkdir -p build
mkdir -m 700 "$cache"

job=(build/bin/wavesmith run --target gfx942 --dtype bf16 --head-dim 192x128 --heads 12
  --lens '603:603,611:611,627:627,640:640,655:655,672:672,689:689,698:698'
  --causal --device emulator --checks all --verify)
for call in first second; do
  printf '\n==> %s call: %s\n\n' "$call" "${job[*]}"
  WAVESMITH_CACHE_DIR=$cache "${job[@]}"
done
