#!/usr/bin/env bash
# Makes the binary seeds that come from assembly again: objects, and code behind its four bytes of
# settings (see EmulatorCodeFuzzer.cpp). Needs llvm-mc, ld.lld and llvm-objcopy of LLVM 22.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
bin=${LLVM_BIN:-/usr/lib/llvm-22/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# assemble SOURCE CPU
assemble() {
  "$bin/llvm-mc" -triple=amdgcn-amd-amdhsa -mcpu="$2" -filetype=obj -I ../../emulator "$1" -o "$work/o"
}

for source in frame_gfx942.s rich_gfx950.s ../../cli/data/scale.s; do
  name=$(basename "$source" .s)
  [[ $name == *_gfx* ]] || name+=_gfx942
  assemble "$source" "${name##*_}"
  # Small pages keep the files small; no section names or symbols that loading does not need.
  "$bin/ld.lld" -shared -z max-page-size=256 -z common-page-size=256 --hash-style=sysv \
    --strip-all "$work/o" -o "../corpus/object/$name.co"
  chmod 644 "../corpus/object/$name.co"
done

# Tables of source lines: with section names, which are how they are found.
for version in 4 5; do
  "$bin/llvm-mc" -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj --dwarf-version=$version \
    "lines_dwarf$version.s" -o "$work/o"
  "$bin/ld.lld" -shared -z max-page-size=256 -z common-page-size=256 --hash-style=sysv "$work/o" \
    -o "../corpus/lines/dwarf$version.co"
  chmod 644 "../corpus/lines/dwarf$version.co"
done

checks=(alignment_lds barrier_never_reached hazard_m0 hazard_matrix_result memory_buffer_clips
  memory_lds_out_of_bounds race_lds_dma race_no_barrier registers_beyond_allocation
  uninitialised_exec uninitialised_lds uninitialised_matrix wait_lds wait_lds_dma wait_scalar)
for source in "${checks[@]/#/../../emulator/checks/}" ./jump_to_odd_address ./backward_calls; do
  assemble "$source.s" gfx942
  "$bin/llvm-objcopy" -O binary --only-section=.text "$work/o" "$work/text"
  { printf '\0\0\0\0'; cat "$work/text"; } >"../corpus/code/$(basename "$source").bin"
done
