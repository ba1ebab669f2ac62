#!/usr/bin/env bash
# tests/packaging/install_test.sh PYTHON: serves releases of a small program and installs them with packaging/install.sh, with
# every shell and every downloader that this machine has. What ./package releases with makes these releases, too.
set -uo pipefail
export LC_ALL=C
python=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
for program in openssl xz; do
  command -v "$program" >/dev/null || { echo "SKIPPED: $program is not installed"; exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/tern install.XXXXXX")  # with a space
trap 'kill "${server-}" 2>/dev/null; rm -rf "$work"' EXIT
failures=0

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
# shellcheck disable=SC2317  # release.sh calls it
need() { command -v "$1" >/dev/null || die "$1 is not installed"; }
fail() { printf 'FAILED: %s\n' "$*"; ((++failures)); }

# --- releases ---

start_server() {
  mkdir -p "$work/site"
  "$python" -u -m http.server 0 --bind 127.0.0.1 --directory "$work/site" >"$work/server" 2>"$work/requests" &
  server=$!
  for _ in {1..100}; do
    port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/server")
    [[ -z $port ]] || return 0
    sleep 0.1
  done
  die "the server did not start: $(cat "$work/requests")"
}

make_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

# make_archive VERSION FOLDER: a program that tells its version and where it reads its data.
make_archive() {
  local name=tern-$1-$platform top=$work/tree/tern-$1-$platform
  rm -rf "$top" && mkdir -p "$top"/{bin,lib,share/tern,share/man/man1,share/bash-completion/completions}
  cat >"$top/bin/tern" <<'END'
#!/bin/sh
case $1 in
  --version) echo "tern VERSION" ;;
  *) cat "$(dirname "$(readlink -f "$0")")/../share/tern/story" ;;
esac
END
  sed -i "s/VERSION/$1/" "$top/bin/tern" && chmod +x "$top/bin/tern"
  echo "a story of $1" >"$top/share/tern/story"
  echo library >"$top/lib/libc.so.6"
  touch "$top/share/man/man1/tern.1" "$top/share/man/man1/tern-of-$1.1" "$top/share/bash-completion/completions/tern"
  tar -C "$work/tree" -cJf "$2/$name.tar.xz" "$name"
}

publish() {  # publish VERSION FOLDER
  out=$2
  mkdir -p "$out"
  make_archive "$1" "$out"
  write_installer
  write_sums install.sh "tern-$1-$platform.tar.xz"
}

case $(uname -m) in
  aarch64) platform=linux-arm64 ;;
  *) platform=linux-$(uname -m) ;;
esac
start_server
make_key "$work/key"
make_key "$work/other key"
export TERN_RELEASES=http://127.0.0.1:$port TERN_SIGNING_KEY=$work/key
# shellcheck source=packaging/release.sh
. "$root/packaging/release.sh"
old=$work/site/download/v1.0.0 new=$work/site/latest/download
publish 1.0.0 "$old"
publish 2.0.0 "$new"
unset TERN_RELEASES TERN_SIGNING_KEY
cp -r "$new" "$work/good"
restore() { rm -rf "$new" && cp -r "$work/good" "$new"; }

# --- machines ---

# make_tools FOLDER PROGRAM...: all that install.sh may call, and these.
make_tools() {
  local folder=$work/$1 program
  shift
  mkdir -p "$folder"
  for program in cat cp cut find grep head ln mkdir mktemp mv readlink rm rmdir sed sha256sum sort tail tar uname xz \
    dirname "$@"; do  # dirname is for the program that is installed
    ln -sf "$(command -v "$program")" "$folder/$program"
  done
}
make_tools bare openssl
if command -v busybox >/dev/null; then  # a system like Alpine, with its wget and its tar
  make_tools busybox openssl busybox wget
  for program in $(busybox --list); do
    [[ ! -e $work/busybox/$program ]] || ln -sf busybox "$work/busybox/$program"
  done
fi
downloaders=()
for program in curl wget; do
  command -v "$program" >/dev/null || { echo "not tried: $program, which is not installed"; continue; }
  downloaders+=("$program")
  make_tools "$program" openssl "$program"
  make_tools "$program-no-openssl" "$program"
done
((${#downloaders[@]})) || { echo 'SKIPPED: neither curl nor wget is installed'; exit 77; }
shells=()
for shell in dash 'bash --posix' 'busybox sh'; do
  if command -v "${shell%% *}" >/dev/null; then shells+=("$shell"); else echo "not tried: ${shell%% *}, which is not installed"; fi
done

# fake NAME TEXT: a folder `fakes` that comes first, with a program whose script is TEXT.
fake() { mkdir -p "$work/fakes" && printf '#!/bin/sh\n%s\n' "$2" >"$work/fakes/$1" && chmod +x "$work/fakes/$1"; }

# run_installer ARGUMENTS...: as `curl … | sh` does it. Sets `status` and `said`. `tools`, `shell` and `variables` say with what.
tools=${downloaders[0]} shell=${shells[0]} installer=$new/install.sh variables=()
run_installer() {
  local words
  read -ra words <<<"$shell"
  words[0]=$(command -v "${words[0]}")
  said=$(env -i PATH="$work/fakes:$work/$tools" HOME="$work/home" "${variables[@]}" "${words[@]}" -s -- "$@" <"$installer" 2>&1)
  status=$?
}

# expect STATUS PATTERN WHAT
expect() {
  [[ $status -eq $1 && $said =~ $2 ]] || fail "$3: wanted exit $1 and '$2'; got exit $status and: $said"
  ((status == 0)) || [[ $(grep -cvE ': downloading |; going by the checksum alone$' <<<"$said") -eq 1 ]] || fail "$3: more than one line: $said"
}

# What is in the home, with the targets of links and the bytes of files.
picture() { (cd "$work/home" && { find . -printf '%y %p %l\n'; find . -type f -exec sha256sum {} +; } | sort); }
new_home() {
  rm -rf "${work:?}/home"
  mkdir -p "$work/home"
  [[ ${1-} != used ]] || { mkdir -p "$work/home/.local/"{bin,lib,share/man/man1} && touch "$work/home/.local/"{bin/other,lib/libc.so,share/man/man1/other.1}; }
  empty=$(picture)
}
unchanged() { [[ $(picture) == "$1" ]] || fail "$2: files were left: $(diff <(echo "$1") <(picture))"; }
runs() {  # runs VERSION WHAT
  local text
  text=$("$work/home/.local/bin/tern" --version; "$work/home/.local/bin/tern")
  [[ $text == "tern $1"$'\n'"a story of $1" ]] || fail "$2: the program says '$text'"
}

. "$root/tests/packaging/install_cases.sh"

((failures == 0)) && echo 'install.sh: all as expected'
exit $((failures > 0))
