# shellcheck shell=bash
# Sourced by ./setup: a toolchain of its own in the user's cache. Packages of Debian 14 are downloaded with an apt state
# that is not the system's, unpacked side by side and made to run where they lie. Each set of packages with all that it
# depends on is a folder SET-HASH, the hash being that of the packages' contents; build/toolchain/SET of a checkout links
# to it.
readonly layout=1  # counts up when what is done to unpacked files changes

# Debian's release that a set comes from.
suite_of() {
  case $1 in
    wine) echo trixie ;;
    *) echo forky ;;
  esac
}

# What is not run: nothing in it has to find its loader and its libraries.
is_data() { [[ $1 == *_libraries ]]; }

# provide SET: sees to build/toolchain/SET, or to its absence where the system's own packages do.
provide() {
  local link=$root/build/toolchain/$1
  use_cache_folder
  recipe=$toolchains/recipes/$(recipe_of "$1")
  if [[ -e $link/.complete && -e $recipe && $(readlink "$link") == "$(<"$recipe")" ]]; then return 0; fi
  if system_suffices "$1"; then
    ((dry_run)) || [[ ! -L $link ]] || { rm "$link" && forget_builds "$1"; }
    return 0
  fi
  done_any=1
  if [[ -e $recipe && -e $(<"$recipe")/.complete ]]; then
    ((dry_run)) && { say "would use $(<"$recipe")"; return 0; }
    link_set "$1" "$(<"$recipe")"
    return 0
  fi
  ((dry_run)) && { say "would unpack Debian 14's ${1} packages and what they need into $toolchains"; return 0; }
  require_means
  take_lock
  # Somebody else may have done it meanwhile.
  [[ -e $recipe && -e $(<"$recipe")/.complete ]] || fetch_set "$1"
  exec {lock_fd}>&-
  link_set "$1" "$(<"$recipe")"
}

use_cache_folder() {
  [[ -n ${XDG_CACHE_HOME-} || -n ${HOME-} ]] || die "neither HOME nor XDG_CACHE_HOME is set, so there is no place for the toolchain"
  toolchains=${XDG_CACHE_HOME:-$HOME/.cache}/tern/toolchains
}

recipe_of() {
  local -n recipe_packages=$1_packages
  local -n recipe_sources=$1_sources  # few sets have one
  printf '%s\n' "$layout" "$(suite_of "$1")" "$(uname -m)" "$toolchains" "$1" "${recipe_packages[@]}" patchelf ${recipe_sources[@]+"${recipe_sources[@]}"} | sha256sum | cut -c1-16
}

# What unpacking needs of the machine itself.
require_means() {
  local tool
  have_dpkg || die "this system (${PRETTY_NAME:-unknown}) has no apt. $(what_to_install)"
  for tool in dpkg-deb flock tar sha256sum awk; do
    command -v "$tool" >/dev/null || die "the program $tool is not on this machine, and unpacking the toolchain needs it"
  done
  case $(uname -m) in
    x86_64) triplet=x86_64-linux-gnu architecture=amd64 loader=usr/lib64/ld-linux-x86-64.so.2 ;;
    aarch64) triplet=aarch64-linux-gnu architecture=arm64 loader=usr/lib/ld-linux-aarch64.so.1 ;;
    *) die "there is no private toolchain for $(uname -m). $(what_to_install)" ;;
  esac
  keyring=
  for tool in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
    [[ ! -e $tool ]] || keyring=$tool
  done
  [[ -n $keyring ]] || die "Debian's keys are not on this machine, so nothing that is downloaded could be trusted; install the package debian-archive-keyring"
  mkdir -p "$toolchains/recipes" 2>/dev/null && [[ -w $toolchains ]] ||
    die "cannot write to $toolchains; set XDG_CACHE_HOME to a folder that can be written and has 2 GB free"
}

take_lock() {
  exec {lock_fd}>"$toolchains/.lock"
  if ! flock -n "$lock_fd"; then
    say "another ./setup is at work in $toolchains; waiting for it"
    flock "$lock_fd"
  fi
}

# fetch_set SET: downloads, unpacks and patches; each step can be repeated after an interruption.
fetch_set() {
  local -n set_packages=$1_packages
  local -n set_sources=$1_sources
  local names=("${set_packages[@]%%>=*}") folder suite architecture=$architecture
  local sources=(${set_sources[@]+"${set_sources[@]}"})
  suite=$(suite_of "$1")
  [[ $1 != arm64_libraries ]] || architecture=arm64
  is_data "$1" || names+=(patchelf)
  work=$toolchains/download
  log=$work/log
  mkdir -p "$work"/{state/lists/partial,cache/archives/partial,none/partial} || die "cannot write to $work"
  write_apt_configuration
  update_lists
  # As if nothing had been downloaded before: the list names all packages.
  apt_get -o Dir::Cache::archives="$work/none" --print-uris -y install "${names[@]}" >"$work/uris" 2>>"$log" ||
    die "Debian's archive at $mirror lacks some of: ${names[*]} ($(last_apt_error))"
  ((${#sources[@]} == 0)) || apt_get source --download-only --tar-only --print-uris "${sources[@]}" >>"$work/uris" 2>>"$log" ||
    die "Debian's archive at $mirror lacks some of the sources: ${sources[*]} ($(last_apt_error))"
  grep "^'" "$work/uris" | awk '{print $2, $3, $4}' | sort >"$work/files"
  folder=$toolchains/$1-$( (echo "$layout"; cut -d' ' -f1,3 "$work/files") | sha256sum | cut -c1-16)
  if [[ ! -e $folder/.complete ]]; then
    rm -rf "$folder"  # what an interrupted run left
    check_space
    download "${names[@]}"
    unpack "$folder"
    ((${#sources[@]} == 0)) || unpack_sources "$folder" "${sources[@]}"
    if ! is_data "$1"; then  # the emulator takes its loader and libraries from the folder that it is given
      say "making the programs run from there"
      patch_programs "$folder"
    fi
    describe "$1" "$folder"
    touch "$folder/.complete" || die "cannot write to $folder"
  fi
  { echo "$folder" >"$recipe.new" && mv "$recipe.new" "$recipe"; } || die "cannot write to $recipe"
  rm -rf "$work/cache"
  say "unpacked into $folder ($(du -sm "$folder" | cut -f1) MB)"
}

# An apt that reads nothing of the system but its keys, its mirror and how it reaches the network.
write_apt_configuration() {
  mirror=$(debian_mirror)
  : >"$work/status"
  echo "deb [signed-by=$keyring check-valid-until=no] $mirror $suite main" >"$work/sources.list"
  ((${#sources[@]} == 0)) || echo "deb-src [signed-by=$keyring check-valid-until=no] $mirror $suite main" >>"$work/sources.list"
  {
    apt-config dump | grep '^Acquire::' || true
    cat <<END
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::main "/dev/null";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "0";
APT::Sandbox::User "";
Debug::NoLocking "1";
Acquire::Retries "3";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
Acquire::Languages "none";
END
  } >"$work/apt.conf"
}

apt_get() { APT_CONFIG=$work/apt.conf apt-get -q "$@"; }

# What apt said last, as the end of a sentence.
last_apt_error() {
  { grep -aE -m1 "^(E|W): Failed to fetch" "$log" || grep -aE "^(E|W|Err):" "$log" || tail -n 1 "$log"; } |
    tail -n 1 | sed -E "s/^[EW]: *//; s/  +/ /g" | cut -c1-240
}

update_lists() {
  say "reading the package lists of Debian's $suite from $mirror"
  : >"$log"
  apt_get update --error-on=any >>"$log" 2>&1 || die "Debian's package lists could not be fetched: $(last_apt_error). If this machine is offline, run ./setup again when it is not"
}

check_space() {
  local needed free packages
  mapfile -t packages < <(sed -E 's/^([^_]+)_.*/\1/' "$work/files")
  needed=$(APT_CONFIG=$work/apt.conf apt-cache show --no-all-versions "${packages[@]}" 2>/dev/null |
    awk '/^Installed-Size:/ {kb += $2} /^Size:/ {kb += $2 / 1024} END {printf "%d", kb / 1000 + 100}')
  needed=$((needed - $(downloaded_mb)))
  free=$(df -Pm "$toolchains" | awk 'NR == 2 {print $4}')
  ((free >= needed)) || die "$toolchains has $free MB free, and the toolchain needs $needed; make room, or set XDG_CACHE_HOME to a folder elsewhere"
}

# Shows a line that changes on a terminal, and now and then a line elsewhere, while the process PID lives.
# show_progress PID TOTAL UNIT TEXT COMMAND...: the command prints how much is done.
show_progress() {
  local pid=$1 total=$2 unit=$3 text=$4 done_now shown=0
  shift 4
  while kill -0 "$pid" 2>/dev/null; do
    done_now=$("$@")
    if [[ -t 1 ]]; then
      printf '\rsetup: %s: %d of %d %s ' "$text" "$done_now" "$total" "$unit"
    elif ((done_now * 4 >= total * (shown + 1) && shown < 3)); then
      shown=$((done_now * 4 / total))
      say "$text: $done_now of $total $unit"
    fi
    sleep 0.5
  done
  [[ ! -t 1 ]] || printf '\r\033[K'
}

# Fails where a file that it has listed is gone, and apt renames each when it is whole: that must not end the script.
downloaded_mb() { { du -sm "$work/cache/archives" 2>/dev/null || true; } | cut -f1; }

download() {
  local total pid
  total=$(awk '{b += $2} END {printf "%d", b / 1e6 + 1}' "$work/files")
  say "downloading $(wc -l <"$work/files") files, $total MB"
  apt_get -y --download-only install "$@" >>"$log" 2>&1 {lock_fd}>&- &
  pid=$!
  show_progress "$pid" "$total" MB downloading downloaded_mb
  wait "$pid" || die "the download stopped after $(downloaded_mb) of $total MB ($(last_apt_error)). Run ./setup again: it goes on from there"
}

count_unpacked() { find "$work/unpacked" -type f | wc -l; }

last_unpacking_error() { grep -am1 'No space left' "$log" || tail -n 1 "$log"; }

# One package, into the current folder. Manuals, translations and a viewer for GCC's link-time files stay behind.
unpack_one() {
  dpkg-deb --fsys-tarfile "$1" |
    tar -x --keep-directory-symlink --no-same-owner --exclude=./usr/share/{man,info,locale} --exclude='./usr/bin/*lto-dump*' -f - && touch "$2/${1##*/}"
}

unpack() {
  local folder=$1 pid total
  rm -rf "$work/unpacked"
  mkdir -p "$folder"/usr/{bin,sbin,lib,lib64} "$work/unpacked"
  local name
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$folder/$name"; done
  total=$(grep -c '\.deb ' "$work/files")
  export -f unpack_one
  # The lock is not for children, which may outlive this script.
  (cd "$folder" && find "$work/cache/archives" -maxdepth 1 -name '*.deb' -print0 |
    xargs -0 -P 4 -I{} bash -c 'set -o pipefail; unpack_one "$1" "$2" || exit 255' - {} "$work/unpacked") >>"$log" 2>&1 {lock_fd}>&- &
  pid=$!
  show_progress "$pid" "$total" packages unpacking count_unpacked
  wait "$pid" || die "unpacking into $folder failed ($(last_unpacking_error)). Run ./setup again when that is mended"
  [[ $(count_unpacked) -eq $total ]] || die "only $(count_unpacked) of $total packages were unpacked into $folder (log: $log). Run ./setup again"
  rm -rf "$work/unpacked"
}

# unpack_sources FOLDER NAMES...: what the authors of a library published, as Debian keeps it, into usr/src/NAME.
unpack_sources() {
  local folder=$1 name archive
  shift
  rm -rf "$work/sources"
  mkdir -p "$work/sources"
  (cd "$work/sources" && apt_get source --download-only --tar-only "$@") >>"$log" 2>&1 ||
    die "the sources could not be downloaded ($(last_apt_error)). Run ./setup again"
  for name in "$@"; do
    archive=("$work/sources/${name}"_*.orig.tar.*)
    mkdir -p "$folder/usr/src/$name"
    tar -x --strip-components=1 --no-same-owner -C "$folder/usr/src/$name" -f "${archive[0]}" >>"$log" 2>&1 ||
      die "unpacking the source of $name failed ($(last_unpacking_error)). Run ./setup again"
  done
  rm -rf "$work/sources"
}

link_set() {
  local link=$root/build/toolchain/$1
  mkdir -p "$root/build/toolchain" 2>/dev/null || die "cannot write to $root/build; is the checkout read-only?"
  [[ $(readlink "$link" || true) == "$2" ]] && return 0
  ln -sfn "$2" "$link"
  forget_builds "$1"
}

# What was configured with another compiler has to be configured anew.
forget_builds() {
  case $1 in
    build) rm -f "$root"/build/{release,debug,asan,tsan,web,arm64,windows}/CMakeCache.txt ;;
    arm64*) rm -f "$root"/build/arm64/CMakeCache.txt ;;
    windows*) rm -f "$root"/build/windows/CMakeCache.txt ;;
    web) rm -f "$root"/build/web/CMakeCache.txt ;;
    checks) rm -f "$root"/build/asan/CMakeCache.txt ;;
  esac
}
