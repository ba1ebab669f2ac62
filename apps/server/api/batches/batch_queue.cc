#include "server/api/batches/batch_queue.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/result.h"
#include "base/start_thread.h"
#include "base/text/format_text.h"
#include "server/api/batches/batch.h"
#include "server/api/replies/answer.h"

namespace tern::server {

Result<std::unique_ptr<BatchQueue>> BatchQueue::open(BatchQueueOptions options) {
  for (const char* folder : {"", "/batches"}) {
    if (auto made = make_folder(options.folder + folder); !made) return std::unexpected(made.error());
  }
  auto lock = FileLock::take(
      options.folder + "/lock",
      format_text("{}: another server keeps its files there; end it, or give this one another folder", options.folder));
  if (!lock) return std::unexpected(lock.error());
  std::unique_ptr<BatchQueue> queue(new BatchQueue(std::move(options), *std::move(lock)));
  if (auto loaded = queue->load(); !loaded) return std::unexpected(loaded.error());
  return queue;
}

BatchQueue::~BatchQueue() { stop(); }

Result<void> BatchQueue::load() {
  const std::string folder = options_.folder + "/batches";
  const auto names = files_in(folder);
  if (!names) return std::unexpected(names.error());
  std::set<std::string> unfinished;  // files of unfinished batches
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    if (name.ends_with(".part") || name.ends_with(".partial")) {
      if (auto removed = remove_file(path); !removed) return removed;
    }
    if (!name.ends_with(".json")) continue;
    const Result<Json> note = read_note(path);
    if (!note) return std::unexpected(note.error());
    Result<BatchRecord> batch = record_of(path, *note);
    if (!batch) return std::unexpected(batch.error());
    n_ever_ = std::max(n_ever_, batch->number);
    if (!batch->is_over()) unfinished.insert({batch->output_file_id, batch->error_file_id});
    const std::string id = batch->id;
    batches_[id] = std::make_unique<BatchRecord>(*std::move(batch));
  }
  auto files = FileStore::open(options_.folder + "/files", unfinished);
  if (!files) return std::unexpected(files.error());
  files_ = *std::move(files);
  for (const auto& [id, batch] : batches_) {
    if (!batch->is_over()) files_->hold(batch->input_file_id, id);
  }
  return {};
}

Result<void> BatchQueue::start() {
  TRY(thread_, start_thread("batches", [this] { run(); }));
  return {};
}

void BatchQueue::stop() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

ApiResult<Json> BatchQueue::create(const Json& body) {
  TRY(BatchRecord batch, read_new_batch(body));
  TRY_STATUS(options_.check_endpoint(batch.endpoint));
  const auto input = files_->find(batch.input_file_id);
  if (input && input->purpose != "batch") {
    return refuse(format_text("input_file_id: {} was not uploaded for batches, but is '{}'", input->id, input->purpose),
                  "input_file_id");
  }
  if (!input || !files_->hold(batch.input_file_id, batch.id)) {
    return std::unexpected(ApiError{
        .status = 404,
        .message = format_text("input_file_id: there is no file '{}' here", batch.input_file_id.substr(0, 100)),
        .param = "input_file_id",
        .code = "file_not_found"});
  }
  const std::scoped_lock lock(mutex_);
  batch.number = ++n_ever_;
  if (auto saved = save(batch); !saved) {
    files_->release(batch.input_file_id, batch.id);
    return std::unexpected(api_error(saved.error()));
  }
  Json json = batch.json();
  const std::string id = batch.id;
  batches_[id] = std::make_unique<BatchRecord>(std::move(batch));
  changed_.notify_all();
  return json;
}

std::optional<Json> BatchQueue::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = batches_.find(id);
  return found == batches_.end() ? std::nullopt : std::optional(found->second->json());
}

std::vector<Json> BatchQueue::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<const BatchRecord*> order;
  for (const auto& [id, batch] : batches_) order.push_back(batch.get());
  std::ranges::sort(order, {}, &BatchRecord::number);
  std::vector<Json> list;
  for (const BatchRecord* batch : order) list.push_back(batch->json());
  return list;
}

ApiResult<Json> BatchQueue::cancel(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto found = batches_.find(id);
  if (found == batches_.end()) {
    return std::unexpected(ApiError{.status = 404,
                                    .message = format_text("there is no batch '{}' here", id.substr(0, 100)),
                                    .code = "batch_not_found"});
  }
  BatchRecord& batch = *found->second;
  if (batch.status == BatchStatus::kCancelling) return batch.json();
  if (batch.is_over() || batch.status == BatchStatus::kFinalizing) {
    return std::unexpected(
        ApiError{.status = 409,
                 .message = format_text("{} is {} already", id, batch.json()["status"].get_ref<const std::string&>()),
                 .code = "batch_is_over"});
  }
  const BatchRecord before = batch;
  batch.become(BatchStatus::kCancelling);
  const bool has_begun = id == current_ || batch.times.contains("in_progress_at");
  if (!has_begun) batch.become(BatchStatus::kCancelled);
  if (auto saved = save(batch); !saved) {
    batch = before;
    return std::unexpected(api_error(saved.error()));
  }
  if (!has_begun) files_->release(batch.input_file_id, id);
  changed_.notify_all();
  return batch.json();
}

bool BatchQueue::is_wanted(const BatchRecord& batch) const {
  const std::scoped_lock lock(mutex_);
  return !is_ending_ && batch.status != BatchStatus::kCancelling && unix_seconds() < batch.expires_at();
}

Result<void> BatchQueue::save(const BatchRecord& batch) const {
  return write_file(note_path(batch.id), dump(batch.note()));
}

BatchRecord* BatchQueue::next() {
  BatchRecord* first = nullptr;
  for (const auto& [id, batch] : batches_) {
    if (!batch->is_over() && (!first || batch->number < first->number)) first = batch.get();
  }
  return first;
}

void BatchQueue::run() {
  while (true) {
    BatchRecord* batch = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_ending_ || (batch = next()); });
      if (is_ending_) return;
      current_ = batch->id;
    }
    if (auto done = work_on(*batch); !done) fail(*batch, done.error());
    const std::scoped_lock lock(mutex_);
    current_.clear();
    if (batch->is_over()) files_->release(batch->input_file_id, batch->id);
  }
}

Result<void> BatchQueue::work_on(BatchRecord& batch) {
  if (batch.has_all_lines) return finish(batch);
  auto input = BatchInput::open(files_->path_of(batch.input_file_id), /*gives_way=*/true);
  if (!input) return std::unexpected(input.error());
  const Result<bool> is_valid = validate(batch, *input);
  if (!is_valid) return std::unexpected(is_valid.error());
  if (!*is_valid) return {};
  Outputs outputs;
  for (auto [file, which] : {std::pair(&outputs.answers, ".output"), {&outputs.errors, ".errors"}}) {
    auto opened = BatchAnswers::open(lines_path(batch.id, which));
    if (!opened) return std::unexpected(opened.error());
    *file = *std::move(opened);
  }
  const Result<void> answered = answer(batch, *input, outputs);
  {
    const std::scoped_lock lock(mutex_);
    if (answered && is_ending_ && batch.n_completed + batch.n_failed < batch.n) return {};
  }
  for (const auto& file : {&outputs.answers, &outputs.errors}) {
    if (auto written = (*file)->sync(); !written && answered) return written;
  }
  return answered ? finish(batch) : answered;
}

// Also finds the positions of the input's lines, so it runs again when a batch is resumed.
Result<bool> BatchQueue::validate(BatchRecord& batch, BatchInput& input) {
  constexpr size_t kMostFaults = 100;
  const auto check = [&](const BatchRequest& request, size_t number) -> std::optional<BatchFault> {
    if (request.wrong) return BatchFault{number, "invalid_request", request.wrong->message, request.wrong->param};
    if (request.url == batch.endpoint) return std::nullopt;
    return BatchFault{
        number, "mismatched_endpoint",
        format_text("url: is '{}', and the batch's endpoint is {}", request.url.substr(0, 100), batch.endpoint), "url"};
  };
  auto faults = input.validate({.most_faults = kMostFaults, .check = check, .is_wanted = [&] {
                                  const std::scoped_lock lock(mutex_);
                                  return !is_ending_;
                                }});
  if (!faults && faults.error().code == ErrorCode::kInterrupted) return false;
  if (!faults) return std::unexpected(faults.error());
  if (faults->empty() && input.n_requests() == 0) {
    faults->push_back({.line = 0, .code = "empty_file", .message = "there is no request in the file"});
  }
  if (!faults->empty()) {
    fail(batch, *std::move(faults));
    return false;
  }
  const std::scoped_lock lock(mutex_);
  batch.n = input.n_requests();
  if (batch.status != BatchStatus::kValidating) return true;
  batch.become(BatchStatus::kInProgress);
  if (auto saved = save(batch); !saved) return std::unexpected(saved.error());
  return true;
}

ApiResult<Json> BatchQueue::ask(const BatchRequest& request, const std::function<bool()>& is_wanted) {
  constexpr int kMostTimes = 50;
  for (int times = 1;;) {
    ApiResult<Json> answer = options_.answer(request, is_wanted);
    const bool has_no_room = !answer && answer.error().status == 429;  // while other requests take the room
    const bool is_for_later = has_no_room || (!answer && answer.error().status == 503);
    if (!has_no_room) ++times;
    if (!is_for_later || times > kMostTimes || !is_wanted()) return answer;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, options_.pause, [&] { return is_ending_; });
  }
}

Result<void> BatchQueue::answer(BatchRecord& batch, const BatchInput& input, Outputs& outputs) {
  std::vector<size_t> left;
  for (size_t i = 0; i < input.n_requests(); ++i) {
    const std::string& id = input.custom_id(i);
    if (!outputs.answers->ids().contains(id) && !outputs.errors->ids().contains(id)) left.push_back(i);
  }
  {
    const std::scoped_lock lock(mutex_);
    batch.n_completed = outputs.answers->ids().size();
    batch.n_failed = outputs.errors->ids().size();
    if (batch.n_completed + batch.n_failed + left.size() != batch.n) {
      return tern::fail(ErrorCode::kCorruption, "{}: has answers to other requests", lines_path(batch.id, ".output"));
    }
  }
  std::set<std::string> answered;
  const auto count = [&](const std::string& custom_id, uint64_t& n) {
    const std::scoped_lock lock(mutex_);
    answered.insert(custom_id);
    ++n;
  };
  BatchWork work{.n_at_once = options_.n_at_once, .is_wanted = [&] { return this->is_wanted(batch); }};
  work.answer = [&](const BatchRequest& request, const auto& wanted) { return ask(request, wanted); };
  work.take = [&](const std::string& custom_id, const ApiResult<Json>& got) -> Result<void> {
    if (auto added = (got ? outputs.answers : outputs.errors)->add(answer_line(custom_id, got)); !added) return added;
    count(custom_id, got ? batch.n_completed : batch.n_failed);
    return {};
  };
  const Result<void> done = answer_requests(input, left, work);
  const std::optional<Unanswered> reason = why_unanswered(batch, done.has_value());
  for (const size_t i : left) {
    if (!reason) break;
    if (answered.contains(input.custom_id(i))) continue;
    const Json line = unanswered_line(input.custom_id(i), reason->code, reason->why);
    // After a failure this may fail, too, as on a full disk.
    if (auto added = outputs.errors->add(line); !added) return done ? added : done;
    count(input.custom_id(i), batch.n_failed);
  }
  return done;
}

// None: the server ends, and the next one answers the rest.
std::optional<BatchQueue::Unanswered> BatchQueue::why_unanswered(const BatchRecord& batch, bool is_fine) const {
  if (!is_fine) return Unanswered{"batch_failed", "the batch failed before this request was answered"};
  const std::scoped_lock lock(mutex_);
  if (is_ending_) return std::nullopt;
  if (batch.status == BatchStatus::kCancelling) {
    return Unanswered{"batch_cancelled", "the batch was cancelled before this request was answered"};
  }
  return Unanswered{"batch_expired", "the batch's 24 hours were over before this request was answered"};
}

// Turns the lines into files that clients can download. It can be repeated if the program ends midway.
Result<void> BatchQueue::hand_over(BatchRecord& batch, bool BatchRecord::* has, const std::string& id,
                                   const char* which) {
  const std::string path = lines_path(batch.id, which);
  std::error_code error;
  const bool is_there = std::filesystem::exists(path, error);
  if (is_there && std::filesystem::file_size(path, error) == 0) return remove_file(path);
  if (!is_there && !std::filesystem::exists(files_->path_of(id), error)) return {};
  const auto file =
      files_->adopt(id, path, batch.id + (which + std::string(".jsonl")).replace(0, 1, "_"), batch.file_lifetime);
  if (!file) return std::unexpected(file.error());
  const std::scoped_lock lock(mutex_);
  batch.*has = true;
  return {};
}

Result<void> BatchQueue::finish(BatchRecord& batch) {
  BatchStatus end = BatchStatus::kCompleted;
  {
    const std::scoped_lock lock(mutex_);
    if (!batch.faults.empty()) {
      end = BatchStatus::kFailed;
    } else if (batch.status == BatchStatus::kCancelling) {
      end = BatchStatus::kCancelled;
    } else if (unix_seconds() >= batch.expires_at()) {
      end = BatchStatus::kExpired;
    }
    batch.has_all_lines = true;
    if (end == BatchStatus::kCompleted || end == BatchStatus::kExpired) batch.become(BatchStatus::kFinalizing);
    if (auto saved = save(batch); !saved) return saved;
  }
  if (auto done = hand_over(batch, &BatchRecord::has_output, batch.output_file_id, ".output"); !done) return done;
  if (auto done = hand_over(batch, &BatchRecord::has_errors, batch.error_file_id, ".errors"); !done) return done;
  const std::scoped_lock lock(mutex_);
  batch.become(end);
  return save(batch);
}

void BatchQueue::fail(BatchRecord& batch, std::vector<BatchFault> faults) {
  const std::scoped_lock lock(mutex_);
  batch.faults = std::move(faults);
  batch.become(BatchStatus::kFailed);
  [[maybe_unused]] const Result<void> saved = save(batch);  // else the next server finds the same
}

// What was answered stays. If even this cannot be saved, clients are told so, and the next server tries again.
void BatchQueue::fail(BatchRecord& batch, const Error& error) {
  {
    const std::scoped_lock lock(mutex_);
    if (batch.faults.empty()) batch.faults.push_back({.line = 0, .code = "server_error", .message = error.message});
  }
  if (finish(batch)) return;
  const std::scoped_lock lock(mutex_);
  batch.become(BatchStatus::kFailed);
}

}  // namespace tern::server
