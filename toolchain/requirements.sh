# shellcheck shell=bash
# Sourced by ./setup: whether the machine's own packages are good enough.

readonly default_mirror=http://deb.debian.org/debian  # where nothing names another

# Prints "REPO SUITE COMPONENT" of every package index that apt reads. Asked for without the caches that apt would write.
apt_repositories() {
  # shellcheck disable=SC2016  # the placeholders are apt's, not the shell's
  apt-get -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= indextargets \
    --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null | sort -u
}

# The mirror that this machine already takes Debian from. Others who pack for Debian call their folders so too, but not
# their component.
debian_mirror() {
  apt_repositories |
    awk '$1 ~ /^(https?|mirror\+)/ && $1 !~ /snapshot|security|archive\.debian/ && $2 !~ /-/ && $3 == "main" &&
         ($1 ~ /\/debian\/?$/ || $1 ~ /^mirror/) {sub(/\/$/, "", $1); print $1; exit}' |
    grep . || echo "$default_mirror"
}

have_dpkg() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

# Prints the installed version of each package named, one "NAME VERSION" a line; nothing for those not installed.
installed_versions() {
  dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' || true
}

# Sets `missing` to the names among the arguments (NAME or NAME>=VERSION) that are absent or too old.
find_missing() {
  missing=()
  local -A have=()
  local name version spec
  while read -r name version; do have[$name]=$version; done < <(installed_versions "${@%%>=*}")
  for spec in "$@"; do
    name=${spec%%>=*}
    if [[ -z ${have[$name]-} ]]; then
      missing+=("$name")
    elif [[ $spec == *'>='* ]] && ! dpkg --compare-versions "${have[$name]}" ge "${spec#*>=}" 2>/dev/null; then
      missing+=("$name")
    fi
  done
}

# The tools alone: on a system without dpkg, CMake fetches the libraries that it does not find.
tools_suffice() {
  local compiler
  command -v cmake >/dev/null && command -v ninja >/dev/null && command -v git >/dev/null || return 1
  for compiler in ${CXX:-} g++-16 g++-15 g++-14 clang++-21 clang++-20 clang++-19 clang++-18 g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    echo '#include <expected>
          std::expected<int, int> value;' | "$compiler" -std=c++23 -fsyntax-only -x c++ - 2>/dev/null && return 0
  done
  return 1
}

what_to_install() {
  cat <<'END'
Please install with this system's own package manager:
  GCC 14 or newer (or Clang 18 or newer), CMake 3.25, Ninja, git, pkg-config; better also ccache and mold;
  libraries (those missing are fetched by CMake): Highway, nlohmann-json, CLI11, PCRE2, utf8proc, cpp-httplib, GoogleTest, Google Benchmark; not fetched: libcurl and OpenSSL (for downloads), Dawn (for GPUs), the line editor of tern chat;
  for browsers (./run --web) Emscripten 5 and Node 24;
  for ./check also these two, npm or playwright-core, Chromium, clang 21, clang-tidy 22, clang-format 21, and python3.
END
}

# system_suffices SET: what the machine has of its own will do.
system_suffices() {
  local missing
  [[ $1 != arm64* && $1 != windows* && $1 != wine ]] || return 1  # dpkg-query would answer for this machine's own architecture
  local -n wanted=$1_packages
  if have_dpkg; then
    find_missing "${wanted[@]}"
    ((${#missing[@]} == 0))
  else
    [[ $1 == build ]] && tools_suffice
  fi
}
