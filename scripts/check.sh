#!/usr/bin/env bash
# The checks that need no build: include directions, file rules, tests present, formatting.
#
#   scripts/check.sh          all of them
#   scripts/check.sh --fix    the same, formats what is not, and shortens the list of untested rows
#   scripts/check.sh --tidy [FILE]...   clang-tidy over the files (default: all), from build/
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sources() {
  { git ls-files -co --exclude-standard 2>/dev/null || find . -path ./build -prune -o -type f -print |
    sed 's|^\./||'; } | grep -E '\.(h|hpp|cpp|c)$' | while read -r name; do
    if [[ -f $name ]]; then printf '%s\n' "$name"; fi
  done
}

case ${1:-} in
"" | --fix) ;;
--tidy)
  shift
  [[ -f build/compile_commands.json ]] || { echo "error: configure first: scripts/setup.sh" >&2; exit 3; }
  if (($#)); then files=("$@"); else mapfile -t files < <(sources | grep '\.cpp$'); fi
  printf '%s\n' "${files[@]}" | xargs -P "${JOBS:-$(nproc)}" -n 1 clang-tidy-22 --quiet -p build
  exit
  ;;
*) sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac

failed=0
for check in include_direction file_rules test_presence docs_links; do
  python3 "scripts/lint/$check.py" || failed=1
done
if command -v clang-format-22 >/dev/null; then
  if [[ ${1:-} == --fix ]]; then sources | xargs -r clang-format-22 -i; fi
  sources | xargs -r clang-format-22 --dry-run -Werror || failed=1
else
  echo "error: clang-format-22 is not installed (scripts/setup.sh --packages-only)" >&2
  exit 3
fi
((failed)) || echo "all checks passed"
exit "$failed"
