# shellcheck shell=bash disable=SC2154  # the variables are those of ./package and of prepare()
# Sourced by ./package: what is in the archive and where it is from, as CycloneDX 1.6. Made from the files that were packed:
# a library is listed because it lies in lib/, with the Debian package that it is of.

# Prints an argument as JSON.
json() {
  local text=${1//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}

# Prints a version as it stands in an address.
in_address() {
  local text=${1//+/%2B}
  echo "${text//:/%3A}"
}

# spdx_license NAME: prints the member of CycloneDX's `license` for a name as Debian's copyright files have it.
spdx_license() {
  local id=''
  case $1 in
    Expat | MIT) id=MIT ;;
    Apache-2.0 | curl | ISC | Zlib | X11) id=$1 ;;
    zlib) id=Zlib ;;
    BSD-[234]-[Cc]lause) id=${1%-*}-Clause ;;
    GPL-[23] | LGPL-[23] | LGPL-2.1) id=$1-only ;;
    GPL-[23]+ | LGPL-[23]+ | LGPL-2.1+) id=${1%+}-or-later ;;
    OpenLDAP-2.8) id=OLDAP-2.8 ;;
  esac
  # SPDX writes 2.0 where Debian writes 2.
  id=$(sed -E 's/^(L?GPL-[23])-/\1.0-/' <<<"$id")
  if [[ -n $id ]]; then printf '"id": "%s"' "$id"; else printf '"name": %s' "$(json "$1")"; fi
}

# licenses_json PACKAGE: all that its copyright file in the archive names for what is in its source, since the file does not
# say which of them a library is made of. Some of these files are prose, which is named instead.
licenses_json() {
  local name names separator=''
  names=$(awk '/^Files:/ { own = $2 != "debian/*" } /^$/ { own = 0 }
    own && /^License:/ { sub(/^License: */, ""); if ($0 != "" && !seen[$0]++) print }' "$licenses/$1.txt")
  while IFS= read -r name; do
    printf '%s{"license": {%s}}' "$separator" "$(spdx_license "$name")"
    separator=', '
  done <<<"${names:-see share/doc/tern/licenses/$1.txt}"
}

# files_json FILE...: as components of their own, by their paths in the archive.
files_json() {
  local file separator=''
  for file in "$@"; do
    printf '%s\n        {"type": "file", "name": %s, "hashes": [{"alg": "SHA-256", "content": "%s"}]}' "$separator" \
      "$(json "$file")" "$(sha256sum <"$top/$file" | cut -d ' ' -f 1)"
    separator=,
  done
}

# package_json PACKAGE FILE...: a Debian package, of which these files are in the archive.
package_json() {
  local package=$1 source version
  shift
  version=$(version_of "$package")
  source=$(source_of "$package")
  [[ -n $version && -n $source ]] || die "the changelog of $package does not say its version"
  cat <<END
    {
      "type": "library",
      "name": $(json "$package"),
      "version": $(json "$version"),
      "supplier": {"name": "Debian"},
      "licenses": [$(licenses_json "$package")],
      "purl": "pkg:deb/debian/$(in_address "$package")@$(in_address "$version")?arch=$debian_architecture",
      "externalReferences": [
        {"type": "source-distribution", "url": "https://sources.debian.org/src/$source/$(in_address "${version%+b[0-9]*}")/"}
      ],
      "properties": [{"name": "tern:license-text", "value": "share/doc/tern/licenses/$package.txt"}],
      "components": [$(files_json "$@")
      ]
    }
END
}

# own_json TYPE NAME VERSION FILE: a part of Tern itself.
own_json() {
  cat <<END
    {
      "type": "$1",
      "name": $(json "$2"),
      "version": $(json "$3"),
      "licenses": [{"license": {"id": "Apache-2.0"}}],
      "components": [$(files_json "$4")
      ]
    }
END
}

# vendored_json FOLDER: a library from npm, which the page has in share/tern/web/vendor/NAME-VERSION.
vendored_json() {
  local name=${1##*/} files
  mapfile -t files < <(find "$1" -type f -printf "share/tern/web/vendor/$name/%f\n" | sort)
  cat <<END
    {
      "type": "library",
      "name": $(json "${name%-*}"),
      "version": $(json "${name##*-}"),
      "licenses": [{"license": {"id": "MIT"}}],
      "purl": "pkg:npm/${name%-*}@${name##*-}",
      "components": [$(files_json "${files[@]}")
      ]
    }
END
}

# write_sbom FOLDER ARCHIVE: beside the archive that the folder was packed into.
write_sbom() {
  local top=$1 archive=$2 file=${2%.tar.xz}.cdx.json package path
  local licenses=$top/share/doc/tern/licenses
  local -A files=()
  while read -r path; do
    package=$(package_of "${path##*/}") || exit 1
    files[$package]+=" lib/${path##*/}"
  done < <(find "$top/lib" -type f | sort)
  for package in "${compiled_in[@]}"; do files[$package]+=' libexec/tern-program'; done
  {
    cat <<END
{
  "\$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
  "bomFormat": "CycloneDX",
  "specVersion": "1.6",
  "version": 1,
  "metadata": {
    "timestamp": "$(date -u -d "@$epoch" +%FT%TZ)",
    "component": {
      "type": "application",
      "name": "tern",
      "version": "$version",
      "licenses": [{"license": {"id": "Apache-2.0"}}],
      "hashes": [{"alg": "SHA-256", "content": "$(sha256sum <"$archive" | cut -d ' ' -f 1)"}],
      "properties": [{"name": "tern:archive", "value": "${archive##*/}"}]
    }
  },
  "components": [
END
    own_json application tern-program "$version" libexec/tern-program
    echo '    ,'
    own_json machine-learning-model tern-stories "$version" share/tern/models/tern-stories.gguf
    for path in "$top"/share/tern/web/vendor/*; do
      [[ -d $path ]] || continue
      echo '    ,'
      vendored_json "$path"
    done
    for package in $(printf '%s\n' "${!files[@]}" | sort); do
      echo '    ,'
      # shellcheck disable=SC2086  # names without blanks
      package_json "$package" ${files[$package]}
    done
    printf '  ]\n}\n'
  } >"$file.partial" || die "$file could not be written"
  mv "$file.partial" "$file"
  made+=("$file")
}
