#!/usr/bin/env bash
# Builds the libFuzzer targets under the address and undefined-behaviour sanitizers and runs them.
#
#   scripts/fuzz.sh [--time SECONDS] [--compiler] [--dir BUILD] [TARGET]...
#
# Each target runs for SECONDS (default 60) from its corpus in tests/fuzz/corpus and from what
# earlier runs found (BUILD/corpus). --compiler adds the target that needs LLVM. A crash, a hang, a
# leak or a huge allocation ends with status 1 and the path of its input.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=60
compiler=OFF
build=build/fuzz
targets=()
while (($#)); do
  case $1 in
  --time) seconds=${2:?--time needs seconds}; shift ;;
  --compiler) compiler=ON ;;
  --dir) build=${2:?--dir needs a directory}; shift ;;
  -h | --help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  -*) printf 'error: unknown option %s (see --help)\n' "$1" >&2; exit 2 ;;
  *) targets+=("$1") ;;
  esac
  shift
done

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -S . -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
  "${launcher[@]}" -DCMAKE_BUILD_TYPE= '-DCMAKE_CXX_FLAGS=-O1 -g1' -DWAVESMITH_FUZZ=ON \
  -DWAVESMITH_SANITIZER=address -DWAVESMITH_COMPILER="$compiler" >/dev/null
((${#targets[@]})) || mapfile -t targets < <(cut -d' ' -f1 "$build/fuzzers.txt")
ninja -C "$build" -j "${JOBS:-$(nproc)}" "${targets[@]/#/wavesmith_fuzzer_}"

# LLVM's libraries are not instrumented, so what they share with us may look overrun or poisoned.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_container_overflow=0:allow_user_poisoning=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
mkdir -p "$build/crashes"
failed=0
for target in "${targets[@]}"; do
  read -r corpus slice head < <(sed -n "s/^$target //p" "$build/fuzzers.txt") ||
    { printf 'error: no fuzz target %s\n' "$target" >&2; exit 2; }
  seeds=tests/fuzz/corpus/$corpus
  mkdir -p "$build/corpus/$target"
  if ((slice)); then
    rm -rf "$build/seeds/$target"
    mkdir -p "$build/seeds/$target"
    for seed in "$seeds"/*; do
      # shellcheck disable=SC2016 # split's shell expands it
      tail -c +$((head + 1)) "$seed" | SEED=$seed HEAD=$head split -b $((slice - head)) -a 4 \
        --filter='{ head -c "$HEAD" "$SEED"; cat; } >"$FILE"' - "$build/seeds/$target/${seed##*/}."
    done
    seeds=$build/seeds/$target
  fi
  printf '\n==> %s for %s s\n' "$target" "$seconds" >&2
  "$build/bin/wavesmith_fuzzer_$target" -max_total_time="$seconds" -timeout=20 -max_len=$((slice ? slice : 16384)) \
    -malloc_limit_mb=1024 -rss_limit_mb=3072 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$build/crashes/$target-" "$build/corpus/$target" \
    "$seeds" || { failed=1; printf 'error: %s failed\n' "$target" >&2; }
done
if ((failed)); then
  printf '\nerror: inputs that failed are in %s/crashes\n' "$build" >&2
  exit 1
fi
