#include "server/api/batch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <format>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tern/tools.h"

namespace tern::server {
namespace {

std::unexpected<Error> fail_with(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

std::unexpected<Error> io_error(const std::string& path, std::string_view what) {
  return fail_with(ErrorCode::kIo, std::format("{}: {}: {}", path, what, std::strerror(errno)));
}

struct Request {
  std::string custom_id, url;
  Json body;
  std::optional<ApiError> wrong = {};
};

template <class OnLine>
Result<void> each_line(std::string_view text, OnLine&& on_line) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != line.npos) {
      if (Result<void> taken = on_line(line, number); !taken) return taken;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// What is wrong with a request is its answer; but whose answer that is must be known.
Result<Request> read_request(std::string_view line, const std::string& where) {
  const ApiResult<Json> json = parse_body(line);
  if (!json) return fail_with(ErrorCode::kInvalidArgument, std::format("{}: {}", where, json.error().message));
  Request request;
  Fields fields(*json);
  fields.read("custom_id", request.custom_id);
  if (const auto fine = fields.check(); !fine) {
    return fail_with(ErrorCode::kInvalidArgument, std::format("{}: {}", where, fine.error().message));
  }
  if (request.custom_id.empty()) {
    return fail_with(ErrorCode::kInvalidArgument,
                     std::format("{}: has no custom_id, by which its answer could be found", where));
  }
  std::string method = "POST";
  fields.read("method", method);
  fields.read("url", request.url);
  if (method != "POST") fields.fail("method", "must be POST");
  if (request.url.empty()) fields.fail("url", "is missing");
  const Json* body = fields.find("body");
  if (!body || !body->is_object()) fields.fail("body", "must be an object");
  if (const auto fine = fields.check(); !fine) {
    request.wrong = fine.error();
  } else {
    request.body = *body;
    if (request.body.value("stream", Json(false)) == true) {
      request.wrong = ApiError{.message = "stream: is not possible in a batch", .param = "stream"};
    }
  }
  return request;
}

Result<std::vector<Request>> read_requests(const std::string& path) {
  const Result<std::string> text = read_text(path);
  if (!text) return std::unexpected(text.error());
  std::vector<Request> requests;
  std::unordered_set<std::string> ids;
  const auto read = each_line(*text, [&](std::string_view line, size_t number) -> Result<void> {
    const std::string where = std::format("{}, line {}", path, number);
    Result<Request> request = read_request(line, where);
    if (!request) return std::unexpected(request.error());
    if (!ids.insert(request->custom_id).second) {
      return fail_with(ErrorCode::kInvalidArgument, std::format("{}: the custom_id '{}' is that of an earlier line",
                                                                where, request->custom_id.substr(0, 100)));
    }
    requests.push_back(*std::move(request));
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return requests;
}

// The file of the answers. One program at a time has it; lines are written whole.
class Answers {
 public:
  static Result<std::unique_ptr<Answers>> open(const std::string& path) {
    auto answers = std::unique_ptr<Answers>(new Answers(path));
    answers->fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (answers->fd_ < 0) return io_error(path, "cannot be opened");
    struct stat status = {};
    if (::fstat(answers->fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
      return fail_with(ErrorCode::kInvalidArgument,
                       std::format("{}: is no regular file, in which a batch could go on", path));
    }
    if (::flock(answers->fd_, LOCK_EX | LOCK_NB) != 0) {
      return fail_with(ErrorCode::kIo, std::format("{}: another program is writing it", path));
    }
    if (auto read = answers->read_those_there(); !read) return std::unexpected(read.error());
    return answers;
  }
  ~Answers() {
    if (fd_ >= 0) ::close(fd_);
  }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  const std::unordered_set<std::string>& ids() const { return ids_; }

  // A line that does not fit on the disk is taken back.
  Result<void> add(const Json& answer) {
    const std::string line = dump(answer) + "\n";
    const std::scoped_lock lock(mutex_);
    size_t n = 0;
    while (n < line.size()) {
      const ssize_t written = ::pwrite(fd_, line.data() + n, line.size() - n, static_cast<off_t>(size_ + n));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        const auto error = io_error(path_, "cannot be written");
        [[maybe_unused]] const int cut = ::ftruncate(fd_, static_cast<off_t>(size_));
        return error;
      }
      n += static_cast<size_t>(written);
    }
    size_ += line.size();
    return {};
  }

 private:
  explicit Answers(std::string path) : path_(std::move(path)) {}

  Result<void> read_those_there() {
    std::string text;
    for (char piece[1 << 16];;) {
      const ssize_t n = ::pread(fd_, piece, sizeof piece, static_cast<off_t>(text.size()));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return io_error(path_, "cannot be read");
      if (n == 0) break;
      text.append(piece, static_cast<size_t>(n));
    }
    size_ = text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1;  // a line without an end was broken off
    if (size_ == 0 && !text.empty() && !text.starts_with('{')) {
      return fail_with(ErrorCode::kInvalidArgument, std::format("{}: is no file of answers; name another", path_));
    }
    if (size_ < text.size() && ::ftruncate(fd_, static_cast<off_t>(size_)) != 0) {
      return io_error(path_, "cannot be written");
    }
    return each_line(
        std::string_view(text).substr(0, size_), [&](std::string_view line, size_t number) -> Result<void> {
          const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
          const Json id = json.is_object() ? json.value("custom_id", Json()) : Json();
          if (!id.is_string()) {
            return fail_with(ErrorCode::kInvalidArgument,
                             std::format("{}, line {}: is no answer of a batch; name another file", path_, number));
          }
          ids_.insert(id.get<std::string>());
          return {};
        });
  }

  const std::string path_;
  int fd_ = -1;
  size_t size_ = 0;  // of the lines that are whole
  std::unordered_set<std::string> ids_;
  std::mutex mutex_;
};

Json answer_line(const Request& request, const ApiResult<Json>& answer) {
  return {{"id", new_id("batch_req_")},
          {"custom_id", request.custom_id},
          {"response",
           {{"status_code", answer ? 200 : answer.error().status},
            {"request_id", new_id("req_")},
            {"body", answer ? *answer : answer.error().json()}}},
          {"error", nullptr}};
}

}  // namespace

Result<BatchResult> run_batch(ServedModel& model, const BatchOptions& options, const std::stop_token& stop) {
  const Result<std::vector<Request>> requests = read_requests(options.in);
  if (!requests) return std::unexpected(requests.error());
  const auto answers = Answers::open(options.out);
  if (!answers) return std::unexpected(answers.error());
  std::vector<const Request*> left;
  for (const Request& request : *requests) {
    if (!(*answers)->ids().contains(request.custom_id)) left.push_back(&request);
  }
  BatchResult result{.n = requests->size(), .n_there = requests->size() - left.size()};
  if (result.n_there != (*answers)->ids().size()) {
    return fail_with(
        ErrorCode::kInvalidArgument,
        std::format("{}: has answers to requests that are not in {}; name another file", options.out, options.in));
  }
  std::atomic<size_t> next = 0;
  std::atomic<bool> has_failed = false;
  std::mutex mutex;  // of what follows
  std::optional<Error> error;
  const auto is_wanted = [&] { return !stop.stop_requested() && !has_failed; };
  const auto work = [&] {
    for (size_t i = next++; i < left.size() && is_wanted(); i = next++) {
      const Request& request = *left[i];
      const ApiResult<Json> answer =
          request.wrong ? std::unexpected(*request.wrong) : model.answer(request.url, request.body, is_wanted);
      if (!is_wanted()) return;
      // What the machine has no memory for now, it has later: no answer is better than this one.
      Result<void> added = !answer && answer.error().status >= 500 && answer.error().status != 501
                               ? fail_with(ErrorCode::kIo, answer.error().message)
                               : (*answers)->add(answer_line(request, answer));
      const std::scoped_lock lock(mutex);
      if (!added) {
        has_failed = true;
        if (!error) error = added.error();
        return;
      }
      ++result.n_answered;
      if (!answer) ++result.n_wrong;
      if (options.on_progress) options.on_progress(result.n_there + result.n_answered, result.n);
    }
  };
  {
    std::vector<std::jthread> threads;
    const size_t n = std::min(static_cast<size_t>(std::max(options.n_at_once, 1)), left.size());
    for (size_t i = 0; i < n; ++i) threads.emplace_back(work);
  }
  if (error) return std::unexpected(*error);
  return result;
}

}  // namespace tern::server
