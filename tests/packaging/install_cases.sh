# shellcheck shell=bash disable=SC2154,SC2034,SC2016  # the variables are those of install_test.sh, which sources this
# What packaging/install.sh does with good and bad releases, on machines that have what it wants and others.

from_first_to_last() {
  new_home "$1"
  run_installer --version v1.0.0
  expect 0 'installed Tern 1.0.0: .*/home/\.local/bin/tern.*\.local/bin is not on PATH' "$tools, $shell: an older version"
  runs 1.0.0 "$tools, $shell: an older version"
  [[ -e $work/home/.local/share/man/man1/tern-of-1.0.0.1 && -e $work/home/.local/share/bash-completion/completions/tern ]] ||
    fail "$tools, $shell: no man page, or no completion"
  run_installer
  expect 0 'installed Tern 2.0.0' "$tools, $shell: an upgrade"
  runs 2.0.0 "$tools, $shell: an upgrade"
  [[ -z $(find "$work/home" -name '*1.0.0*') ]] || fail "$tools, $shell: the upgrade left $(find "$work/home" -name '*1.0.0*')"
  run_installer
  expect 0 'installed Tern 2.0.0' "$tools, $shell: the same again"
  runs 2.0.0 "$tools, $shell: the same again"
  [[ $(find "$work/home/.local/lib/tern" -mindepth 1 -maxdepth 1 | wc -l) -eq 2 ]] ||
    fail "$tools, $shell: the same again left $(ls -A "$work/home/.local/lib/tern")"
  run_installer --uninstall
  expect 0 'removed Tern from' "$tools, $shell: removal"
  unchanged "$empty" "$tools, $shell: removal"
}
for shell in "${shells[@]}"; do from_first_to_last new; done
if [[ -e $work/busybox ]]; then
  shell='busybox sh' tools=busybox
  from_first_to_last new
fi
shell=${shells[0]}
for tools in "${downloaders[@]}"; do from_first_to_last used; done
tools=${downloaders[0]}

# Words of the command line.
new_home
run_installer --help
expect 0 '^usage: .*TERN_PREFIX' '--help'
run_installer --bogus
expect 2 "unknown argument '--bogus'" 'an unknown argument'
run_installer --version
expect 2 'needs a version' 'a version that is missing'
for version in '' ../x latest '1 2'; do
  run_installer --version "$version"
  expect 2 'is no version' "the version '$version'"
done
run_installer --uninstall
expect 1 'nothing to remove' 'removal where nothing is'
variables=(HOME=)
run_installer
expect 1 'HOME is not set' 'no HOME'
variables=()
unchanged "$empty" 'words of the command line'

# Others' files.
new_home used
run_installer
touch "$work/home/.local/lib/tern/2.0.0/share/mine"
rm "$work/home/.local/share/man/man1/tern.1" && echo mine >"$work/home/.local/share/man/man1/tern.1"
run_installer --uninstall
[[ $(cd "$work/home" && find . -type f -name tern.1 -o -name mine | wc -l) -eq 2 ]] || fail 'removal took files of others'
[[ ! -e $work/home/.local/bin/tern && ! -e $work/home/.local/lib/tern/installed ]] || fail 'removal beside files of others left its own'
new_home used
echo 'another program' >"$work/home/.local/bin/tern"
before=$(picture)
run_installer
expect 1 'bin/tern is there, and this script did not install it' "another's bin/tern"
unchanged "$before" "another's bin/tern"
mkdir -p "$work/home/elsewhere"
variables=(TERN_PREFIX="$work/home/elsewhere/deep/er")
before=$(picture)
run_installer
expect 0 'installed Tern 2.0.0: .*/elsewhere/deep/er/bin/tern' 'another prefix'
run_installer --uninstall
unchanged "$before" 'another prefix'
variables=(TERN_PREFIX=/dev/null/tern)
run_installer
expect 1 'cannot make the folder /dev/null.*TERN_PREFIX' 'a prefix that cannot be'
if ((EUID != 0)); then
  new_home used
  chmod a-w "$work/home/.local/bin"
  before=$(picture)
  variables=()
  run_installer
  expect 1 'cannot write to .*/bin; TERN_PREFIX' 'a bin folder that cannot be written'
  unchanged "$before" 'a bin folder that cannot be written'
  chmod u+w "$work/home/.local/bin"
fi
variables=()

# on PATH, or behind another.
new_home
mkdir -p "$work/home/.local/bin" && ln -s "$work/home/.local/bin" "$work/$tools/../linked"
variables=(PATH="$work/home/.local/bin:$work/$tools")
run_installer
[[ $said != *PATH* ]] || fail "on PATH: $said"
fake tern 'echo another'
variables=(PATH="$work/fakes:$work/home/.local/bin:$work/$tools")
run_installer
expect 0 "'tern' starts $work/fakes/tern" 'behind another'
rm "$work/fakes/tern"
variables=()

new_home
run_installer --version 1.0.0
mv "$work/home" "$work/older"

# bad STATUS PATTERN WHAT: neither a new home nor an installed version changes, and the latter runs.
bad() {
  new_home
  run_installer
  expect "$@"
  unchanged "$empty" "$3"
  rm -r "${work:?}/home" && cp -r "$work/older" "$work/home"
  local before
  before=$(picture)
  run_installer
  expect "$@"
  unchanged "$before" "$3, with an older version"
  runs 1.0.0 "$3, with an older version"
}

# Releases that are not what they should be.
archive=$new/tern-2.0.0-$platform.tar.xz
printf 'x' >>"$archive"
bad 1 "checksum of .*tern-2.0.0-$platform.tar.xz is not the one" 'a wrong checksum'
(cd "$new" && sha256sum install.sh "${archive##*/}" >SHA256SUMS)
bad 1 'signature of .*/SHA256SUMS is wrong' 'checksums that somebody else wrote'
variables=(TERN_INSTALL_UNSIGNED=1)
bad 1 'signature of .*/SHA256SUMS is wrong' 'the same, with TERN_INSTALL_UNSIGNED'
variables=()
openssl dgst -sha256 -sign "$work/other key" -out "$new/SHA256SUMS.sig" "$new/SHA256SUMS"
bad 1 'signature of .*/SHA256SUMS is wrong' "another key's signature"
restore
for tools in "${downloaders[@]}"; do
  rm "$archive"
  bad 1 "could not download .*$platform.tar.xz \\(.*404" "$tools: an archive that is missing"
  restore
  rm "$new/SHA256SUMS.sig"
  bad 1 'could not download .*SHA256SUMS.sig \(.*404' "$tools: a signature that is missing"
  restore
  new_home
  run_installer --version 3.0.0
  expect 1 'could not download .*/download/v3.0.0/SHA256SUMS \(.*404' "$tools: a version that is not there"
  variables=(TERN_RELEASES=http://127.0.0.1:1)
  run_installer
  expect 1 'could not download http://127.0.0.1:1/latest/download/SHA256SUMS \(.*efused|onnect' "$tools: no server"
  variables=()
  unchanged "$empty" "$tools: no server"
done
tools=${downloaders[0]}
sign() { openssl dgst -sha256 -sign "$work/key" -out "$new/SHA256SUMS.sig" "$new/SHA256SUMS"; }
sed -i "s/-$platform/-plan9-mips/" "$new/SHA256SUMS" && sign
bad 1 "no file for $platform \\(it has: tern-2.0.0-plan9-mips.tar.xz\\)" 'a release for other machines'
head -c 300 "$work/good/${archive##*/}" >"$archive" && (cd "$new" && sha256sum "${archive##*/}" >SHA256SUMS) && sign
bad 1 'could not be unpacked in .*\(.+\)' 'an archive that is cut short'
restore
rm -rf "$work/tree" && make_archive 2.0.0 "$work" && (cd "$work/tree"/* && printf '#!/bin/sh\necho too new >&2; exit 1' >bin/tern)
tar -C "$work/tree" -cJf "$archive" "tern-2.0.0-$platform" && (cd "$new" && sha256sum "${archive##*/}" >SHA256SUMS) && sign
bad 1 'does not run on this machine \(too new\)' 'a program that does not run'
restore

# Machines that lack something.
fake uname 'case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac'
bad 1 "no file for macos-arm64 \\(it has: tern-2.0.0-$platform.tar.xz\\)" 'macOS'
fake uname 'case $1 in -s) echo MINGW64_NT ;; *) echo x86_64 ;; esac'
new_home
run_installer
expect 1 'no Tern for MINGW64_NT; on Windows' 'Windows'
fake uname 'case $1 in -s) echo Linux ;; *) echo sparc64 ;; esac'
run_installer
expect 1 'no Tern for the processor sparc64' 'another processor'
rm "$work/fakes/uname"
tools=bare
bad 1 'neither curl nor wget is installed' 'a machine without curl and wget'
tools=${downloaders[0]}-no-openssl
bad 1 'openssl is not installed.*TERN_INSTALL_UNSIGNED=1' 'a machine without openssl'
new_home
variables=(TERN_INSTALL_UNSIGNED=1)
run_installer
expect 0 'going by the checksum alone.*installed Tern 2.0.0' 'the same, by checksum'
printf 'x' >>"$archive"
bad 1 'checksum of .* is not the one' 'the same, with a wrong checksum'
restore
variables=() tools=${downloaders[0]}
mv "$work/$tools/xz" "$work/xz"
run_installer
expect 1 'xz is not installed' 'a machine without xz'
mv "$work/xz" "$work/$tools/xz"
new_home
installer=$root/packaging/install.sh variables=(TERN_RELEASES="http://127.0.0.1:$port")
run_installer
expect 1 'carries no public key.*TERN_INSTALL_UNSIGNED=1' 'an installer without a key'
unchanged "$empty" 'an installer without a key'
installer=$new/install.sh variables=()

# A disk that is full, which only namespaces of a user's own can show.
if unshare -rm true 2>/dev/null; then
  mkdir -p "$work/small"
  for size in 4k 8k 12k 24k 48k; do
    # shellcheck disable=SC2016
    said=$(unshare -rm bash -c 'mount -t tmpfs -o size="$1" tmpfs "$2" || exit 77
      env -i PATH="$3" HOME="$2" "$(command -v '"${shell%% *}"')" "$4" 2>&1; status=$?
      find "$2" -mindepth 1 | sed "s,^,left: ,"; exit $status' - "$size" "$work/small" "$work/$tools" "$new/install.sh")
    status=$?
    ((status != 0)) || continue
    expect 1 'install.sh: (cannot write to|could not download|.* could not be unpacked in) ' "a disk of $size"
  done
  [[ $status -eq 0 ]] || fail "a disk of $size: $said"
else
  echo 'not tried: a full disk, since there are no user namespaces'
fi

# A script that is cut short does nothing, not even on the network.
new_home
bytes=$(wc -c <"$new/install.sh")
requests=$(wc -l <"$work/requests")
installer=$work/cut.sh
for n in $(seq 0 997 "$bytes") $(seq $((bytes - 20)) "$bytes"); do
  head -c "$n" "$new/install.sh" >"$installer"
  [[ $(tail -n 1 "$installer") != '{ main "$@"; }' ]] || continue  # all but the last line feed
  run_installer
  [[ -z $(ls -A "$work/home") ]] || fail "the first $n bytes of the script do something"
done
[[ $(wc -l <"$work/requests") -eq $requests ]] || fail 'a script that is cut short asked the server'
installer=$new/install.sh

# An interruption leaves nothing.
fake "${downloaders[0]}" "echo >'$work/begun'; exec $(command -v sleep) 1"
new_home
env -i PATH="$work/fakes:$work/$tools" HOME="$work/home" "$(command -v "${shell%% *}")" "$installer" 2>/dev/null &
for _ in {1..100}; do [[ ! -e $work/begun ]] || break; sleep 0.1; done
kill -TERM $!
wait $!
[[ $? -eq 130 ]] || fail 'an interruption is no failure'
unchanged "$empty" 'an interruption'
rm "$work/fakes/${downloaders[0]}"
