# shellcheck shell=bash disable=SC2034  # sourced by ./setup
# What Tern is built and checked with, in sets. NAME or NAME>=VERSION: the oldest version known to work, where older Debian
# releases carry one that does not.

build_packages=(
  cmake'>=3.28' ninja-build ccache 'mold>=2.30' pkgconf
  g++-16 'binutils>=2.44'  # GCC 16 emits directives that older assemblers refuse
  'libhwy-dev>=1.2' 'libcli11-dev>=2.4' nlohmann-json3-dev libpcre2-dev libutf8proc-dev
  libisocline-dev libcurl4-openssl-dev libssl-dev 'libcpp-httplib-dev>=0.41' 'libgtest-dev>=1.14' 'libbenchmark-dev>=1.8'
  # WebGPU: Dawn, and the loader that it opens when it runs. Mesa's Vulkan drivers serve Intel and AMD GPUs, and machines
  # without a GPU, so that -b webgpu can be tried anywhere; beside another vendor's driver its software device comes last.
  libwebgpu-dawn-dev libvulkan1 mesa-vulkan-drivers)
web_packages=('emscripten>=5' 'nodejs>=24' esbuild)  # older Node runs no JSPI; esbuild makes the page's scripts small
# Older Chromium runs no JSPI without a flag. Only tests start it, without a window.
checks_packages=(clang-21 clang-tidy-22 clang-format-21 libclang-rt-21-dev llvm-21 python3 python3-jsonschema 'chromium>=137' fonts-dejavu-core
  'firefox-esr>=147' 'nodejs>=24' node-playwright)
tests_packages=(clang-format-21 python3 python3-jsonschema)  # those of checks_packages that ./check --quick needs
# What speaks with `tern serve` and is not ours.
clients_packages=('haproxy>=2.6' python3-openai)
# For ARM64 Linux, built and run on another machine: the cross compiler and the emulator of this machine, and what the
# build links, of Debian's arm64.
arm64_packages=(g++-16-aarch64-linux-gnu qemu-user)
arm64_libraries_packages=(libc6-dev libstdc++-16-dev 'libhwy-dev>=1.2' 'libcli11-dev>=2.4' nlohmann-json3-dev libpcre2-dev libutf8proc-dev
  libisocline-dev libcurl4-openssl-dev libssl-dev 'libcpp-httplib-dev>=0.41' 'libgtest-dev>=1.14' libwebgpu-dawn-dev
  libvulkan1 mesa-vulkan-drivers)
# For Windows x64, built on another machine: the cross compiler; the libraries' headers that serve any system, and the sources
# of the others; and Wine, which runs the result. Debian 14 has no Wine, Debian 13 does.
windows_packages=(g++-mingw-w64-ucrt64)
windows_libraries_packages=('libcli11-dev>=2.4' nlohmann-json3-dev 'googletest>=1.14')
windows_libraries_sources=(highway pcre2 utf8proc cpp-httplib curl)
wine_packages=(wine64)
# For macOS on ARM64, whose files are only read by a compiler here: as for Windows, and Clang's standard library. The
# system's own headers are in no Debian package (get_darwin_headers).
macos_libraries_packages=(libc++-21-dev 'libcli11-dev>=2.4' nlohmann-json3-dev libssl-dev libcurl4-openssl-dev)
macos_libraries_sources=(highway pcre2 utf8proc cpp-httplib)
oracle_packages=(python3-torch python3-transformers python3-tokenizers python3-numpy python3-gguf
  llama.cpp-tools libllama-dev)

# What of a private toolchain is called by name; it comes first on PATH (path.sh).
build_programs=(cmake ctest ninja ccache g++-16 gcc-16 pkg-config objdump readelf nm strip objcopy ar ranlib patchelf)
web_programs=(emcc em++ emar emranlib emcmake node python3 esbuild)
checks_programs=(clang++-21 clang-21 clang-tidy-22 clang-format-21 llvm-symbolizer-21 python3 chromium firefox-esr node)
tests_programs=(clang-format-21 python3)
clients_programs=(haproxy python3)
arm64_programs=(aarch64-linux-gnu-gcc-16 aarch64-linux-gnu-g++-16 qemu-aarch64)
arm64_libraries_programs=()
windows_programs=(x86_64-w64-mingw32ucrt-gcc x86_64-w64-mingw32ucrt-g++ x86_64-w64-mingw32ucrt-windres x86_64-w64-mingw32ucrt-strip)
windows_libraries_programs=()
wine_programs=(wine64)
macos_libraries_programs=()
oracle_programs=(python3 llama-bench llama-cli llama-perplexity llama-server llama-quantize)
