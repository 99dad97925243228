#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of Debian 12 or 13 or Ubuntu 24.04 that a build needs. Installs only what is missing; when nothing
# is, it needs neither root nor a network. Options add the packages of one purpose each:
#   --ci             style checks, and tests that compare our files with what other programs read and write
#   --cosim          RTL twins and their proofs
#   --docs           the documentation site: only what `make docs` needs
#   --fuzz           fuzzing targets
#   --package        Debian packages and wheels, and a clean Debian to try them in
#   --reproduce      figures of the papers' reproductions
#   --slurm          regatta-study --slurm, and the reproductions on a cluster
#   --studies-tests  what `make studies` tests the Python package with
#   --test           what `make test` needs beside a build: regatta-sample's scipy, and pip with setuptools
set -eu

packages="cmake ninja-build ccache g++ pkg-config libsystemc-dev libboost-program-options-dev libspdlog-dev libfmt-dev
  catch2 libprotobuf-dev protobuf-compiler libzstd-dev libxxhash-dev liblzma-dev libtomlplusplus-dev nlohmann-json3-dev
  libbenchmark-dev python3 python3-jinja2"
docs="doxygen furo node-normalize.css python3-linkify-it python3-myst-parser python3-sphinx"
# Names that differ: Debian 12 is the one meant.
clang=14
browser="chromium chromium-driver"
case "$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")" in
  trixie) clang=19 ;;
  noble) browser="" ;;  # Ubuntu's is no package of apt
esac
case "${1:-}" in
  "") ;;
  --ci) packages="$packages clang-format clang-tidy gtkwave mandoc snakemake zsh python3-scipy python3-pip python3-setuptools $docs" ;;
  --docs) packages="python3 $docs" ;;
  --fuzz) packages="$packages clang-$clang libclang-rt-$clang-dev" ;;
  --package) packages="$packages dpkg-dev mmdebstrap patchelf python3-pip python3-setuptools python3-wheel" ;;
  --reproduce) packages="$packages python3-matplotlib" ;;
  --cosim) packages="$packages verilator yosys zlib1g-dev gtkwave" ;;
  --slurm) packages="$packages snakemake" ;;
  --test) packages="$packages python3-scipy python3-pip python3-setuptools" ;;
  --studies-tests)
    packages="$packages snakemake slurm-wlm slurmctld slurmd slurm-client munge
      $browser python3-selenium
      mypy python3-pandas python3-matplotlib
      python3-jinja2 python3-nbconvert python3-ipykernel $docs"
    ;;
  *)
    echo "setup-packages.sh: unknown argument '$1'; expected nothing, --ci, --cosim, --docs, --fuzz, --package, --reproduce, --slurm, --studies-tests or --test" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
  # Not a Debian: CMake says which package it does not find.
  echo "setup-packages.sh: no dpkg here; install with this system's tools what these Debian packages hold:" $packages
  exit 0
fi

missing=""
for package in $packages; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup-packages.sh: packages are missing, and this is neither root nor is there sudo. Have root run:" >&2
    echo "  apt-get install$missing" >&2
    exit 2
  fi
  as_root=sudo
fi

echo "installing:$missing"
install_missing() {
  # shellcheck disable=SC2086  # a list of words
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}
# The package lists of a fresh machine are empty or old; fetch them only then.
if ! install_missing >/dev/null 2>&1; then
  $as_root apt-get update -q
  install_missing
fi
