# shellcheck shell=bash
# Sourced by ./setup --system: installs packages with apt, on Debian 12, 13, 14 or newer. Debian 12 and 13 take newer
# packages from Debian 14, pinned so low that nothing else ever moves there by itself.
readonly sources_file=/etc/apt/sources.list.d/tern-forky.sources
readonly pin_file=/etc/apt/preferences.d/tern-forky

# Sets `release` to "old" (Debian 12, 13: newer packages come from forky) or "new" (its own archive has them all).
# A Debian 12 that already took base-files from forky calls itself forky, so what apt reads decides where it can.
detect_release() {
  local codename=${DEBIAN_CODENAME:-${VERSION_CODENAME:-}}
  [[ " ${ID:-} ${ID_LIKE:-} " == *' debian '* ]] || die "this system (${PRETTY_NAME:-unknown}) is not Debian 12 or newer. $(what_to_install)"
  repositories=$(apt_repositories)
  if [[ -e $sources_file ]] || grep -qE ' (bookworm|trixie) ' <<<"$repositories"; then
    release=old
  else
    case ${codename:-${VERSION_ID:-}} in
      bookworm | trixie | 12* | 13*) release=old ;;
      forky | sid | duke | testing | unstable) release=new ;;
      *)
        [[ ${ID:-} == debian && ${VERSION_ID:-0} =~ ^[0-9]+ && ${BASH_REMATCH[0]} -ge 14 ]] || die "this system (${PRETTY_NAME:-unknown}) is not Debian 12 or newer. $(what_to_install)"
        release=new
        ;;
    esac
  fi
}

sources_text() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [[ -e $keyring ]] || keyring=${keyring%.gpg}.pgp
  cat <<END
# Written by Tern's ./setup. Remove together with $pin_file when Tern is no longer built here.
Types: deb
URIs: $(debian_mirror)
Suites: forky
Components: main
Signed-By: $keyring
Check-Valid-Until: no
END
}

pin_text() {
  cat <<END
# Written by Tern's ./setup. Nothing comes from forky unless it is asked for by name.
Package: *
Pin: release n=forky
Pin-Priority: 100
END
}

describe_plan() {
  say "will install: ${missing[*]}"
  if [[ $release == old ]]; then
    [[ -e $sources_file ]] || say "will write $sources_file (Debian 14 'forky', from $(debian_mirror))"
    [[ -e $pin_file ]] || say "will write $pin_file (priority 100: nothing else moves to forky)"
    say "packages come from Debian 14; what they depend on, libc6 among it, is upgraded in place. The default compiler stays as it is."
  fi
}

check_privileges() {
  if ((EUID == 0)); then
    as_root=()
  elif command -v sudo >/dev/null; then
    as_root=(sudo)
    if ! sudo -n true 2>/dev/null; then
      [[ -t 0 ]] || die "sudo asks for a password and there is no terminal; run ./setup as root"
      say "sudo may ask for your password"
    fi
  else
    die "installing packages needs root, and there is no sudo; run ./setup as root"
  fi
}

# apt_get ARGS...: waits for another apt to finish, never asks.
apt_get() {
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive APT_LISTCHANGES_FRONTEND=none NEEDRESTART_MODE=l \
    apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}

write_file() {  # write_file PATH TEXT; keeps a file that is there
  [[ -e $1 ]] || ${as_root[@]+"${as_root[@]}"} tee "$1" <<<"$2" >/dev/null
}

# Runs a command with its output in the log; on failure shows the end of the log and stops with the message given.
logged() {
  local message=$1
  shift
  if ! "$@" >>"$log" 2>&1; then
    tail -n 15 "$log" >&2
    trap - EXIT
    die "$message (whole log: $log)"
  fi
}

update_lists() {
  say "updating package lists"
  # One unreachable third-party archive is no reason to stop: what counts is that the packages can be found.
  apt_get update >>"$log" 2>&1 || true
  if [[ $(apt-cache policy "${missing[@]}" | grep -c 'Candidate: [^(]') -lt ${#missing[@]} ]]; then
    logged "the package lists cannot be fetched; is this machine offline, or a mirror of /etc/apt/sources.list.d down?" \
      apt_get update --error-on=any
    die "the archive has no $(apt-cache policy "${missing[@]}" | grep -B2 'Candidate: (none)' | grep -E '^[^ ].*:$' | tr -d ':\n' || echo "${missing[*]}")"
  fi
}

# Stops before apt removes anything that somebody asked for by name. Shared libraries are no such thing: Debian 13 renamed
# many (libdb5.3 to libdb5.3t64), and installers mark all of the base system as asked for.
check_removals() {
  local removed by_hand
  removed=$(apt-get -s "${install[@]}" 2>/dev/null | awk '$1 == "Remv" {print $2}' | sort)
  [[ -n $removed ]] || return 0
  say "apt removes packages that newer ones replace: $(tr '\n' ' ' <<<"$removed")"
  by_hand=$(comm -12 <(echo "$removed") <(apt-mark showmanual | sort) | grep -vE '^lib.*[0-9]$' | tr '\n' ' ' || true)
  [[ -z $by_hand ]] || ((allow_remove)) ||
    die "among them, installed by hand: $by_hand— run ./setup --allow-remove if that is fine"
}

# install_on_system PACKAGES...
install_on_system() {
  have_dpkg || die "this system (${PRETTY_NAME:-unknown}) has no apt. $(what_to_install)"
  find_missing "$@"
  if ((${#missing[@]} == 0)); then
    ((quiet)) || say "nothing to do"
    return 0
  fi
  detect_release
  describe_plan
  ((!dry_run)) || return 0
  check_privileges

  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  install=(install --no-install-recommends "${missing[@]}")
  if [[ $release == old ]]; then
    write_file "$pin_file" "$(pin_text)"
    write_file "$sources_file" "$(sources_text)"
    install=(-t forky "${install[@]}")
  fi
  update_lists
  check_removals
  say "installing (a minute or two)"
  logged "apt-get could not install the packages; if the network failed, run ./setup --system again" apt_get "${install[@]}"
  say "done"
}
