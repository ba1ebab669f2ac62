#include "mcp/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/text/quoted.h"

extern char** environ;

namespace tern::mcp {
namespace {

// Keys of Tern's own services: no server needs them unless its "env" says so.
constexpr std::array<std::string_view, 3> kOwnKeys = {"TERN_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"};

struct ThreePipes {
  // [0] is read, [1] is written.
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};

  ~ThreePipes() {
    for (const int fd : {in[0], in[1], out[0], out[1], err[0], err[1]}) {
      if (fd >= 0) ::close(fd);
    }
  }
  bool open() {
    for (int* ends : {in, out, err}) {
      if (::pipe(ends) != 0) return false;
      ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
      ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    }
    for (const int own : {in[1], out[0], err[0]}) ::fcntl(own, F_SETFL, O_NONBLOCK);
    return true;
  }
};

std::vector<std::string> variables_for(const ServerConfig& config) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view name = std::string_view(*variable).substr(0, std::string_view(*variable).find('='));
    const bool replaced =
        std::ranges::contains(config.env, name, [](const auto& each) { return std::string_view(each.first); });
    if (!replaced && !std::ranges::contains(kOwnKeys, name)) all.emplace_back(*variable);
  }
  for (const auto& [name, value] : config.env) all.push_back(name + "=" + value);
  return all;
}

// The program's path, by the PATH that it will have; "" if there is none.
std::string path_of(const std::string& command, const std::vector<std::string>& variables) {
  if (command.contains('/')) return command;
  const auto path = std::ranges::find_if(variables, [](const std::string& v) { return v.starts_with("PATH="); });
  std::string_view folders = path == variables.end() ? "/usr/bin:/bin" : std::string_view(*path).substr(5);
  while (!folders.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(folders.substr(0, end));
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + command;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return "";
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> all;
  for (std::string& string : strings) all.push_back(string.data());
  all.push_back(nullptr);
  return all;
}

int spawn_with(const std::string& path, const ServerConfig& config, std::vector<std::string>& variables,
               const ThreePipes& pipes, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, pipes.in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipes.out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipes.err[1], STDERR_FILENO);
  if (!config.cwd.empty()) posix_spawn_file_actions_addchdir_np(&files, config.cwd.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> words = {config.command};
  words.insert(words.end(), config.args.begin(), config.args.end());
  const int error =
      ::posix_spawn(&pid, path.c_str(), &files, &attributes, pointers_to(words).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const ServerConfig& config) {
  std::vector<std::string> variables = variables_for(config);
  const std::string path = path_of(config.command, variables);
  if (path.empty()) {
    return fail(ErrorCode::kNotFound, "cannot be started: there is no program {} in the folders of PATH",
                tern::quoted(config.command));
  }
  if (!config.cwd.empty() && ::access(config.cwd.c_str(), X_OK) != 0) {
    return fail(ErrorCode::kNotFound, "cannot be started in {}: {}", tern::quoted(config.cwd), std::strerror(errno));
  }
  // A program that another thread starts meanwhile must not inherit a pipe that is not marked yet.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  ThreePipes pipes;
  if (!pipes.open()) return fail(ErrorCode::kIo, "cannot be started: {}", std::strerror(errno));
  ChildProcess child;
  if (const int error = spawn_with(path, config, variables, pipes, child.pid_); error != 0) {
    child.pid_ = -1;
    return fail(ErrorCode::kIo, "cannot be started: {}: {}", tern::quoted(path), std::strerror(error));
  }
  child.in_ = std::exchange(pipes.in[1], -1);
  child.out_ = std::exchange(pipes.out[0], -1);
  child.err_ = std::exchange(pipes.err[0], -1);
  return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(in_, other.in_);
  std::swap(out_, other.out_);
  std::swap(err_, other.err_);
  std::swap(ended_, other.ended_);
  std::swap(code_, other.code_);
  std::swap(by_signal_, other.by_signal_);
  return *this;
}

ChildProcess::~ChildProcess() {
  close_in();
  close_out();
  close_err();
  end_group();
}

void ChildProcess::close_in() {
  if (in_ >= 0) ::close(std::exchange(in_, -1));
}
void ChildProcess::close_out() {
  if (out_ >= 0) ::close(std::exchange(out_, -1));
}
void ChildProcess::close_err() {
  if (err_ >= 0) ::close(std::exchange(err_, -1));
}

bool ChildProcess::has_ended() {
  if (ended_ || pid_ < 0) return true;
  siginfo_t info = {};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return ended_ = true;
  if (info.si_pid == 0) return false;
  ended_ = true;
  code_ = info.si_status;
  by_signal_ = info.si_code != CLD_EXITED;
  return true;
}

void ChildProcess::signal_group(int signal) const {
  if (pid_ > 0) ::kill(-pid_, signal);
}

void ChildProcess::end_group() {
  if (pid_ < 0) return;
  signal_group(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string ChildProcess::how_it_ended() const {
  if (!ended_) return "";
  return format_text("{} {}", by_signal_ ? "by signal" : "with exit code", code_);
}

}  // namespace tern::mcp
