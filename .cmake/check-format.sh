#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds every C++ file of the working tree to .clang-format; --fix rewrites those that differ.
set -eu
if ! command -v clang-format >/dev/null; then
  echo "check-format.sh: clang-format is missing (.cmake/setup-packages.sh --ci installs it)" >&2
  exit 2
fi
mode="--dry-run -Werror"
[ "${1:-}" = --fix ] && mode="-i"
files=$(git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp')
# shellcheck disable=SC2086  # lists of words; no file name of ours has a space
clang-format $mode $files
[ "$mode" = -i ] || echo "$(echo "$files" | wc -l) files are formatted"
