#include "server/api/replies/answer.h"

#include <numeric>

#include "base/text/format_text.h"
#include "server/api/replies/served_model.h"

namespace tern::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLook = milliseconds(50);  // how often to check that the client is still connected
constexpr std::chrono::seconds kQuiet = std::chrono::seconds(10);  // then a silent stream sends a keep-alive

ApiError out_of_time(milliseconds most) {
  return {.status = 504,
          .message = format_text("the answer took longer than {} s, which is the most that this server gives to one",
                                 std::chrono::duration<double>(most).count()),
          .code = "timeout"};
}

// The replies to one request; destroying it ends them.
class Work {
 public:
  Work(ModelService& service, Asked asked, const AnswerLimits& limits, std::shared_ptr<RequestRecord> record,
       bool in_background = false)
      : service_(service),
        writer_(std::move(asked.writer)),
        follow_up_(std::move(asked.follow_up)),
        n_of_a_prompt_(static_cast<size_t>(asked.options.n)),
        limits_(limits),
        record_(std::move(record)),
        latest_(n_of_a_prompt_ * asked.prompts.size()),
        joules_(latest_.size()),
        n_left_(latest_.size()) {
    if (record_ && record_->keeps_texts) {
      for (const auto& tokens : asked.prompts) record_->prompt += service.engine().tokenizer().decode(tokens, true);
    }
    manner_ = {.each_step = asked.options.stream, .in_background = in_background, .slot = asked.options.slot};
    replies_ = std::make_shared<RunningReplies>(std::move(asked.prompts), asked.options.each(), manner_);
  }
  ~Work() {
    if (n_left_ > 0 && is_asked_) service_.cancel(replies_);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  ApiResult<void> ask() {
    TRY_STATUS(service_.ask(replies_));
    is_asked_ = true;
    if (record_) record_->finish = "cancelled";  // until they end regularly
    return {};
  }

  // Waits up to kLook for news; may return none. An error of any reply fails the whole request.
  ApiResult<std::deque<ReplyEvent>> wait() {
    if (n_left_ == 0 && is_pending()) {
      TRY_STATUS(go_on());
      return std::deque<ReplyEvent>();
    }
    std::deque<ReplyEvent> all = replies_->wait_for(kLook);
    for (const ReplyEvent& news : all) {
      latest_[news.index] = news.stats;
      joules_[news.index] = news.joules;
      if (record_) note(news);
      if (news.error) return std::unexpected(api_error(*news.error));
      if (!news.is_over()) continue;
      --n_left_;
      last_ = news.index;
    }
    if (n_left_ > 0) TRY_STATUS(check_time());
    return all;
  }

  bool is_over() const { return n_left_ == 0 && !is_pending(); }
  // True if the news has waited longer than any client that reads would take.
  bool is_too_late(const ReplyEvent& news) const { return Clock::now() - news.at > limits_.lag; }
  AnswerWriter& writer() { return *writer_; }
  Usage usage() const {
    Usage usage = before_;
    for (size_t i = 0; i < latest_.size(); ++i) usage.add(latest_[i], i % n_of_a_prompt_ == 0);
    if (service_.measures_energy()) {
      usage.joules = std::accumulate(joules_.begin(), joules_.end(), before_.joules.value_or(0));
    }
    return usage;
  }
  const GenerateStats& stats() const { return latest_[last_]; }  // of the reply that ended last

 private:
  bool is_pending() const { return follow_up_ && follow_up_->is_pending(); }

  ApiResult<void> check_time() {
    if (limits_.whole.count() == 0 || Clock::now() - start_ <= limits_.whole) return {};
    if (record_) record_->finish = "timeout";
    return std::unexpected(out_of_time(limits_.whole));
  }

  // Begins the next reply of the answer once it is known.
  ApiResult<void> go_on() {
    TRY_STATUS(check_time());
    TRY(std::optional<NextReply> next, follow_up_->wait(kLook));
    if (!next) return {};
    before_ = usage();
    latest_.assign(1, {});
    joules_.assign(1, 0);
    std::vector<std::vector<TokenId>> prompts;
    prompts.push_back(std::move(next->prompt));
    replies_ = std::make_shared<RunningReplies>(std::move(prompts), std::span(&next->options, 1), manner_);
    TRY_STATUS(service_.ask(replies_));
    n_left_ = 1;
    return {};
  }

  void note(const ReplyEvent& news) {
    const auto since = [&] { return std::chrono::duration<double, std::milli>(news.at - replies_->asked()).count(); };
    if (!record_->queue_ms) record_->queue_ms = since();
    if (news.token && !record_->first_token_ms) record_->first_token_ms = since();
    if (record_->keeps_texts) record_->answer += news.text;
    if (news.error) record_->finish = "error";
    if (news.finish && n_left_ == 1) record_->finish = finish_name(*news.finish);
    const Usage sums = usage();
    record_->n_prompt = sums.n_prompt;
    record_->n_cached = sums.n_cached;
    record_->n_generated = sums.n_generated;
    record_->joules = sums.joules;
  }

  ModelService& service_;
  std::unique_ptr<AnswerWriter> writer_;
  const std::shared_ptr<FollowUp> follow_up_;
  RunningReplies::ReplyMode manner_;
  const size_t n_of_a_prompt_;
  const AnswerLimits limits_;
  const std::shared_ptr<RequestRecord> record_;  // null: not recorded
  const Clock::time_point start_ = Clock::now();
  std::shared_ptr<RunningReplies> replies_;
  std::vector<GenerateStats> latest_;  // one per reply
  std::vector<double> joules_;
  Usage before_;  // of the answer's earlier replies
  size_t n_left_, last_ = 0;
  bool is_asked_ = false;
};

bool send_text(httplib::DataSink& sink, std::string_view text) { return sink.write(text.data(), text.size()); }

ApiResult<Json> whole_answer(Work& work, const std::function<bool()>& is_wanted) {
  while (!work.is_over()) {
    TRY(std::deque<ReplyEvent> all, work.wait());
    for (ReplyEvent& news : all) work.writer().add(news);
    if (!is_wanted()) return std::unexpected(nobody_waits());
  }
  return work.writer().whole(work.usage(), work.stats());
}

// Sends a stream piece by piece: the events so far, or a keep-alive. send_more returns false if the client is gone.
class Stream {
 public:
  Stream(std::shared_ptr<Work> work, std::deque<ReplyEvent> first) : work_(std::move(work)), news_(std::move(first)) {}

  bool send_more(httplib::DataSink& sink) {
    if (!has_begun_) {
      has_begun_ = true;
      if (!send(sink, writer().first_events())) return false;
    }
    for (ReplyEvent& news : news_) {
      if (work_->is_too_late(news) || !send(sink, writer().events(news))) return false;
      last_ = Clock::now();
    }
    news_.clear();
    if (work_->is_over()) return end(sink, writer().last_events(work_->usage(), work_->stats()));
    ApiResult<std::deque<ReplyEvent>> more = work_->wait();
    if (!more) return end(sink, {writer().error_event(more.error())});
    news_ = *std::move(more);
    if (!news_.empty()) return true;
    if (!sink.is_writable()) return false;
    if (Clock::now() - last_ < kQuiet) return true;
    last_ = Clock::now();
    const std::vector<Json> events = writer().idle_events();
    const bool may_comment = writer().stream_form() != Form::kLines;
    return events.empty() && may_comment ? send_text(sink, ": \n\n") : send(sink, events);
  }

 private:
  using Form = AnswerWriter::StreamForm;
  AnswerWriter& writer() { return work_->writer(); }

  bool send(httplib::DataSink& sink, const std::vector<Json>& events) {
    for (const Json& event : events) {
      if (writer().stream_form() == Form::kLines) {
        if (!send_text(sink, dump(event) + "\n")) return false;
        continue;
      }
      const bool is_named = writer().stream_form() == Form::kNamedEvents;
      if (!send_text(sink, is_named ? named_event(event) : "data: " + dump(event) + "\n\n")) return false;
    }
    return true;
  }

  bool end(httplib::DataSink& sink, const std::vector<Json>& events) {
    if (!send(sink, events)) return false;
    if (writer().stream_form() == Form::kEvents && !send_text(sink, "data: [DONE]\n\n")) return false;
    sink.done();
    return true;
  }

  std::shared_ptr<Work> work_;
  std::deque<ReplyEvent> news_;
  bool has_begun_ = false;
  Clock::time_point last_ = Clock::now();
};

// The status precedes the events, so wait for the first news: if the engine refuses the request, the answer is an
// error.
void answer_stream(const std::shared_ptr<Work>& work, const httplib::Request& request, httplib::Response& response) {
  std::deque<ReplyEvent> first;
  const Clock::time_point start = Clock::now();
  while (first.empty() && Clock::now() - start < kQuiet) {
    ApiResult<std::deque<ReplyEvent>> news = work->wait();
    if (!news) return answer_error(request, response, news.error());
    first = *std::move(news);
    if (request.is_connection_closed()) return answer_error(request, response, nobody_waits());
  }
  const auto stream = std::make_shared<Stream>(work, std::move(first));
  response.set_header("Cache-Control", "no-cache");
  response.set_header("X-Accel-Buffering", "no");  // tells proxies to pass events on at once
  const bool is_lines = work->writer().stream_form() == AnswerWriter::StreamForm::kLines;
  response.set_chunked_content_provider(is_lines ? "application/x-ndjson" : "text/event-stream",
                                        [stream](size_t, httplib::DataSink& sink) { return stream->send_more(sink); });
}

}  // namespace

std::string named_event(const Json& event) {
  return "event: " + event["type"].get<std::string>() + "\ndata: " + dump(event) + "\n\n";
}

void answer_json(httplib::Response& response, const Json& json, int status) {
  response.status = status;
  response.set_content(dump(json), "application/json");
}

void answer_error(httplib::Response& response, const ApiError& error, ErrorShape shape) {
  if (error.retry_after_seconds > 0) response.set_header("Retry-After", std::to_string(error.retry_after_seconds));
  answer_json(response, error.json(shape), error.status);
}

void answer(std::shared_ptr<ServedModel> model, Asked asked, const AnswerLimits& limits,
            std::shared_ptr<RequestRecord> record, const httplib::Request& request, httplib::Response& response) {
  const bool stream = asked.options.stream;
  ModelService& service = *model->service();
  auto kept = std::make_unique<Work>(service, std::move(asked), limits, std::move(record));
  // The deleter keeps the model until the replies have ended.
  const std::shared_ptr<Work> work(kept.release(), [model = std::move(model)](const Work* done) { delete done; });
  if (auto taken = work->ask(); !taken) return answer_error(request, response, taken.error());
  if (stream) return answer_stream(work, request, response);
  const ApiResult<Json> whole = whole_answer(*work, [&] { return !request.is_connection_closed(); });
  whole ? answer_json(response, *whole) : answer_error(request, response, whole.error());
}

ApiResult<Json> whole_answer(ModelService& service, Asked asked, const std::function<bool()>& is_wanted,
                             bool in_background) {
  Work work(service, std::move(asked), {}, nullptr, in_background);
  TRY_STATUS(work.ask());
  return whole_answer(work, is_wanted);
}

}  // namespace tern::server
