#!/usr/bin/env bash
# Runs a copy of ./setup on a machine that has no packages, played by programs that come first on PATH.
set -uo pipefail
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

mkdir -p "$work/checkout" "$work/fakes" "$work/cache"
cp -r "$source_root"/{setup,toolchain} "$work/checkout/"
# fake NAME TEXT: a program whose script is TEXT.
fake() { printf '#!/bin/sh\n%s\n' "$2" >"$work/fakes/$1" && chmod +x "$work/fakes/$1"; }
fake dpkg-query 'exit 1'
fake dpkg-deb 'exit 1'
fake apt-config 'exit 0'
fake apt-cache 'exit 0'
fake apt-get 'echo "E: Failed to fetch http://mirror/list  Could not resolve" >&2; exit 100'

# setup_with CACHE ARGUMENTS...: sets `status` and `said`.
setup_with() {
  local cache=$1
  shift
  said=$(XDG_CACHE_HOME=$cache PATH="$work/fakes:$PATH" "$work/checkout/setup" "$@" 2>&1)
  status=$?
}

# expect STATUS PATTERN WHAT
expect() {
  if [[ $status -ne $1 || ! $said =~ $2 ]]; then
    printf 'FAILED: %s: wanted exit %d and "%s"; got exit %d and:\n%s\n' "$3" "$1" "$2" "$status" "$said"
    ((++failures))
  fi
}

# The recipe of a set, asked of the scripts themselves; and a folder that is complete under it.
recipe_for() {
  (
    root=$work/checkout XDG_CACHE_HOME=$1
    . "$root/toolchain/packages.sh" && . "$root/toolchain/private.sh" && use_cache_folder
    echo "$toolchains/recipes/$(recipe_of "$2")"
  )
}
make_complete() {
  local recipe
  recipe=$(recipe_for "$1" build)
  mkdir -p "$1/tern/toolchains/build-made/tools" "${recipe%/*}"
  touch "$1/tern/toolchains/build-made/.complete"
  echo "$1/tern/toolchains/build-made" >"$recipe"
}

setup_with "$work/cache" --bogus
expect 2 'no option --bogus' 'an unknown option'
setup_with "$work/cache" --allow-remove
expect 1 '--allow-remove goes with --system' 'an option that needs another'
setup_with "$work/cache" --dry-run
expect 0 'would unpack' 'a dry run'
setup_with "$work/cache" --arm64 --system
expect 1 '(does not go with --system|is an ARM64 itself)' 'two architectures in one system'
if [[ $(uname -m) != aarch64 ]]; then
  # Packages of the machine are of its own architecture, whatever their names are.
  fake dpkg-query 'shift 3; for name; do echo "installed $name 99:1"; done'
  setup_with "$work/cache" --arm64 --dry-run
  expect 0 "^setup: would unpack Debian 14's arm64 packages.*setup: would unpack Debian 14's arm64_libraries packages" 'ARM64'
  fake dpkg-query 'exit 1'
fi
[[ ! -e $work/cache/tern && ! -e $work/checkout/build ]] || { echo 'FAILED: a dry run wrote something'; ((++failures)); }

if compgen -G '/usr/share/keyrings/debian-archive-keyring.*' >/dev/null; then
  setup_with "$work/cache"
  expect 1 'could not be fetched.*Could not resolve.*run ./setup again' 'no network'
  setup_with /dev/null
  expect 1 'cannot write to /dev/null/.*XDG_CACHE_HOME' 'a cache that cannot be written'
  fake apt-get 'case "$*" in *print-uris*) echo "E: Unable to locate package ninja-build" >&2; exit 100 ;; esac; exit 0'
  setup_with "$work/cache"
  expect 1 "lacks some of: .*Unable to locate package ninja-build" 'an archive without a package'

  # Enough to be asked for, and more than the disk has.
  fake apt-get 'case "$*" in *print-uris*) echo "'"'http://m/cmake_1_all.deb'"' cmake_1_all.deb 1000 SHA256:00" ;; esac'
  fake apt-cache 'echo "Installed-Size: 900000000000"'
  setup_with "$work/cache"
  expect 1 'MB free, and the toolchain needs [0-9]+; make room' 'a disk that is too small'
  # A download that stops halfway, and an unpacking that fails.
  fake apt-cache 'echo "Installed-Size: 1"'
  fake apt-get 'case "$*" in
    *print-uris*) echo "'"'http://m/cmake_1_all.deb'"' cmake_1_all.deb 1000 SHA256:00" ;;
    *download-only*) echo "E: Failed to fetch http://m/cmake_1_all.deb  503" >&2; exit 100 ;;
  esac'
  setup_with "$work/cache"
  expect 1 'download stopped after .*503.*Run ./setup again: it goes on' 'a mirror that stops'
  fake apt-get 'case "$*" in
    *print-uris*) echo "'"'http://m/cmake_1_all.deb'"' cmake_1_all.deb 1000 SHA256:00" ;;
    *download-only*) touch "'"$work"'/cache/tern/toolchains/download/cache/archives/cmake_1_all.deb" ;;
  esac'
  setup_with "$work/cache"
  expect 1 'unpacking into .* failed' 'a package that cannot be unpacked'
  [[ ! -e $work/checkout/build/toolchain ]] || { echo 'FAILED: a toolchain that is not complete was linked'; ((++failures)); }
fi

# Another run holds the lock and completes the toolchain: this one waits and then needs no network.
fake apt-get 'exit 100'
exec {held}>"$work/cache/tern/toolchains/.lock"
flock "$held"
(sleep 1; make_complete "$work/cache"; flock -u "$held") &
setup_with "$work/cache"
expect 0 'another ./setup is at work' 'two runs at once'
wait
[[ $(readlink "$work/checkout/build/toolchain/build") == "$work/cache/tern/toolchains/build-made" ]] ||
  { echo 'FAILED: the toolchain was not linked'; ((++failures)); }
setup_with "$work/cache"
expect 0 'nothing to do' 'a second run without a network'
mkdir -p "$work/checkout/build/release" && touch "$work/checkout/build/release/CMakeCache.txt"
rm "$work/checkout/build/toolchain/build"
setup_with "$work/cache" --quiet
expect 0 '^$' 'another checkout'
[[ ! -e $work/checkout/build/release/CMakeCache.txt ]] ||
  { echo 'FAILED: a build for another compiler was kept'; ((++failures)); }

((failures == 0)) && echo 'setup: all as expected'
exit $((failures > 0))
