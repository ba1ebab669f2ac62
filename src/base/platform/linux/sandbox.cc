// Landlock for files and sockets, seccomp for system calls. Both are the kernel's, and need no privileges.
#include "base/platform/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>

namespace tern::platform {
namespace {

// Landlock's structures and bits, of which the system's headers may have only older ones.
struct Ruleset {
  uint64_t files, sockets, scopes;
};
struct __attribute__((packed)) FileRule {
  uint64_t allowed;
  int32_t folder;
};
struct PortRule {
  uint64_t allowed, port;
};
constexpr int kFileRule = 1, kPortRule = 2;
constexpr uint64_t kExecute = 1, kWriteFile = 2, kReadFile = 4, kReadFolder = 8, kRemove = 16 | 32, kRefer = 1 << 13,
                   kTruncate = 1 << 14, kDeviceCalls = 1 << 15;
constexpr uint64_t kMakeAny = 0x7fULL << 6;  // devices, folders, files, sockets, pipes, links
constexpr uint64_t kMakePlain = 1 << 7 | 1 << 8 | 1 << 12;
constexpr uint64_t kOnFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceCalls;
constexpr uint64_t kBind = 1, kConnect = 2;
constexpr uint64_t kScopes = 1 | 2;  // abstract sockets and signals of other processes

std::string why_now() { return std::error_code(errno, std::generic_category()).message(); }

// What this version of Landlock can forbid.
Ruleset known_to(long version) {
  uint64_t files = kExecute | kWriteFile | kReadFile | kReadFolder | kRemove | kMakeAny;
  if (version >= 2) files |= kRefer;
  if (version >= 3) files |= kTruncate;
  if (version >= 5) files |= kDeviceCalls;
  return {.files = files, .sockets = version >= 4 ? kBind | kConnect : 0, .scopes = version >= 6 ? kScopes : 0};
}

size_t bytes_of_ruleset(long version) { return version >= 6 ? 24 : version >= 4 ? 16 : 8; }

void allow(int ruleset, const std::vector<std::string>& paths, uint64_t rights) {
  for (const std::string& path : paths) {
    const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (fd < 0) continue;
    struct stat status = {};
    const bool is_folder = ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    const FileRule rule{.allowed = is_folder ? rights : rights & kOnFiles, .folder = fd};
    ::syscall(SYS_landlock_add_rule, ruleset, kFileRule, &rule, 0);
    ::close(fd);
  }
}

// Empty: it is in force.
std::string enter_landlock(const SandboxRules& rules, long version) {
  Ruleset wanted = known_to(version);
  const Ruleset known = wanted;
  if (rules.may_connect) wanted.sockets &= ~kConnect;
  if (rules.may_listen && rules.port == 0) wanted.sockets &= ~kBind;
  const long made = ::syscall(SYS_landlock_create_ruleset, &wanted, bytes_of_ruleset(version), 0);
  if (made < 0) return why_now();
  const int ruleset = static_cast<int>(made);
  allow(ruleset, rules.reads, (kReadFile | kReadFolder | kExecute) & known.files);
  allow(ruleset, rules.writes,
        (kReadFile | kReadFolder | kWriteFile | kRemove | kMakePlain | kRefer | kTruncate) & known.files);
  allow(ruleset, rules.devices, (kReadFile | kReadFolder | kWriteFile | kTruncate | kDeviceCalls) & known.files);
  if (rules.may_listen && (wanted.sockets & kBind) != 0) {
    const PortRule rule{.allowed = kBind, .port = rules.port};
    ::syscall(SYS_landlock_add_rule, ruleset, kPortRule, &rule, 0);
  }
  const long entered = ::syscall(SYS_landlock_restrict_self, ruleset, 0);
  const std::string why = entered == 0 ? "" : why_now();
  ::close(ruleset);
  return why;
}

// System calls with which a process reaches into others or into the kernel's settings, or starts programs. Models and
// requests need none of them.
constexpr int kForbidden[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_open_by_handle_at,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_personality,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_vhangup,
    SYS_fanotify_init,
    SYS_lookup_dcookie,
    SYS_move_pages,
    SYS_migrate_pages,
    SYS_pidfd_getfd,
    SYS_pidfd_open,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsmount,
    SYS_mount_setattr,
};

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif
constexpr uint32_t kOldCalls = 0x40000000;  // from this number on: another set of calls, on x86

std::string enter_seccomp(const SandboxRules& rules) {
  if (kArchitecture == 0) return "not known for this processor";
  const auto load = [](size_t offset) { return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, uint32_t(offset)); };
  const auto refuse = [](int error) {
    return sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
  };
  // Skips the next `n` instructions unless the loaded value is `value`.
  const auto skip_unless = [](uint32_t value, uint8_t n) {
    return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n);
  };
  std::vector<sock_filter> code = {
      load(offsetof(seccomp_data, arch)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      refuse(EPERM),
      load(offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kOldCalls, 0, 1),
      refuse(EPERM),
  };
  for (const int number : kForbidden) {
    code.push_back(skip_unless(static_cast<uint32_t>(number), 1));
    code.push_back(refuse(EPERM));
  }
  // Drivers use sockets between processes here; those of the internet are there where they are wanted.
  const bool has_internet = rules.may_listen || rules.may_connect;
  std::vector<int> families = {AF_UNIX};
  if (has_internet) families.insert(families.end(), {AF_INET, AF_INET6, AF_NETLINK});
  code.push_back(skip_unless(SYS_socket, static_cast<uint8_t>(2 + families.size())));
  code.push_back(load(offsetof(seccomp_data, args[0])));
  for (size_t i = 0; i < families.size(); ++i) {
    code.push_back(sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(families[i]),
                                        static_cast<uint8_t>(families.size() - i), 0));
  }
  code.push_back(refuse(EACCES));
  code.push_back(sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  const long entered = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  return entered == 0 ? "" : why_now();
}

void add(std::string& list, const std::string& more) { list += (list.empty() ? "" : ", ") + more; }

}  // namespace

SystemResult<Sandbox> enter_sandbox(const SandboxRules& rules) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return std::unexpected(std::error_code(errno, std::generic_category()));
  Sandbox result;
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  const std::string no_landlock =
      version < 1 ? "this kernel has no Landlock, or it is turned off" : enter_landlock(rules, version);
  if (no_landlock.empty()) {
    const char* what = version >= 4 ? "files and sockets" : "files";
    add(result.in_force, std::string(what) + " (Landlock " + std::to_string(version) + ")");
    if (version < 4) add(result.missing, "sockets (Landlock 4)");
  } else {
    add(result.missing, "files (" + no_landlock + ")");
  }
  const std::string no_seccomp = enter_seccomp(rules);
  no_seccomp.empty() ? add(result.in_force, "system calls (seccomp)")
                     : add(result.missing, "system calls (seccomp: " + no_seccomp + ")");
  return result;
}

}  // namespace tern::platform
