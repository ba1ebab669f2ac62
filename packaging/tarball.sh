# shellcheck shell=bash disable=SC2154,SC2034  # the variables are those of ./package and of prepare()
# Sourced by ./package: the archive that brings its own loader and libraries.
#
#   bin/tern              a small static program (launcher.cc) that finds the rest
#   libexec/tern-program  the program; libexec/tern is a link to the loader
#   lib/                  the loader, the C library, and every other library that is loaded
#   share/                the default model, man pages, completions, licenses

# Opened only while Tern runs, so that no list of libraries names them: what finds the system's Vulkan drivers; and the other
# parts of the C library, since drivers of an older system name some, and the system's own fit no C library but its own.
readonly opened_later=(libvulkan.so.1
  libanl.so.1 libdl.so.2 libm.so.6 libmvec.so.1 libnss_compat.so.2 libnss_dns.so.2 libnss_files.so.2 libpthread.so.0
  libresolv.so.2 librt.so.1 libutil.so.1)

# Libraries of headers alone: their code is in the program, and their licenses want to be named too.
readonly compiled_in=(libcli11-dev nlohmann-json3-dev)

compile_launcher() {  # compile_launcher OUTPUT
  local compiler flags=()
  [[ $architecture != x86_64 ]] || flags=(-fcf-protection=none -B"$system_root/usr/bin")
  compiler=$(sed -n 's/^set(CMAKE_CXX_COMPILER "\(.*\)")$/\1/p' "$build"/CMakeFiles/*/CMakeCXXCompiler.cmake | tail -n 1)
  [[ -n $compiler ]] || die "${build#"$root"/} does not say which compiler it uses; leave out --no-build"
  # The kernel's headers are all that it includes. Nothing is to be linked that was not written there.
  quietly "$compiler" "${flags[@]}" ${system_root:+--sysroot="$system_root"} -std=c++23 -Os -ffreestanding \
    -fno-exceptions -fno-rtti -fno-stack-protector -fno-asynchronous-unwind-tables \
    -fno-tree-loop-distribute-patterns -fno-pie -no-pie -nostdlib -static -Wl,--build-id=none,-z,noexecstack \
    "$root/packaging/launcher.cc" -o "$1" || die 'the launcher could not be compiled'
  "$strip" --strip-all --remove-section=.comment "$1"
}

# bundle SONAME PATH: into lib/ without what only debuggers read, and with its license.
bundle() {
  local soname=$1 path=$2 package
  package=$(package_of "$soname")
  "$strip" -o "$top/lib/$soname" --strip-unneeded "$path"
  [[ -z $(patchelf --print-rpath "$top/lib/$soname") ]] || patchelf --remove-rpath "$top/lib/$soname"
  chmod 755 "$top/lib/$soname"
  install -D -m 644 "$system_root/usr/share/doc/$package/copyright" "$top/share/doc/tern/licenses/$package.txt"
}

bundle_libraries() {
  local soname path package
  {
    libraries_of "$program"
    for soname in "${opened_later[@]}"; do
      path=$library_folder/$soname
      [[ -e $path ]] || die "$soname is not there; ./setup installs it"
      echo "$soname $path"
      libraries_of "$path"
    done
    echo "$(basename "$loader") $loader"
  } | sort -u -k1,1 >"$scratch/libraries"
  while read -r soname path; do
    [[ $soname == */* ]] || bundle "$soname" "$path"
  done <"$scratch/libraries"
  for package in "${compiled_in[@]}"; do
    install -D -m 644 "$system_root/usr/share/doc/$package/copyright" "$top/share/doc/tern/licenses/$package.txt"
  done
}

# Debian keeps the texts of common licenses in one place, which copyright files name.
copy_common_licenses() {
  local name folder=$system_root/usr/share/common-licenses
  [[ -d $folder ]] || folder=/usr/share/common-licenses
  # shellcheck disable=SC2013  # names without blanks
  for name in $(grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9+]' "$top/share/doc/tern/licenses" | sort -u); do
    name=${name##*/}
    [[ -e $folder/$name ]] || continue  # some name it in passing, without a text of that name
    install -D -m 644 "$folder/$name" "$top/share/doc/tern/licenses/common-licenses/$name"
  done
}

make_tarball() {
  local name=tern-$version-linux-$architecture
  local top=$scratch/$name file=$out/$name.tar.xz
  mkdir -p "$top"/{bin,lib,libexec}
  compile_launcher "$top/bin/tern"
  install -m 755 "$program" "$top/libexec/tern-program"
  # Beside the path that the launcher gives, for folders whose name holds a colon.
  # shellcheck disable=SC2016  # the loader reads $ORIGIN
  patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "$top/libexec/tern-program"
  ln -s "../lib/$(basename "$loader")" "$top/libexec/tern"
  bundle_libraries
  copy_common_licenses
  install_data "$top"
  install -D -m 644 -t "$top/share/bash-completion/completions" "$build/share/bash-completion/completions/tern"
  install -D -m 644 -t "$top/share/zsh/site-functions" "$build/share/zsh/site-functions/_tern"
  install -D -m 644 -t "$top/share/fish/vendor_completions.d" "$build/share/fish/vendor_completions.d/tern.fish"
  install -D -m 644 -t "$top/share/doc/tern" "$root"/{LICENSE,CHANGELOG.md}
  sed "s/@VERSION@/$version/" "$root/packaging/README.txt" >"$top/README.txt"
  chmod -R u=rwX,go=rX "$top"
  # With a fixed number of threads, which xz's output depends on.
  tar -C "$scratch" --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -cf - "$name" |
    xz -6 -T2 >"$file.partial" || die "$file could not be written"
  mv "$file.partial" "$file"
  made+=("$file")
  write_sbom "$top" "$file"
}
