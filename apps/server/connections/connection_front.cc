#include "server/connections/connection_front.h"

#include <algorithm>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/platform/socket.h"
#include "base/result.h"
#include "base/start_thread.h"
#include "base/text/format_text.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMostThreads = 4096;

// Closing a connection with unread bytes resets it: a peer that is still sending sees an error, and perhaps never the
// answer. So incoming bytes are dropped for a while before it is closed.
constexpr std::chrono::seconds kLongestEnd(2);
constexpr size_t kMostDropped = size_t{4} << 20;

std::string refusal_text(int status, const FrontOptions::Refusal& refusal) {
  return format_text("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                     httplib::status_message(status), refusal.media_type, refusal.body.size(), refusal.body);
}

}  // namespace

Result<std::unique_ptr<ConnectionFront>> ConnectionFront::open(FrontOptions options) {
  TRY(std::unique_ptr<Poller> poller, Poller::open());
  std::unique_ptr<ConnectionFront> front(new ConnectionFront(std::move(options), std::move(poller)));
  TRY(front->thread_, start_thread("connections", [self = front.get()] { self->run(); }));
  return front;
}

ConnectionFront::ConnectionFront(FrontOptions options, std::unique_ptr<Poller> poller)
    : options_(std::move(options)), poller_(std::move(poller)), threads_(kMostThreads) {}

ConnectionFront::~ConnectionFront() { stop(); }

void ConnectionFront::add(int fd, void* tls) {
  auto connection = std::make_unique<Connection>(fd, tls);
  {
    const std::scoped_lock lock(mutex_);
    if (is_stopping_) return;
    open_.insert(fd);
    returned_.push_back({.connection = std::move(connection)});
  }
  poller_->wake();
}

void ConnectionFront::cut() {
  const std::scoped_lock lock(mutex_);
  for (const int fd : open_) platform::cut_socket(fd);
}

void ConnectionFront::stop() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
  }
  poller_->wake();
  if (thread_.joinable()) thread_.join();
  threads_.shutdown();
}

void ConnectionFront::run() {
  const milliseconds shortest = std::min({options_.idle, options_.stream.silence, options_.stream.request});
  const milliseconds pause = std::clamp(shortest / 4, milliseconds(1), milliseconds(1000));
  Clock::time_point next_look = {};
  while (!is_stopping_) {
    const std::vector<int> ready = poller_->wait(pause);
    take_returned();
    for (const int fd : ready) on_ready(fd);
    start_waiting();
    if (Clock::now() < next_look) continue;
    end_late();
    next_look = Clock::now() + pause;
  }
  const std::scoped_lock lock(mutex_);
  // Those of requests in progress stay listed, so that cut() can end them.
  for (const auto& [fd, parked] : parked_) open_.erase(fd);
  for (const Parked& parked : returned_) open_.erase(parked.connection->transport().fd());
  returned_.clear();
  parked_.clear();
}

void ConnectionFront::take_returned() {
  std::vector<Parked> returned;
  {
    const std::scoped_lock lock(mutex_);
    returned.swap(returned_);
  }
  for (Parked& one : returned) {
    const int fd = one.connection->transport().fd();
    const bool has_ended = one.stage == Stage::kEnding;
    const bool is_new = one.connection->n_answered == 0;
    Parked& parked = parked_.insert_or_assign(fd, std::move(one)).first->second;
    if (!poller_->add(fd, parked.need)) {
      close(fd);
    } else if (has_ended) {
      begin_end(parked);
    } else if (is_new && !make_room(fd)) {
      refuse(parked, 503, "this server has too many connections");
    } else {
      advance(parked);
    }
  }
}

// False: there are too many connections, and no other is idle.
bool ConnectionFront::make_room(int fd) {
  {
    const std::scoped_lock lock(mutex_);
    if (open_.size() <= options_.most_connections) return true;
  }
  std::optional<std::pair<Clock::time_point, int>> longest;
  for (const auto& [other, parked] : parked_) {
    if (other == fd || parked.stage != Stage::kReading || parked.connection->holds(1)) continue;
    const std::pair idle(parked.connection->since, other);
    if (!longest || idle < *longest) longest = idle;
  }
  if (longest) close(longest->second);
  return longest.has_value();
}

void ConnectionFront::on_ready(int fd) {
  const auto found = parked_.find(fd);
  if (found == parked_.end()) return;
  found->second.stage == Stage::kEnding ? drop(found->second) : advance(found->second);
}

// Reads what has arrived, and decides what becomes of the connection.
void ConnectionFront::advance(Parked& parked) {
  Connection& connection = *parked.connection;
  const int fd = connection.transport().fd();
  const IoState got = connection.receive(options_.scan);
  switch (connection.look(options_.scan)) {
    case Connection::State::kWhole:
      return give_to_thread(fd, /*is_long=*/false);
    case Connection::State::kLong:
      poller_->remove(fd);
      parked.stage = Stage::kWaiting;
      return waiting_.push_back(fd);
    case Connection::State::kRefused:
      return refuse(parked, connection.request().status(), connection.request().why());
    case Connection::State::kPartial:
      break;
  }
  if (got == IoState::kEnded) return close(fd);
  if (!count_held(parked)) return refuse(parked, 503, "this server is receiving too many long requests");
  const IoState need = got == IoState::kNeedsOutput ? got : IoState::kNeedsInput;
  if (need != parked.need) poller_->change(fd, need);
  parked.need = need;
}

// Counts what the connection holds. False: together they hold too much, and this one has more than a head.
bool ConnectionFront::count_held(Parked& parked) {
  n_held_ += parked.connection->n_held() - parked.n_held;
  parked.n_held = parked.connection->n_held();
  return n_held_ <= options_.most_held_bytes || parked.n_held <= options_.scan.head_bytes;
}

void ConnectionFront::forget(std::unordered_map<int, Parked>::iterator parked) {
  n_held_ -= parked->second.n_held;
  parked_.erase(parked);
}

void ConnectionFront::start_waiting() {
  while (!waiting_.empty()) {
    {
      const std::scoped_lock lock(mutex_);
      if (n_long_ >= options_.most_long_bodies) return;
      ++n_long_;
    }
    const int fd = waiting_.front();
    waiting_.pop_front();
    give_to_thread(fd, /*is_long=*/true);
  }
}

void ConnectionFront::give_to_thread(int fd, bool is_long) {
  const auto found = parked_.find(fd);
  if (found->second.stage == Stage::kReading) poller_->remove(fd);
  const auto held = std::make_shared<Owned>(std::move(found->second.connection));
  forget(found);
  if (threads_.enqueue([this, held, is_long] { answer(std::move(*held), is_long); })) return;
  const std::scoped_lock lock(mutex_);
  if (is_long) --n_long_;
  open_.erase(fd);
  const std::string text =
      refusal_text(503, options_.refusal((*held)->peer(), 503, "the system has no thread left for this request"));
  (*held)->transport().send(text);
  held->reset();
}

void ConnectionFront::refuse(Parked& parked, int status, const std::string& why) {
  const std::string text = refusal_text(status, options_.refusal(parked.connection->peer(), status, why));
  parked.connection->transport().send(text);  // it fits, as nothing else is on its way
  begin_end(parked);
}

void ConnectionFront::begin_end(Parked& parked) {
  parked.connection->transport().end_output();
  parked.stage = Stage::kEnding;
  parked.end_of_stage = Clock::now() + kLongestEnd;
  if (parked.need != IoState::kNeedsInput) poller_->change(parked.connection->transport().fd(), IoState::kNeedsInput);
  parked.need = IoState::kNeedsInput;
}

void ConnectionFront::drop(Parked& parked) {
  const IoResult result = parked.connection->transport().drop();
  parked.n_dropped += result.n;
  if (result.state == IoState::kEnded || parked.n_dropped > kMostDropped) close(parked.connection->transport().fd());
}

void ConnectionFront::close(int fd) {
  poller_->remove(fd);
  {
    const std::scoped_lock lock(mutex_);
    open_.erase(fd);
  }
  forget(parked_.find(fd));
}

void ConnectionFront::end_late() {
  const auto now = Clock::now();
  std::vector<int> late;
  for (const auto& [fd, parked] : parked_) {
    const Connection& of = *parked.connection;
    auto end = of.since + options_.idle;
    if (of.holds(1)) end = std::min(of.since + options_.stream.request, of.last_arrival + options_.stream.silence);
    if (parked.stage == Stage::kEnding) end = parked.end_of_stage;
    if (parked.stage != Stage::kWaiting && now > end) late.push_back(fd);
  }
  for (const int fd : late) {
    Parked& parked = parked_.at(fd);
    const bool is_begun = parked.stage == Stage::kReading && parked.connection->holds(1);
    is_begun ? refuse(parked, 408, "the request took too long to arrive") : close(fd);
  }
}

void ConnectionFront::end_long() {
  {
    const std::scoped_lock lock(mutex_);
    --n_long_;
  }
  poller_->wake();
}

void ConnectionFront::answer(Owned connection, bool is_long) {
  bool goes_on = true;
  do {
    RequestStream stream(*connection, options_.stream, is_long ? [this] { end_long(); } : std::function<void()>());
    is_long = false;
    const bool is_last = ++connection->n_answered >= kMostRequests || is_stopping_;
    goes_on = answer_(stream, *connection, is_last) && !is_last && stream.finish();
  } while (goes_on && connection->look(options_.scan) == Connection::State::kWhole);
  {
    const std::scoped_lock lock(mutex_);
    if (is_stopping_) {
      open_.erase(connection->transport().fd());
      connection.reset();
      return;
    }
    returned_.push_back({.connection = std::move(connection), .stage = goes_on ? Stage::kReading : Stage::kEnding});
  }
  poller_->wake();
}

}  // namespace tern::server
