# shellcheck shell=bash disable=SC2154,SC2034  # the variables are those of ./package and of prepare()
# Sourced by ./package: the package for Debian 14. The program is linked with that release's own libraries, wherever it was
# built; here it gets the system's loader, and loses the path to a private toolchain.

# "libc6 (>= 2.43), …": every library that the program itself names, at least as new as the one that it was linked with.
dependencies() {
  local soname package
  readelf -dW "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r soname; do
    package=$(package_of "$soname")
    echo "$package (>= $(version_of "$package"))"
  done | sort -u | paste -sd , | sed 's/,/, /g'
}

# Debian's changelog, from the project's: a line for each release is what it asks for.
debian_changelog() {
  sed -n 's/^## \([0-9.]*\) - \([0-9-]*\)$/\1 \2/p' "$root/CHANGELOG.md" | while read -r release day; do
    printf 'tern (%s) unstable; urgency=medium\n\n  * Release %s; /usr/share/doc/tern/CHANGELOG.md.gz says what changed.\n\n -- %s  %s\n\n' \
      "$release" "$release" "$maintainer" "$(date -u -R -d "$day 12:00")"
  done
}

control() {
  cat <<END
Package: tern
Version: $version
Architecture: $debian_architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Depends: $(dependencies)
Recommends: ca-certificates, libvulkan1, mesa-vulkan-drivers | vulkan-icd
Section: science
Priority: optional
Description: low-bit language models on CPUs and GPUs
 Tern runs language models whose weights have one to eight bits, BitNet b1.58,
 Bonsai, Qwen3, Phi-3 and their relatives, from GGUF and safetensors files, on
 the CPU or on a GPU through WebGPU. It downloads, converts, inspects and
 measures models, and talks in the terminal.
 .
 A small model that writes children's stories is part of the package.
END
}

make_deb() {
  need dpkg-deb dpkg
  # Whoever made the last commit, unless Debian's own variables name somebody.
  local maintainer
  maintainer="${DEBFULLNAME:-$(git -C "$root" log -1 --format=%an)} <${DEBEMAIL:-$(git -C "$root" log -1 --format=%ae)}>"
  local tree=$scratch/deb-$architecture file=$out/tern_${version}_$debian_architecture.deb doc
  doc=$tree/usr/share/doc/tern
  install -D -m 755 "$program" "$tree/usr/bin/tern"
  patchelf --remove-rpath "$tree/usr/bin/tern"
  patchelf --set-interpreter "$debian_loader" "$tree/usr/bin/tern"
  install_data "$tree/usr"
  gzip -9n "$tree"/usr/share/man/man1/*.1
  install -D -m 644 "$build/share/bash-completion/completions/tern" -t "$tree/usr/share/bash-completion/completions"
  install -D -m 644 "$build/share/zsh/site-functions/_tern" -t "$tree/usr/share/zsh/vendor-completions"
  install -D -m 644 "$build/share/fish/vendor_completions.d/tern.fish" -t "$tree/usr/share/fish/vendor_completions.d"
  install -D -m 644 "$root/packaging/debian_copyright" "$doc/copyright"
  install -D -m 644 "$root/packaging/lintian_overrides" "$tree/usr/share/lintian/overrides/tern"
  debian_changelog | gzip -9nc >"$doc/changelog.gz"
  gzip -9nc "$root/CHANGELOG.md" >"$doc/CHANGELOG.md.gz"
  find "$tree" -type d -exec chmod 755 {} +
  mkdir "$tree/DEBIAN"
  control >"$tree/DEBIAN/control"
  (cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
  chmod 644 "$tree"/DEBIAN/* "$doc"/*.gz
  find "$tree" -exec touch -h -d "@$epoch" {} +
  SOURCE_DATE_EPOCH=$epoch quietly dpkg-deb --root-owner-group -Zxz --build "$tree" "$file" || die 'dpkg-deb failed'
  made+=("$file")
}
