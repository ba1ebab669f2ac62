#!/bin/sh
# Installs the program `tern` for one user, without root and without building:
#   curl -fsSL ADDRESS/install.sh | sh
#   curl -fsSL ADDRESS/install.sh | sh -s -- --uninstall
# All files go to PREFIX/lib/tern/VERSION, where the C library that Tern brings is on no other program's search path;
# PREFIX/bin and PREFIX/share get links to them. PREFIX/lib/tern/installed lists everything that was made.
# shellcheck disable=SC2015  # 'A && B || die': whichever fails, the script ends

# ./package writes the address of the project's releases and the public half of the signing key here.
default_releases='https://tern.example/releases'
public_key=''

usage() {
  cat <<END
usage: install.sh [--version VERSION | --uninstall]

Downloads Tern from $releases, checks its signature and checksum, and installs it in
$prefix for this user alone.
  --version VERSION  that version instead of the newest
  --uninstall        remove what this script installed, and nothing else
  -h, --help         this text

Environment:
  TERN_PREFIX              where to install (default: ~/.local)
  TERN_RELEASES            address of the releases; they are in latest/download and download/vVERSION below it
  TERN_INSTALL_UNSIGNED=1  install by the checksum alone if the signature cannot be checked
END
}

say() { printf 'install.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Sets `platform` to the end of the archive's name.
find_platform() {
  case $(uname -s) in
    Linux) platform=linux ;;
    Darwin) platform=macos ;;
    *) die "there is no Tern for $(uname -s); on Windows it runs in the Windows Subsystem for Linux" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) platform=$platform-x86_64 ;;
    aarch64 | arm64) platform=$platform-arm64 ;;
    *) die "there is no Tern for the processor $(uname -m)" ;;
  esac
}

find_tools() {
  if have curl; then
    downloader=curl
  elif have wget; then
    downloader=wget
  else
    die 'neither curl nor wget is installed; install one of them and run this again'
  fi
  if have sha256sum; then
    checksum='sha256sum'
  elif have shasum; then
    checksum='shasum -a 256'
  elif have openssl; then
    checksum='openssl dgst -sha256 -r'
  else
    die 'none of sha256sum, shasum and openssl is installed, so the download could not be checked'
  fi
  # GNU's tar needs a program for this format; those of BSD and BusyBox can read it themselves.
  if tar --version 2>/dev/null | grep -q GNU && ! have xz; then
    die 'xz is not installed, which unpacks the archive; it is in the package xz-utils or xz'
  fi
}

# fetch NAME: downloads a file of the release into the scratch folder. No -T for wget, since that of Debian's BusyBox crashes.
fetch() {
  case $downloader in
    curl) said=$(curl -fsSL --retry 2 --connect-timeout 30 --speed-limit 1 --speed-time 60 -o "$scratch/$1" "$address/$1" 2>&1) ;;
    wget) said=$(wget -t 3 -O "$scratch/$1" "$address/$1" 2>&1) ;;
  esac || die "could not download $address/$1 ($(printf '%s\n' "$said" | grep . | tail -n 1))"
}

unchecked() {
  [ "${TERN_INSTALL_UNSIGNED-}" = 1 ] ||
    die "$1, so the release's signature cannot be checked; $2, or set TERN_INSTALL_UNSIGNED=1 to go by its checksum alone"
  say "$1; going by the checksum alone"
}

check_signature() {
  if [ -z "$public_key" ]; then
    unchecked 'this install.sh carries no public key' 'take one from a signed release'
  elif ! have openssl; then
    unchecked 'openssl is not installed' 'install it'
  else
    fetch SHA256SUMS.sig
    printf '%s\n' "$public_key" 2>/dev/null >"$scratch/key" || die "cannot write to $scratch"
    openssl dgst -sha256 -verify "$scratch/key" -signature "$scratch/SHA256SUMS.sig" "$scratch/SHA256SUMS" >/dev/null 2>&1 ||
      die "the signature of $address/SHA256SUMS is wrong: the files there are not the developers', or were damaged on the way"
  fi
}

# Sets `archive` to the name of this machine's archive, `sum` to its checksum and `version` to what is in it.
find_archive() {
  archive='' others=''
  while read -r hash name; do
    # shellcheck disable=SC2254  # '*' is to match any version
    case $name in
      tern-${version:-*}-"$platform".tar.xz) archive=$name sum=$hash ;;
      tern-*-*.tar.xz) others="$others $name" ;;
    esac
  done <"$scratch/SHA256SUMS"
  [ -n "$archive" ] ||
    die "$address has no file for $platform (it has:${others:- no archive}); Tern can be built there: see its README.md"
  version=${archive#tern-}
  version=${version%-"$platform".tar.xz}
  case $version in
    [!0-9]* | *[!0-9A-Za-z.+~-]*) die "$address/SHA256SUMS names a version that is none: $archive" ;;
  esac
}

# make_folder PATH: with those above it. `created` lists what was not there, deepest first.
make_folder() {
  [ ! -d "$1" ] || return 0
  [ -z "${1%/*}" ] || make_folder "${1%/*}"
  mkdir "$1" 2>/dev/null || die "cannot make the folder $1; TERN_PREFIX names another place to install in"
  created="${1#"$prefix"/}/
$created"
}

is_ours() {
  [ -L "$1" ] || return 1
  case $(readlink "$1") in
    *../lib/tern/*) return 0 ;;
    *) return 1 ;;
  esac
}

# check_place PATH: that a link can be put there.
check_place() {
  [ ! -e "$1" ] && [ ! -L "$1" ] || is_ours "$1" ||
    die "$1 is there, and this script did not install it; remove it, or set TERN_PREFIX to another place"
}

# remove_listed FILE: what a list of installed files names. What has been put in a listed folder since, or in the place of a
# link, stays.
remove_listed() {
  while IFS= read -r entry; do
    case $entry in
      *../*) ;;
      /*/) rmdir "$entry" 2>/dev/null ;;
      */) rmdir "$prefix/$entry" 2>/dev/null ;;
      lib/tern/*) rm -f "$prefix/$entry" ;;
      *) ! is_ours "$prefix/$entry" || rm -f "$prefix/$entry" ;;
    esac
  done <"$1"
  return 0
}

# At the end, however it comes. An upgrade that is interrupted leaves both versions, which the list names.
clean_up() {
  status=$?
  rm -rf "$scratch"
  case $stage in
    placing) [ -n "$had" ] || remove_listed "$installed" ;;
    preparing)
      printf '%s' "$created" | while IFS= read -r entry; do
        case $entry in
          /*) rmdir "$entry" 2>/dev/null ;;
          *) rmdir "$prefix/$entry" 2>/dev/null ;;
        esac
      done
      ;;
  esac
  exit "$status"
}

unpack() {
  say "downloading $address/$archive"
  fetch "$archive"
  hash=$($checksum <"$scratch/$archive" | cut -d ' ' -f 1)
  [ "$hash" = "$sum" ] || die "the checksum of $address/$archive is not the one in SHA256SUMS: it was damaged on the way; run this again"
  said=$(cd "$scratch" && tar -xJf "$archive" 2>&1) ||
    die "$archive could not be unpacked in $prefix ($(printf '%s\n' "$said" | head -n 1))"
  tree=$scratch/${archive%.tar.xz}
  said=$("$tree/bin/tern" --version 2>&1) || die "the program in $archive does not run on this machine ($(printf '%s\n' "$said" | head -n 1))"
}

# Sets `folder` to the place of the new version and writes the lists: of what is to be there, and of that and what is.
list_files() {
  folder=$version number=1
  while [ -e "$home/$folder" ]; do
    number=$((number + 1))
    folder=$version-$number
  done
  links=$(cd "$tree" && find bin share/man share/bash-completion share/zsh share/fish ! -type d 2>/dev/null)
  printf '%s\n' "$links" 2>/dev/null >"$scratch/links" || die "cannot write to $scratch"
  while read -r link; do
    check_place "$prefix/$link"
    make_folder "$prefix/${link%/*}"
    [ -w "$prefix/${link%/*}" ] || die "cannot write to $prefix/${link%/*}; TERN_PREFIX names another place to install in"
  done <"$scratch/links"
  {
    echo lib/tern/installed
    cat "$scratch/links"
    (cd "$tree" && find . ! -type d && find . -depth -type d | sed 's,$,/,') | sed "s,^\./,lib/tern/$folder/,"
    printf '%s' "$created"
    [ -z "$had" ] || grep '/$' "$installed" | grep -v '^lib/tern/.'
    true
  } 2>/dev/null >"$scratch/new" && cat "$scratch/new" ${had:+"$installed"} 2>/dev/null >"$scratch/both" || die "cannot write to $scratch"
}

# Every step is a rename, so that at any time either the old version is there or the new one.
place() {
  stage=placing
  mv -f "$scratch/both" "$installed" && mv "$tree" "$home/$folder" || die "cannot write to $home"
  while read -r link; do
    up=$(printf '%s/' "${link%/*}" | sed 's,[^/]*/,../,g')
    ln -sf "${up}lib/tern/$folder/$link" "$prefix/${link%/*}/.tern-link" &&
      mv -f "$prefix/${link%/*}/.tern-link" "$prefix/$link" || die "cannot write to $prefix/${link%/*}; run this again"
  done <"$scratch/links"
  if [ -n "$had" ]; then
    grep -vxFf "$scratch/new" "$scratch/old" >"$scratch/gone"
    remove_listed "$scratch/gone"
  fi
  mv -f "$scratch/new" "$installed" || die "cannot write to $home"
  stage=installed
}

install_tern() {
  find_platform
  find_tools
  case $version in
    '') address=$releases/latest/download ;;
    *) address=$releases/download/v$version ;;
  esac
  stage=preparing created='' scratch='' had=''
  trap clean_up EXIT
  trap 'exit 130' HUP INT TERM
  check_place "$prefix/bin/tern"
  make_folder "$home"
  [ ! -e "$installed" ] || had=1
  rm -rf "$home"/.new.*  # what a run that was killed has left
  scratch=$(mktemp -d "$home/.new.XXXXXX" 2>/dev/null) || die "cannot write to $home; TERN_PREFIX names another place to install in"
  fetch SHA256SUMS
  check_signature
  find_archive
  unpack
  [ -z "$had" ] || cp "$installed" "$scratch/old" 2>/dev/null || die "cannot write to $scratch"
  list_files
  place
  say "installed Tern $version: $prefix/bin/tern"
  case :$PATH: in
    *":$prefix/bin:"*)
      found=$(command -v tern)
      [ "$found" = "$prefix/bin/tern" ] || say "note: 'tern' starts $found, which comes earlier on PATH"
      ;;
    *) say "$prefix/bin is not on PATH; this line in ~/.profile adds it: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
}

uninstall_tern() {
  [ -e "$installed" ] || die "there is nothing to remove: $installed, the list of what this script installs, is not there"
  [ -w "$home" ] || die "cannot write to $home"
  rm -rf "$home"/.new.*
  remove_listed "$installed"
  [ ! -e "$installed" ] || die "$home could not be removed"
  say "removed Tern from $prefix; downloaded models stay where 'tern pull' put them"
}

main() {
  set -u
  umask 022
  version='' action=install_tern
  if [ -z "${TERN_PREFIX-}" ]; then
    [ -n "${HOME-}" ] || die 'HOME is not set; set TERN_PREFIX to the folder to install in'
    TERN_PREFIX=$HOME/.local
  fi
  case $TERN_PREFIX in
    /*) prefix=${TERN_PREFIX%/} ;;
    *) prefix=$PWD/${TERN_PREFIX%/} ;;
  esac
  releases=${TERN_RELEASES:-$default_releases}
  releases=${releases%/}
  home=$prefix/lib/tern
  installed=$home/installed
  while [ $# -gt 0 ]; do
    case $1 in
      --uninstall) action=uninstall_tern ;;
      --version)
        [ $# -gt 1 ] || { say '--version needs a version, such as 0.2.0'; exit 2; }
        shift
        version=${1#v}
        case $version in
          '' | [!0-9]* | *[!0-9A-Za-z.+~-]*) say "'$1' is no version"; exit 2 ;;
        esac
        ;;
      -h | --help) usage; exit 0 ;;
      *) say "unknown argument '$1' (see --help)"; exit 2 ;;
    esac
    shift
  done
  "$action"
}

# The braces keep a download that stops in this line from running a part of it.
{ main "$@"; }
