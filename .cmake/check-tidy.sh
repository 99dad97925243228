#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-tidy.sh BUILD [JOBS] [FILE...]: clang-tidy with the checks of .clang-tidy over the sources of every library,
# model and tool (not the tests), or over the files named. BUILD holds compile_commands.json and generated headers.
set -eu
build=$1
jobs=${2:-2}
if ! command -v clang-tidy >/dev/null; then
  echo "check-tidy.sh: clang-tidy is missing (.cmake/setup-packages.sh --ci installs it)" >&2
  exit 2
fi
if [ $# -gt 2 ]; then
  shift 2
  files=$(printf '%s\n' "$@")
else
  commands=$build/compile_commands.json
  # Rooms that are compiled as one file have that one in the list of commands, and none of their own.
  files=$(git ls-files --cached --others --exclude-standard -- 'traces/*.cpp' 'compiler/*.cpp' 'platform/*.cpp' \
    'models/*.cpp' 'examples/*.cpp' | while read -r file; do
      if grep -q "\"file\": \"$PWD/$file\"" "$commands"; then echo "$file"; fi
    done
    # Tests are compiled in such files too; theirs are not checked, nor is what Verilator made.
    sed -n 's/.*"file": "\(.*\/Unity\/unity_[^"]*\)".*/\1/p' "$commands" | grep -v "/${build#"$PWD"/}/tests/" | grep -v "_verilated\.dir/")
fi
echo "$files" | xargs -P "$jobs" -n 4 clang-tidy -p "$build" --quiet
echo "$(echo "$files" | wc -l) files are tidy"
