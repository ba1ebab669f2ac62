# shellcheck shell=bash disable=SC2154  # the variables are those of ./package
# Sourced by ./package: the archive for Windows x64, which is built on Linux, and a wheel of the same library.
#
#   bin/tern.exe, bin/libtern.dll  the program, and the C interface (tern.h); they need nothing but Windows 10 or newer
#   include/                       the header
#   share/                         the default model, the page to chat on, licenses

build_windows() {
  "$root/setup" --quiet --windows >&2
  . "$root/toolchain/path.sh"
  (cd "$root" && quietly cmake --preset windows -DTERN_CPU_SETS=all) || die 'cmake failed'
  say 'building tern for Windows'
  quietly ninja -C "$root/build/windows" tern tern_shared || die 'the build for Windows failed'
}

# What is linked into the program, with its license.
copy_windows_licenses() {
  local to=$1 tools=$root/build/toolchain/windows libraries=$root/build/toolchain/windows_libraries name
  mkdir -p "$to"
  for name in highway pcre2 utf8proc cpp-httplib curl; do
    cp "$(find "$libraries/usr/src/$name" -maxdepth 1 \( -name 'LICEN[CS]E*' -o -name COPYING \) | sort | head -n 1)" "$to/$name.txt"
  done
  for name in libcli11-dev nlohmann-json3-dev; do cp "$libraries/usr/share/doc/$name/copyright" "$to/$name.txt"; done
  for name in mingw-w64-common gcc-mingw-w64-base; do cp -L "$tools/usr/share/doc/$name/copyright" "$to/$name.txt"; done
}

make_windows() {
  local from=$root/build/windows top name file program
  ((!do_build)) || build_windows
  . "$root/toolchain/path.sh"
  for program in "$from/bin/tern.exe" "$from/bin/libtern.dll"; do
    [[ -e $program ]] || die "${program#"$root"/} is not there; leave out --no-build"
  done
  ! grep -qs '^TERN_CPU_SETS:STRING=native' "$from/CMakeCache.txt" ||
    die "build/windows has kernels for this machine's processor only; leave out --no-build"
  version=$(sed -nE 's/^project\(tern VERSION ([0-9.]+).*/\1/p' "$root/CMakeLists.txt")
  epoch=$(age_of_files)
  make_scratch
  name=tern-$version-windows-x86_64
  top=$scratch/$name file=$out/$name.zip
  mkdir -p "$top/bin"
  for program in tern.exe libtern.dll; do
    "$root/build/toolchain/windows/tools/x86_64-w64-mingw32ucrt-strip" -o "$top/bin/$program" "$from/bin/$program"
  done
  install -D -m 644 -t "$top/include/tern" "$root/include/tern/tern.h" "$from/include/tern/version.h"
  install -D -m 644 -t "$top/share/tern/models" "$root"/models/{tern-stories.gguf,README.md,SOURCES.md}
  (cd "$from/share/tern" && find web -type f -exec install -D -m 644 '{}' "$top/share/tern/{}" ';')
  install -D -m 644 -t "$top/share/doc/tern" "$root"/{LICENSE,CHANGELOG.md}
  copy_windows_licenses "$top/share/doc/tern/licenses"
  find "$top" -exec touch --date="@$epoch" '{}' +
  (cd "$scratch" && find "$name" -type f | LC_ALL=C sort >files &&
    TZ=UTC cmake -E tar cf "$file.partial" --format=zip --files-from=files) || die "$file could not be written"
  mv "$file.partial" "$file"
  made+=("$file")
  file=$(python3 "$root/python/make_wheel.py" "$top" "$out") || die 'the wheel could not be made'
  made+=("$file")
}
