#include "load/ask.h"

#include <utility>

#include "load/sse_reader.h"

namespace tern::load {
namespace {

constexpr size_t kMaxErrorBody = size_t{64} << 10;  // enough to find the error message in

class ReplyListener {
 public:
  ReplyListener(Api api, const RunClock& clock, RequestRecord& record, ReplyText& text)
      : api_(api), clock_(clock), record_(record), text_(text) {}

  void on_head(int status, const std::string& content_type) {
    record_.status = status;
    content_type_ = content_type;
    is_stream_ = content_type.starts_with("text/event-stream");
  }

  bool on_bytes(std::string_view bytes) {
    if (record_.status != 200 || !is_stream_) {
      other_body_ += bytes.substr(0, kMaxErrorBody - std::min(other_body_.size(), kMaxErrorBody));
      return other_body_.size() < kMaxErrorBody;
    }
    const double now = clock_.now();  // one time for all events of the piece
    const Result<void> read = reader_.feed(bytes, [&](const SseEvent& event) { on_event(event, now); });
    if (!read) fail_with(Outcome::kNotAStream, read.error().message);
    return !failed_;
  }

  void on_end(const HttpEnd& end) {
    record_.ended = is_done_ ? done_at_ : clock_.now();
    if (failed_ || is_done_) {
      if (!failed_ && record_.text_times.empty()) fail_with(Outcome::kNoText, "the reply has no text");
      return;
    }
    if (end.status == 0) return fail_with(end.timed_out ? Outcome::kTimeout : Outcome::kConnection, end.why);
    if (end.status != 200) return fail_with(Outcome::kHttpStatus, error_message(other_body_));
    if (end.timed_out) return fail_with(Outcome::kTimeout, end.why);
    if (!is_stream_) {
      return fail_with(Outcome::kNotAStream,
                       "the answer is '" + content_type_ + "', no stream of events: " + error_message(other_body_));
    }
    if (!end.is_whole) return fail_with(Outcome::kCut, end.why);
    fail_with(Outcome::kNoDone, "the reply ended without \"data: [DONE]\"");
  }

 private:
  void on_event(const SseEvent& event, double now) {
    if (failed_ || is_done_) return;
    if (event.data == "[DONE]") {
      is_done_ = true;
      done_at_ = now;
      return;
    }
    Result<ReplyChunk> chunk = parse_chunk(api_, event.data);
    if (!chunk) return fail_with(Outcome::kNotAStream, chunk.error().message);
    if (chunk->error || event.type == "error") {
      return fail_with(Outcome::kServerError, chunk->error.value_or(error_message(event.data)));
    }
    if (!chunk->text.empty()) record_.text_times.push_back(now);
    text_.all += chunk->text;
    text_.content += chunk->content;
    if (!chunk->finish_reason.empty()) record_.finish_reason = std::move(chunk->finish_reason);
    if (chunk->usage) {
      record_.counted_tokens = chunk->usage->output_tokens;
      record_.prompt_tokens = chunk->usage->prompt_tokens;
      record_.cached_tokens = chunk->usage->cached_tokens;
    }
  }

  void fail_with(Outcome outcome, std::string message) {
    failed_ = true;
    record_.outcome = outcome;
    record_.message = std::move(message);
  }

  const Api api_;
  const RunClock& clock_;
  RequestRecord& record_;
  ReplyText& text_;
  SseReader reader_;
  std::string content_type_;
  std::string other_body_;  // body of a response that is not an event stream
  bool is_stream_ = false;
  bool is_done_ = false;
  double done_at_ = 0;
  bool failed_ = false;
};

}  // namespace

ReplyText ask(HttpRequest& request, Api api, const std::string& body, const RunClock& clock, RequestRecord& record) {
  ReplyText text;
  ReplyListener listener(api, clock, record, text);
  record.sent = clock.now();
  const HttpEnd end = request.run(
      api == Api::kChat ? "/chat/completions" : "/completions", body,
      [&](int status, const std::string& content_type) { listener.on_head(status, content_type); },
      [&](std::string_view bytes) { return listener.on_bytes(bytes); });
  listener.on_end(end);
  return text;
}

}  // namespace tern::load
