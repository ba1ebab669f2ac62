#include "end_to_end/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/checkout.h"

extern char** environ;

namespace tern::test {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read() { close_end(read_end); }
  void close_write() { close_end(write_end); }

 private:
  static void close_end(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const RunOptions& options) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable; ++variable) {
    const std::string name = std::string(*variable).substr(0, std::string_view(*variable).find('='));
    const bool replaced =
        std::ranges::any_of(options.variables, [&](const auto& entry) { return entry.first == name; });
    if (!replaced) result.emplace_back(*variable);
  }
  for (const auto& [name, value] : options.variables) result.push_back(name + "=" + value);
  return result;
}

pid_t spawn(const std::vector<std::string>& arguments, const RunOptions& options, int in, int out, int err) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  if (options.output_path.empty()) {
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, options.output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  }
  posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  posix_spawnattr_t attributes;  // default signal handling, as from a shell, whatever the test runner ignores
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  const std::string program = program_path();
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_with(options);
  pid_t process = -1;
  const int error = ::posix_spawn(&process, program.c_str(), &files, &attributes, pointers(words).data(),
                                  pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) ADD_FAILURE() << "cannot start " << program << ": " << std::generic_category().message(error);
  return error == 0 ? process : -1;
}

// Reads the available data; false at the end of the stream.
bool read_some(int fd, std::string& text) {
  char buffer[65536];
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  if (n > 0) text.append(buffer, static_cast<size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

// Writes input and reads output until both outputs have ended. Returns false on a timeout.
bool talk(pid_t process, const RunOptions& options, Pipe& in, Pipe& out, Pipe& err, RunResult& result) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.timeout_seconds);
  std::string_view input = options.input;
  if (input.empty()) in.close_write();
  while (out.read_end >= 0 || err.read_end >= 0) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    pollfd ends[] = {{in.write_end, POLLOUT, 0}, {out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}};
    if (::poll(ends, 3, 100) < 0 && errno != EINTR) return false;
    if (options.on_tick) options.on_tick(process);
    if (ends[0].revents) {
      const ssize_t n = ::write(in.write_end, input.data(), input.size());
      input.remove_prefix(n > 0 ? static_cast<size_t>(n) : input.size());
      if (input.empty()) in.close_write();
    }
    if (ends[1].revents) {
      if (!read_some(out.read_end, result.out)) out.close_read();
      if (options.on_output) options.on_output(process, result.out);
    }
    if (ends[2].revents) {
      if (!read_some(err.read_end, result.err)) err.close_read();
      if (options.on_errors) options.on_errors(process, result.err);
    }
  }
  return true;
}

}  // namespace

RunResult run_tern(const std::vector<std::string>& arguments, const RunOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // a program that does not read its input must not end the test
  RunResult result;
  Pipe in, out, err;
  if (options.closed_pipe) out.close_read();
  const pid_t process = spawn(arguments, options, in.read_end, out.write_end, err.write_end);
  if (process < 0) return result;
  in.close_read();
  out.close_write();
  err.close_write();
  const bool in_time = talk(process, options, in, out, err, result);
  if (!in_time) {
    ADD_FAILURE() << "no end after " << options.timeout_seconds << " s";
    ::kill(process, SIGKILL);
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (in_time) result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string program_path() {
  const char* other = std::getenv("TERN_TEST_PROGRAM");
  return other ? other : build_path("bin/tern");
}

std::string default_model() { return source_path("models/tern-stories.gguf"); }

testing::AssertionResult failed_with(const RunResult& result, int exit_code, const std::vector<std::string>& words) {
  const auto lines = std::ranges::count(result.err, '\n');
  const auto fail = [&](const std::string& what) {
    return testing::AssertionFailure() << what << "\nexit code: " << result.exit_code
                                       << "\nstandard error: " << result.err
                                       << "\nstandard output: " << result.out.substr(0, 200);
  };
  if (result.exit_code != exit_code) return fail("expected exit code " + std::to_string(exit_code));
  if (!result.out.empty()) return fail("expected nothing on standard output");
  if (lines != 1 || !result.err.ends_with('\n')) return fail("expected one line on standard error");
  if (!result.err.starts_with("tern: ")) return fail("expected the line to start with 'tern: '");
  for (const std::string& word : words) {
    if (result.err.find(word) == std::string::npos) return fail("expected the line to contain '" + word + "'");
  }
  return testing::AssertionSuccess();
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tern_test_XXXXXX").string();
  if (!::mkdtemp(name.data())) std::abort();
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

std::string read_file(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

}  // namespace tern::test
