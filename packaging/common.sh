# shellcheck shell=bash disable=SC2154,SC2034  # the variables are those of ./package and of prepare()
# Sourced by ./package: what the kinds of packages share. prepare() sets
#   version, epoch, program (a stripped copy), scratch (a folder that goes away at the end),
#   loader, library_folder, and system_root: where what the program was linked with lies; "" or a private toolchain
# choose_architecture() sets
#   build, architecture and debian_architecture (its names), debian_loader, strip, and emulator: what runs its programs here

# Seconds since 1970: what every file in a package says of its age.
age_of_files() { echo "${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || stat -c %Y "$root/CHANGELOG.md")}"; }

choose_architecture() {
  architecture=$1 debian_architecture=amd64 debian_loader=/lib64/ld-linux-x86-64.so.2
  build=$root/build/release strip=strip emulator=() library_folder=''
  [[ $1 == arm64 ]] || return 0
  debian_architecture=arm64 debian_loader=/lib/ld-linux-aarch64.so.1
  build=$root/build/arm64 strip=$root/build/toolchain/arm64/usr/bin/aarch64-linux-gnu-strip
  system_root=$(readlink -f "$root/build/toolchain/arm64_libraries")
  emulator=("$root/build/toolchain/arm64/tools/qemu-aarch64" -L "$system_root")
  library_folder=$system_root/usr/lib/aarch64-linux-gnu
}

prepare() {
  local name=${build#"$root"/}/bin/tern
  [[ -x $build/bin/tern ]] || die "$name is not there; leave out --no-build"
  ! grep -qs '^TERN_CPU_SETS:STRING=native' "$build/CMakeCache.txt" ||
    die "$name has kernels for this machine's processor only; leave out --no-build"
  need readelf binutils
  need "$strip" binutils
  need patchelf patchelf
  version=$("${emulator[@]}" "$build/bin/tern" --version | sed -n '1s/^tern //p')
  [[ -n $version ]] || die "$name does not say its version"
  epoch=$(age_of_files)
  loader=$(readelf -lW "$build/bin/tern" | sed -n 's/.*Requesting program interpreter: \(.*\)]/\1/p')
  if [[ $architecture == arm64 ]]; then
    loader=$system_root$loader
  else
    system_root=${loader%/lib64/*}
    system_root=${system_root%/usr}
  fi
  [[ -x $loader ]] || die "$name has no loader: a static program is not packed"
  library_folder=$(dirname "$(libraries_of "$build/bin/tern" | awk '$1 == "libc.so.6" {print $2}')")
  make_scratch
  program=$scratch/tern-$architecture
  "$strip" -o "$program" --strip-all --remove-section=.comment "$build/bin/tern"
}

make_scratch() {
  [[ -z ${scratch-} ]] || return 0
  scratch=$(mktemp -d "$out/scratch.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
}

# Lists "SONAME PATH" of every library that a program or library is loaded with, theirs too. Not all know where the private
# toolchain's are, so they are told.
libraries_of() {
  "${emulator[@]}" "$loader" ${library_folder:+--library-path "$library_folder"} --list "$1" | awk '$2 == "=>" {print $1, $3}'
}

# Prints the Debian package that a library is from, by Debian's rule for their names: libpsl.so.5 is in libpsl5, libssh2.so.1
# in libssh2-1; t64 where time_t grew. What has its own rule stands first.
package_of() {
  local soname=$1 name number candidate
  name=${soname%%.so*} number=${soname#*.so.}
  name=${name,,} name=${name//_/-}
  case $name in
    ld-linux* | libanl | libc | libdl | libm | libmvec | libnss-* | libpthread | libresolv | librt | libutil) candidate=libc6 ;;
    libz) candidate=zlib1g ;;
    libcrypto) candidate=libssl$number ;;
    liblber) candidate=libldap$number ;;
    libbrotli*) candidate=libbrotli$number ;;
    libabsl-*) candidate=libabsl$number ;;
    *[0-9]) candidate=$name-$number ;;
    *) candidate=$name$number ;;
  esac
  local found
  for found in "$candidate" "${candidate}t64"; do
    [[ -e $system_root/usr/share/doc/$found/copyright ]] || continue
    echo "$found"
    return
  done
  die "no package $candidate in ${system_root:-/}usr/share/doc for $soname; teach package_of in packaging/common.sh its name"
}

# The first line of a package's changelog: "curl (8.22.0-1) unstable; urgency=medium".
changelog_head() {
  local changelog=$system_root/usr/share/doc/$1/changelog.Debian.gz
  [[ -e $changelog ]] || changelog=$system_root/usr/share/doc/$1/changelog.gz
  zcat -f "$changelog" | sed -n 1p
}
version_of() { changelog_head "$1" | sed -n 's/^[^(]*(\([^)]*\)).*/\1/p'; }
source_of() { changelog_head "$1" | cut -d ' ' -f 1; }

# install_data PREFIX: what both kinds have under share/, apart from documentation.
install_data() {
  local share=$1/share from=$build/share
  [[ -e $from/man/man1/tern.1 ]] || die "$from/man is not there; leave out --no-build"
  [[ -e $from/tern/web/index.html ]] || die "$from/tern/web is not there; leave out --no-build"
  install -D -m 644 -t "$share/tern/models" "$root"/models/{tern-stories.gguf,README.md,SOURCES.md}
  (cd "$from/tern" && find web -type f -exec install -D -m 644 '{}' "$share/tern/{}" ';')
  install -D -m 644 -t "$share/man/man1" "$from"/man/man1/*.1
  install -D -m 644 -t "$share/doc/tern/examples" "$root"/packaging/{tern.service,serve.toml,grafana.json,haproxy.cfg,tern-batch.slurm}
}
