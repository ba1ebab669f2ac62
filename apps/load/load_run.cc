#include "load/load_run.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "base/result.h"
#include "load/ask.h"
#include "load/random.h"
#include "load/small_thread.h"

namespace tern::load {
namespace {

constexpr uint64_t kArrivalStream = uint64_t{1} << 63;  // a random stream that no prompt uses
constexpr auto kCancelAgain = std::chrono::milliseconds(20);

// One conversation to run.
struct Work {
  int64_t conversation;
  int turns;
  double due;
};

// Lets threads sleep until the run ends.
class Sleep {
 public:
  void until(std::chrono::steady_clock::time_point time, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    sleepers_.wait_until(lock, stop, time, [] { return false; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any sleepers_;
};

class LoadRun {
 public:
  LoadRun(const LoadOptions& options, const Prompts& prompts, HttpOptions http, const std::stop_token& stop)
      : options_(options), prompts_(prompts), http_(std::move(http)), stop_(stop) {}

  Result<LoadResult> run() {
    Result<void> started = options_.rate ? arrive() : start_clients();
    if (!started) stopping_ = true;
    wait_for_threads();
    threads_.clear();
    if (!started) return std::unexpected(std::move(started).error());
    result_.interrupted = stop_.stop_requested();
    result_.ended = clock_.now();
    std::ranges::sort(result_.records, {}, &RequestRecord::sent);
    for (size_t i = 0; i < result_.records.size(); ++i) result_.records[i].index = static_cast<int64_t>(i);
    return std::move(result_);
  }

 private:
  bool is_over() const { return stopping_ || stop_.stop_requested(); }
  bool is_late(double time) const { return options_.seconds > 0 && time >= options_.seconds; }

  // The number of requests in conversation `index`; the last conversation may be shorter. 0: there is no such
  // conversation.
  int turns_of(int64_t index) const {
    if (options_.requests == 0) return options_.turns;
    const int64_t before = index * options_.turns;
    return static_cast<int>(std::clamp<int64_t>(options_.requests - before, 0, options_.turns));
  }

  bool start_thread(std::function<void()> work) {
    {
      const std::scoped_lock lock(mutex_);
      ++n_threads_;
    }
    SmallThread thread;
    const bool started = thread.start([this, work = std::move(work)] {
      work();
      const std::scoped_lock lock(mutex_);
      --n_threads_;
      changed_.notify_all();
    });
    if (started) {
      threads_.push_back(std::move(thread));
    } else {
      const std::scoped_lock lock(mutex_);
      --n_threads_;
    }
    return started;
  }

  static std::unexpected<Error> no_thread(int n) {
    return fail(ErrorCode::kOutOfMemory, "{}",
                "the system has no room for more than " + std::to_string(n) + " threads; ask for fewer clients");
  }

  // Closed loop.
  Result<void> start_clients() {
    for (int i = 0; i < options_.clients; ++i) {
      if (!start_thread([this] { be_client(); })) return no_thread(i);
    }
    return {};
  }

  void be_client() {
    double due = clock_.now();
    while (true) {
      Work work{.conversation = 0, .turns = 0, .due = due};
      {
        const std::scoped_lock lock(mutex_);
        work.conversation = next_conversation_;
        work.turns = turns_of(next_conversation_);
        if (work.turns > 0) ++next_conversation_;
      }
      // A client that would still be thinking at the time limit starts nothing more.
      if (work.turns == 0 || is_over() || is_late(due)) break;
      due = hold(work) + options_.think_seconds;
    }
    note_end_of_offer();
  }

  // Open loop.
  Result<void> arrive() {
    Random random(options_.seed, kArrivalStream);
    double due = 0;
    for (int64_t index = 0; turns_of(index) > 0; ++index) {
      due += random.seconds_to_next(*options_.rate);
      if (is_late(due) || !sleep_until(due)) break;
      bool needs_thread = false;
      {
        const std::scoped_lock lock(mutex_);
        arrivals_.waiting.push_back({.conversation = index, .turns = turns_of(index), .due = due});
        needs_thread = static_cast<int>(arrivals_.waiting.size()) > arrivals_.n_idle && n_threads_ < kMaxClients;
        changed_.notify_all();
      }
      if (needs_thread && !start_thread([this] { serve_arrivals(); }) && threads_.empty()) return no_thread(0);
    }
    const std::scoped_lock lock(mutex_);
    // With a time limit, load is offered until that limit, even if the last arrival is earlier.
    const double last = options_.seconds > 0 ? options_.seconds : due;
    result_.offered_until = is_over() ? clock_.now() : last;
    arrivals_.are_over = true;
    changed_.notify_all();
    return {};
  }

  void serve_arrivals() {
    while (true) {
      Work work;
      {
        std::unique_lock lock(mutex_);
        ++arrivals_.n_idle;
        changed_.wait(lock, stop_, [&] { return !arrivals_.waiting.empty() || arrivals_.are_over || stopping_; });
        --arrivals_.n_idle;
        if (arrivals_.waiting.empty() || is_over()) return;
        work = arrivals_.waiting.front();
        arrivals_.waiting.pop_front();
      }
      hold(work);
    }
  }

  // Runs a conversation; returns when it ended.
  double hold(const Work& work) {
    double due = work.due;
    Conversation conversation(prompts_, options_.request, work.conversation);
    for (int turn = 0; turn < work.turns; ++turn) {
      if (!sleep_until(due) || (turn > 0 && is_late(due))) break;
      RequestRecord record{.conversation = work.conversation, .turn = turn, .due = due};
      const std::string body = conversation.body();
      ReplyText reply = ask_once(body, record);
      due = record.ended + options_.think_seconds;
      const bool complete = record.is_complete();
      if (options_.keep_texts) {
        record.body = body;
        record.text = std::move(reply.all);
      }
      add(std::move(record));
      if (!complete) {
        if (!is_over()) skip(work.turns - turn - 1);
        break;
      }
      if (turn + 1 < work.turns) conversation.add_reply(reply.content);
    }
    return clock_.now();
  }

  ReplyText ask_once(const std::string& body, RequestRecord& record) {
    HttpRequest request(http_);
    {
      const std::scoped_lock lock(mutex_);
      running_.insert(&request);
      result_.most_running = std::max(result_.most_running, static_cast<int>(running_.size()));
    }
    ReplyText reply = ask(request, options_.request.api, body, clock_, record);
    {
      const std::scoped_lock lock(mutex_);
      running_.erase(&request);
    }
    if (is_over() && !record.is_complete()) record.outcome = Outcome::kStopped;
    return reply;
  }

  void add(RequestRecord record) {
    const std::scoped_lock lock(mutex_);
    result_.records.push_back(std::move(record));
    if (!options_.on_progress) return;
    const auto done = static_cast<uint64_t>(result_.records.size());
    const double share = options_.seconds > 0 ? clock_.now() / options_.seconds : 0;
    const uint64_t total =
        options_.requests > 0
            ? static_cast<uint64_t>(options_.requests)
            : std::max(done, static_cast<uint64_t>(static_cast<double>(done) / std::max(share, 1e-3)));
    options_.on_progress({.what = "requests", .done = done, .total = total, .unit = "requests"});
  }

  void skip(int n) {
    const std::scoped_lock lock(mutex_);
    result_.skipped += n;
  }

  void note_end_of_offer() {
    const std::scoped_lock lock(mutex_);
    if (result_.offered_until == 0) result_.offered_until = clock_.now();
  }

  // False if the run ends first.
  bool sleep_until(double time) {
    sleep_.until(clock_.at(time), stop_);
    return !is_over();
  }

  void wait_for_threads() {
    std::unique_lock lock(mutex_);
    while (n_threads_ > 0) {
      if (is_over()) {
        // A request that was about to connect may have missed the cancellation, so repeat it.
        for (HttpRequest* request : running_) request->cancel();
        changed_.wait_for(lock, kCancelAgain);
      } else {
        changed_.wait(lock, stop_, [&] { return n_threads_ == 0; });
      }
    }
  }

  // The conversations of an open loop that have arrived and that no thread has begun.
  struct Arrivals {
    std::deque<Work> waiting;
    bool are_over = false;
    int n_idle = 0;  // threads that wait for an arrival
  };

  const LoadOptions& options_;
  const Prompts& prompts_;
  const HttpOptions http_;
  const std::stop_token stop_;
  const RunClock clock_;
  std::atomic<bool> stopping_ = false;
  Sleep sleep_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  Arrivals arrivals_;
  int n_threads_ = 0;
  int64_t next_conversation_ = 0;
  std::set<HttpRequest*> running_;
  LoadResult result_;

  std::vector<SmallThread> threads_;  // last, because the threads use all other members
};

Result<HttpOptions> http_options(const LoadOptions& options) {
  Result<Endpoint> endpoint = parse_endpoint(options.url);
  if (!endpoint) return std::unexpected(std::move(endpoint).error());
  Result<std::string> address = reach(*endpoint);
  if (!address) return std::unexpected(std::move(address).error());
  return HttpOptions{.endpoint = *std::move(endpoint),
                     .address = *std::move(address),
                     .api_key = options.api_key,
                     .timeout_seconds = options.timeout_seconds};
}

}  // namespace

Result<std::string> listed_model(const LoadOptions& options) {
  const Result<HttpOptions> http = http_options(options);
  if (!http) return std::unexpected(http.error());
  constexpr size_t kMaxList = size_t{4} << 20;
  std::string body;
  const HttpEnd end = HttpRequest(*http).run(
      "/models", "", [](int, const std::string&) {},
      [&](std::string_view bytes) {
        body += bytes;
        return body.size() < kMaxList;
      });
  const std::optional<std::string> model = end.status == 200 ? first_model(body) : std::nullopt;
  if (model) return *model;
  std::string why = end.status == 200 ? "lists no model" : "answers " + std::to_string(end.status);
  if (end.status == 0) why = "does not answer: " + end.why;
  if (end.status > 0 && end.status != 200) why += ": " + error_message(body);
  if (end.status > 0) why += "; name the model that the server has";
  return fail(ErrorCode::kIo, "{}", http->endpoint.url() + "/models " + why);
}

Result<LoadResult> run_load(const LoadOptions& options, const Prompts& prompts, const std::stop_token& stop) {
  Result<HttpOptions> http = http_options(options);
  if (!http) return std::unexpected(std::move(http).error());
  LoadRun run(options, prompts, *std::move(http), stop);
  Result<LoadResult> result = run.run();
  if (result) result->model = options.request.model;
  return result;
}

}  // namespace tern::load
