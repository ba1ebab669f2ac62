#include "hub/download.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <deque>
#include <list>
#include <new>
#include <utility>

#include "base/check.h"

namespace tern::hub {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kMinChunk = uint64_t{8} << 20;
constexpr uint64_t kMaxChunk = uint64_t{64} << 20;
constexpr uint64_t kChunksAimedAt = 64;
constexpr Milliseconds kPollTime{100};  // maximum delay before a stop request is noticed

class Downloader;

// One running request.
struct Transfer {
  Downloader* owner = nullptr;
  CurlList headers{nullptr, curl_slist_free_all};
  CurlHandle handle{nullptr, curl_easy_cleanup};
  size_t chunk = 0;
  enum class Answer { kNone, kRange, kWhole, kUnwanted } answer = Answer::kNone;
  std::optional<Error> error = {};  // found while receiving; ends the download
};

// "bytes 10-19/100"
struct ContentRange {
  uint64_t first = 0;
  std::optional<uint64_t> total = {};  // "*": unknown
};

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<ContentRange> parse_content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const size_t dash = text.find('-'), slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) return std::nullopt;
  const auto first = parse_number(text.substr(0, dash));
  if (!first) return std::nullopt;
  return ContentRange{.first = *first, .total = parse_number(text.substr(slash + 1))};
}

class Downloader {
 public:
  Downloader(const HttpOptions& options, const std::string& url, const std::string& name, PartialFile& file)
      : options_(options), url_(url), name_(name), file_(file), multi_(curl_multi_init(), curl_multi_cleanup) {
    CHECK(multi_);
    list_waiting();
    most_done_ = file.bytes_done();
  }
  Downloader(const Downloader&) = delete;
  Downloader& operator=(const Downloader&) = delete;
  ~Downloader() {
    for (Transfer& transfer : active_) curl_multi_remove_handle(multi_.get(), transfer.handle.get());
  }

  Result<DownloadStatus> run(const std::function<void(uint64_t done)>& on_progress);

 private:
  static size_t receive(const char* data, size_t, size_t size, void* user);
  bool take(Transfer& transfer, Bytes bytes);
  Result<Transfer::Answer> look_at_headers(const Transfer& transfer);
  Result<void> append_whole(const Transfer& transfer, Bytes bytes);
  Result<void> append_range(const Transfer& transfer, Bytes bytes);
  std::unexpected<Error> wrong_size(const std::string& said) const;

  void list_waiting();
  void start_transfers();
  void start(size_t chunk);
  int poll_milliseconds() const;
  Result<void> take_finished();
  Result<void> finish(Transfer& transfer, CURLcode code);
  Result<void> fail_or_wait(const std::string& reason, std::optional<Milliseconds> asked);

  const HttpOptions& options_;
  const std::string& url_;
  const std::string& name_;
  PartialFile& file_;
  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi_;
  std::deque<size_t> waiting_;    // chunks that no transfer is fetching
  std::list<Transfer> active_;    // a list: curl keeps their addresses
  bool ranges_work_ = false;      // the host has answered a range request with that range
  int limit_ = 1;                 // transfers at a time; 1 until ranges are known to work
  int failures_ = 0;              // in a row
  uint64_t most_done_ = 0;        // bytes; more is progress, even after the stream restarted from the beginning
  uint64_t stream_position_ = 0;  // in an answer with the whole file
  Clock::time_point not_before_ = Clock::now();
  DownloadStatus status_;
};

size_t Downloader::receive(const char* data, size_t, size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  return transfer.owner->take(transfer, as_bytes({data, size})) ? size : CURL_WRITEFUNC_ERROR;
}

bool Downloader::take(Transfer& transfer, Bytes bytes) {
  const auto keep = [&](const Error& error) {
    transfer.error = error;
    return false;
  };
  if (transfer.answer == Transfer::Answer::kNone) {
    const auto answer = look_at_headers(transfer);
    if (!answer) return keep(answer.error());
    transfer.answer = *answer;
  }
  if (transfer.answer == Transfer::Answer::kUnwanted) return false;  // the body of an error
  const Result<void> appended =
      transfer.answer == Transfer::Answer::kWhole ? append_whole(transfer, bytes) : append_range(transfer, bytes);
  if (!appended) return keep(appended.error());
  if (file_.bytes_done() > most_done_) {
    most_done_ = file_.bytes_done();
    failures_ = 0;
  }
  return true;
}

std::unexpected<Error> Downloader::wrong_size(const std::string& said) const {
  return fail(ErrorCode::kCorruption,
              "{}: the host sends {} bytes, and its listing says {}; the download is deleted; try again later", name_,
              said, file_.size());
}

Result<Transfer::Answer> Downloader::look_at_headers(const Transfer& transfer) {
  CURL* curl = transfer.handle.get();
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status == 206) {
    const auto range = parse_content_range(header_of(curl, "Content-Range"));
    const uint64_t expected = file_.chunk_begin(transfer.chunk) + file_.have(transfer.chunk);
    if (!range || range->first != expected) {
      return fail(ErrorCode::kCorruption, "{}: the host sent a different part from the one requested", name_);
    }
    if (range->total && *range->total != file_.size()) return wrong_size(format_text("{}", *range->total));
    if (!std::exchange(ranges_work_, true)) limit_ = options_.connections;
    return Transfer::Answer::kRange;
  }
  if (status != 200 || ranges_work_) return Transfer::Answer::kUnwanted;
  // A host without support for ranges sends everything, from the beginning.
  const auto length = parse_number(header_of(curl, "Content-Length"));
  if (length && *length != file_.size()) return wrong_size(format_text("{}", *length));
  if (file_.bytes_done() > 0) {
    if (auto restarted = file_.restart(); !restarted) return std::unexpected(restarted.error());
  }
  stream_position_ = 0;
  return Transfer::Answer::kWhole;
}

Result<void> Downloader::append_whole(const Transfer&, Bytes bytes) {
  if (bytes.size() > file_.size() - stream_position_) return wrong_size("more");
  while (!bytes.empty()) {
    const auto chunk = static_cast<size_t>(stream_position_ / file_.chunk_size(0));
    const size_t n = std::min<size_t>(bytes.size(), file_.chunk_size(chunk) - file_.have(chunk));
    TRY_STATUS(file_.append(chunk, bytes.first(n)));
    bytes = bytes.subspan(n);
    stream_position_ += n;
  }
  return {};
}

Result<void> Downloader::append_range(const Transfer& transfer, Bytes bytes) {
  if (bytes.size() > file_.chunk_size(transfer.chunk) - file_.have(transfer.chunk)) {
    return fail(ErrorCode::kCorruption, "{}: the host sent more than was requested", name_);
  }
  return file_.append(transfer.chunk, bytes);
}

void Downloader::start(size_t chunk) {
  Transfer& transfer = active_.emplace_back();
  transfer.owner = this;
  transfer.chunk = chunk;
  transfer.handle = make_handle(options_, url_, transfer.headers);
  CURL* curl = transfer.handle.get();
  // HTTP/2 would use one connection for everything, but several connections are faster.
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_PRIVATE, &transfer);
  const uint64_t begin = file_.chunk_begin(chunk) + file_.have(chunk);
  const uint64_t end = file_.chunk_begin(chunk) + file_.chunk_size(chunk);
  if (begin > 0 || end < file_.size()) {
    curl_easy_setopt(curl, CURLOPT_RANGE, format_text("{}-{}", begin, end - 1).c_str());
  }
  if (curl_multi_add_handle(multi_.get(), curl) != CURLM_OK) throw std::bad_alloc();
}

void Downloader::list_waiting() {
  for (size_t chunk = 0; chunk < file_.n_chunks(); ++chunk) {
    if (!file_.has_all(chunk)) waiting_.push_back(chunk);
  }
}

void Downloader::start_transfers() {
  if (Clock::now() < not_before_) return;
  if (waiting_.empty() && active_.empty()) list_waiting();  // a restarted stream has discarded chunks
  while (!waiting_.empty() && std::cmp_less(active_.size(), limit_)) {
    const size_t chunk = waiting_.front();
    waiting_.pop_front();
    if (!file_.has_all(chunk)) start(chunk);
  }
}

// Counts a failure and sets the time of the next try; an error if it is time to give up.
Result<void> Downloader::fail_or_wait(const std::string& reason, std::optional<Milliseconds> asked) {
  // Connections that break together count as one failure.
  if (Clock::now() < not_before_) return {};
  const auto delay = delay_after(options_.retry, ++failures_, asked);
  if (!delay) {
    return fail(ErrorCode::kIo, "{}: {}; {} of {} bytes are kept, pull again to continue", name_, reason,
                file_.bytes_done(), file_.size());
  }
  if (*delay >= std::chrono::seconds(2)) {
    options_.on_note(format_text("{}; trying again in {} s", reason, delay->count() / 1000));
  }
  not_before_ = Clock::now() + *delay;
  return {};
}

Result<void> Downloader::finish(Transfer& transfer, CURLcode code) {
  CURL* curl = transfer.handle.get();
  if (transfer.error) return std::unexpected(*transfer.error);
  if (file_.has_all(transfer.chunk)) return {};  // missing parts of a broken stream are listed again later
  waiting_.push_front(transfer.chunk);
  const bool refused = transfer.answer == Transfer::Answer::kUnwanted;  // we ended it, so libcurl's code has no meaning
  if (code != CURLE_OK && !refused) {
    const std::string reason = describe_failure(curl, code, url_);
    if (!is_passing_failure(code)) return fail(ErrorCode::kIo, "{}: {}", name_, reason);
    return fail_or_wait(reason, std::nullopt);
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (is_passing_status(status)) {
    limit_ = std::max(1, limit_ / 2);  // we may have caused it
    return fail_or_wait(describe_status(curl, url_), parse_retry_after(header_of(curl, "Retry-After")));
  }
  if (refused && status == 200) return fail_or_wait("the host sent the whole file instead of a part", std::nullopt);
  if (status == 200 || status == 206) return fail_or_wait("the host ended its answer early", std::nullopt);
  status_ = {.status = status, .error_code = header_of(curl, "X-Error-Code")};
  return {};
}

Result<void> Downloader::take_finished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    char* user = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &user);
    auto& transfer = *reinterpret_cast<Transfer*>(user);
    const CURLcode code = message->data.result;
    const Result<void> finished = finish(transfer, code);
    curl_multi_remove_handle(multi_.get(), transfer.handle.get());
    active_.remove_if([&](const Transfer& each) { return &each == &transfer; });
    if (!finished) return finished;
  }
  return {};
}

int Downloader::poll_milliseconds() const {
  const auto until_start = std::chrono::ceil<Milliseconds>(not_before_ - Clock::now());
  const auto wait = until_start.count() > 0 ? std::min(until_start, kPollTime) : kPollTime;
  return static_cast<int>(wait.count());
}

Result<DownloadStatus> Downloader::run(const std::function<void(uint64_t done)>& on_progress) {
  while (file_.bytes_done() < file_.size() && status_.status == 0) {
    if (options_.stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted");
    int running = 0;
    if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) {
      return fail(ErrorCode::kIo, "{}: libcurl cannot go on", name_);
    }
    TRY_STATUS(take_finished());
    on_progress(file_.bytes_done());
    start_transfers();
    if (file_.bytes_done() < file_.size()) curl_multi_poll(multi_.get(), nullptr, 0, poll_milliseconds(), nullptr);
  }
  return status_;
}

}  // namespace

uint64_t chunk_bytes_for(uint64_t file_bytes) {
  return std::clamp(ceil_div(file_bytes, kChunksAimedAt), kMinChunk, kMaxChunk);
}

Result<DownloadStatus> download(const HttpOptions& options, const std::string& url, const std::string& name,
                                PartialFile& file, const std::function<void(uint64_t done)>& on_progress) {
  Downloader downloader(options, url, name, file);
  Result<DownloadStatus> status = downloader.run(on_progress);
  const Result<void> saved = file.save();
  if (status && !saved) return std::unexpected(saved.error());
  return status;
}

}  // namespace tern::hub
