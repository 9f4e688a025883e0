#!/usr/bin/env bash
# Sets up a Debian 12 machine: installs the missing packages, configures the `release` preset and
# builds. Repeatable; what is already there is left alone.
#
#   scripts/setup.sh [--packages-only] [--preset NAME] [--target NAME]...
#
# JOBS=N overrides the number of parallel jobs (default: every core that memory allows).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools liblld-22-dev lld-22
  clang-22 clang-format-22 clang-tidy-22 libclang-rt-22-dev
  libamdhip64-dev libamd-comgr-dev
  libfmt-dev libcli11-dev nlohmann-json3-dev libssl-dev libhiredis-dev redis-tools libsqlite3-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  ninja-build ccache cmake pkg-config g++ python3 python3-dev python3-venv
)

say() { printf '\n==> %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 3; }

missingPackages() {
  local name
  for name in "${packages[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$name" 2>/dev/null) == ii* ]] || printf '%s\n' "$name"
  done
}

# One installable version of every package in the lists that apt has now?
allKnown() {
  local name
  for name in "$@"; do
    [[ $(apt-cache policy "$name" 2>/dev/null) =~ Candidate:\ [^\(] ]] || return 1
  done
}

installPackages() {
  if ! { command -v dpkg-query && command -v apt-get; } >/dev/null; then
    die "this script needs Debian 12 (apt-get, dpkg); elsewhere install these by hand: ${packages[*]}"
  fi
  local missing
  mapfile -t missing < <(missingPackages)
  ((${#missing[@]})) || return 0

  local asRoot=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "installing packages needs root or sudo; as root: apt-get install ${missing[*]}"
    # Ask for a password only where someone can type one.
    if [[ -t 0 ]]; then sudo -v || die "sudo refused; as root: apt-get install ${missing[*]}"
    else sudo -n true 2>/dev/null ||
      die "sudo wants a password and there is no terminal; as root: apt-get install ${missing[*]}"
    fi
    asRoot=(sudo)
  fi
  local apt=("${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
    -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)

  say "installing ${#missing[@]} packages (about 230 MB when nothing is there): ${missing[*]}"
  local updated=0
  if ! allKnown "${missing[@]}"; then
    "${apt[@]}" update >&2 || die "apt-get update failed; is the network there?"
    updated=1
  fi
  local name
  for name in "${missing[@]}"; do
    allKnown "$name" || die "apt knows no package $name; Debian 12 has it in bookworm or" \
      "bookworm-security: are both in /etc/apt/sources.list(.d)?"
  done
  if ! "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2; then
    # Lists older than the mirror name files that are gone: refresh once.
    ((updated)) && die "apt-get install failed (see above)"
    "${apt[@]}" update >&2 || die "apt-get update failed; is the network there?"
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2 ||
      die "apt-get install failed (see above)"
  fi
}

# Cores, but no more jobs than memory holds: a unit with MLIR's headers takes up to 1.5 GB.
jobs() {
  local cores kb limit
  cores=$(nproc)
  kb=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  for limit in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
    if [[ -r $limit && $(<"$limit") =~ ^[0-9]+$ && ${#BASH_REMATCH[0]} -lt 16 ]]; then
      ((BASH_REMATCH[0] / 1024 < kb)) && kb=$((BASH_REMATCH[0] / 1024))
    fi
  done
  local fit=$((kb / 1572864))
  ((fit < 1)) && fit=1
  echo $((fit < cores ? fit : cores))
}

preset=release
targets=()
packagesOnly=0
while (($#)); do
  case $1 in
  --packages-only) packagesOnly=1 ;;
  --preset) preset=${2:?--preset needs a name}; shift ;;
  --target) targets+=("${2:?--target needs a name}"); shift ;;
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) printf 'error: unknown option %s (see --help)\n' "$1" >&2; exit 2 ;;
  esac
  shift
done

installPackages
((packagesOnly)) && exit 0

JOBS=${JOBS:-$(jobs)}
[[ $JOBS =~ ^[1-9][0-9]*$ ]] || { printf 'error: JOBS=%s is not a positive number\n' "$JOBS" >&2; exit 2; }
export CCACHE_SLOPPINESS=pch_defines,time_macros
export NINJA_STATUS='[%f/%t, %es] '

say "configuring (preset $preset)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
  >"$log" 2>&1 || { cat "$log" >&2; die "configuring failed"; }

say "building with $JOBS jobs"
start=$SECONDS
args=()
((${#targets[@]})) && args=(--target "${targets[@]}")
cmake --build --preset "$preset" -j "$JOBS" "${args[@]}" >&2 || die "the build failed (see above)"
say "built in $((SECONDS - start)) s"
