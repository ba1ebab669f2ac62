# shellcheck shell=bash disable=SC2154,SC2034  # `root` and `out` are those of ./package; others are for those who source this
# Sourced by ./package and packaging/render_manifests: what a release has beside the packages, in the same folder.
#   install.sh          knows where the releases are, and the public half of the key
#   manifests           of package managers, as far as the files that they name are there
#   SHA256SUMS[.sig]    of all files of the release, and its signature

packaging_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Where the releases are: in latest/download and download/vVERSION of this address.
releases=${TERN_RELEASES:-$(sed -n "s/^default_releases='\(.*\)'$/\1/p" "$packaging_folder/install.sh")}
releases=${releases%/}
homepage=${TERN_HOMEPAGE:-${releases%/releases}}

# Prints the public half of the key, or nothing where no key is given. A key that OpenSSL 1.0 and LibreSSL can use, too:
# an installer has to do with what a machine has.
public_key() {
  [[ -n ${TERN_SIGNING_KEY-} ]] || return 0
  need openssl openssl
  [[ -r $TERN_SIGNING_KEY ]] || die "TERN_SIGNING_KEY names $TERN_SIGNING_KEY, which cannot be read"
  openssl dgst -sha256 -sign "$TERN_SIGNING_KEY" </dev/null >/dev/null 2>&1 ||
    die "$TERN_SIGNING_KEY holds no EC or RSA key; make one: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out FILE"
  openssl pkey -in "$TERN_SIGNING_KEY" -pubout
}

write_installer() {
  local key
  key=$(public_key) || exit 1
  releases=$releases key=$key awk -v quote="'" '
    /^default_releases=/ { print "default_releases=" quote ENVIRON["releases"] quote; next }
    /^public_key=/ { print "public_key=" quote ENVIRON["key"] quote; next }
    { print }' "$packaging_folder/install.sh" >"$out/install.sh"
  chmod 755 "$out/install.sh"
}

# write_sums FILE...: of files in $out.
write_sums() {
  (cd "$out" && printf '%s\0' "$@" | sort -z | xargs -0 sha256sum) >"$out/SHA256SUMS" || die "$out/SHA256SUMS could not be written"
  rm -f "$out/SHA256SUMS.sig"
  if [[ -z ${TERN_SIGNING_KEY-} ]]; then
    say 'the release is not signed, since TERN_SIGNING_KEY names no key: install.sh wants TERN_INSTALL_UNSIGNED=1'
    return
  fi
  openssl dgst -sha256 -sign "$TERN_SIGNING_KEY" -out "$out/SHA256SUMS.sig" "$out/SHA256SUMS" || die "$out/SHA256SUMS could not be signed"
}

# Of all files of this version that are in $out, those that were made elsewhere among them.
make_release() {
  local version files manifest manifests=()
  version=$(sed -n 's/^project(tern VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
  write_installer
  SOURCE_DATE_EPOCH=$(age_of_files) "$packaging_folder/render_manifests" --partial "$version" "$out" || die 'the manifests could not be written'
  for manifest in "$packaging_folder"/{homebrew,scoop,winget}/*.in; do
    manifest=${manifest##*/}
    [[ ! -e $out/${manifest%.in} ]] || manifests+=("${manifest%.in}")
  done
  mapfile -t files < <(cd "$out" && find . -maxdepth 1 -type f \
    \( -name "tern-$version-*" -o -name "tern_${version}_*" -o -name "tern-web-$version.tgz" \) ! -name '*.partial' -printf '%P\n')
  write_sums install.sh "${manifests[@]}" "${files[@]}"
  made+=("$out/install.sh" "${manifests[@]/#/$out/}" "$out/SHA256SUMS")
}
