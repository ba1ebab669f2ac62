#include "hub/net/fake_hub_test_support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "base/text/format_text.h"

namespace tern::hub {
namespace {

constexpr size_t kPiece = 64 << 10;

std::string hex_digest(const EVP_MD* kind, const std::string& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int n = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &n, kind, nullptr) != 1) std::abort();
  std::string text;
  for (unsigned int i = 0; i < n; ++i) text += format_text("{:02x}", digest[i]);
  return text;
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// Reads up to the empty line; false if the connection ends first.
bool read_request(int connection, std::string& buffer, TestRequest& request) {
  size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    char piece[4096];
    const ssize_t n = ::recv(connection, piece, sizeof piece, 0);
    if (n <= 0) return false;
    buffer.append(piece, static_cast<size_t>(n));
  }
  std::string head = buffer.substr(0, end + 2);
  buffer.erase(0, end + 4);
  const size_t line_end = head.find("\r\n");
  const std::string line = head.substr(0, line_end);
  const size_t first = line.find(' '), second = line.rfind(' ');
  request = {.method = line.substr(0, first), .path = line.substr(first + 1, second - first - 1), .headers = {}};
  for (size_t at = line_end + 2; at < head.size();) {
    const size_t next = head.find("\r\n", at);
    const size_t colon = head.find(':', at);
    std::string name = head.substr(at, colon - at);
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    const size_t value = head.find_first_not_of(' ', colon + 1);
    request.headers[name] = head.substr(value, next - value);
    at = next + 2;
  }
  return true;
}

// "bytes=10-19"
std::optional<std::pair<size_t, size_t>> parse_range(const TestRequest& request) {
  const auto header = request.headers.find("range");
  if (header == request.headers.end()) return std::nullopt;
  size_t first = 0, last = 0;
  const std::string& text = header->second;
  const size_t start = std::string_view("bytes=").size();
  const auto [dash, error] = std::from_chars(text.data() + start, text.data() + text.size(), first);
  std::from_chars(dash + 1, text.data() + text.size(), last);
  return error == std::errc() ? std::optional(std::pair(first, last)) : std::nullopt;
}

}  // namespace

TestServer::TestServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0) std::abort();
  if (::getsockname(listener_, generic, &size) != 0) std::abort();
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_connections(); });
}

TestServer::~TestServer() {
  closing_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
  }
  for (std::thread& worker : workers_) worker.join();  // no worker is added any more
  for (const int connection : connections_) ::close(connection);
}

std::string TestServer::url(const std::string& host) const { return format_text("http://{}:{}", host, port_); }

std::vector<TestRequest> TestServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

size_t TestServer::count(const std::string& method, const std::string& part_of_path) const {
  const std::vector<TestRequest> all = requests();
  return static_cast<size_t>(std::ranges::count_if(all, [&](const TestRequest& request) {
    return request.method == method && request.path.contains(part_of_path);
  }));
}

void TestServer::accept_connections() {
  while (!closing_) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    const std::lock_guard lock(mutex_);
    connections_.push_back(connection);
    workers_.emplace_back([this, connection] { serve(connection); });
  }
}

void TestServer::serve(int connection) {
  const int on = 1;
  ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::string buffer;
  TestRequest request;
  while (!closing_ && read_request(connection, buffer, request)) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    if (!answer(connection, request, handler_(request))) break;
  }
  ::shutdown(connection, SHUT_RDWR);  // closed only at the end, so that its number is not reused meanwhile
}

bool TestServer::answer(int connection, const TestRequest& request, const TestReply& reply) {
  std::string head = format_text("HTTP/1.1 {} Status\r\n", reply.status);
  for (const auto& [name, value] : reply.headers) head += name + ": " + value + "\r\n";
  if (!reply.with_length) head += "Connection: close\r\n";
  const bool has_length =
      std::ranges::contains(reply.headers, "Content-Length", &std::pair<std::string, std::string>::first);
  if (reply.with_length && !has_length) head += format_text("Content-Length: {}\r\n", reply.body.size());
  if (!send_all(connection, head + "\r\n")) return false;
  if (request.method == "HEAD") return true;
  const std::string_view body = std::string_view(reply.body).substr(0, reply.cut_after);
  for (size_t at = 0; at < body.size() && !closing_; at += kPiece) {
    for (int waited = 0; waited < reply.pause_ms && !closing_; waited += 10) {
      ::poll(nullptr, 0, std::min(reply.pause_ms, 10));
    }
    if (!send_all(connection, body.substr(at, kPiece))) return false;
  }
  return reply.with_length && body.size() == reply.body.size();
}

FakeHub::FakeHub()
    : server_([this](const TestRequest& request) {
        TestReply answer = before(request);
        if (answer.status == 0) {
          answer = reply(request);
          after(request, answer);
        }
        return answer;
      }) {}

std::string FakeHub::digest(const std::string& path) const {
  const FakeFile& file = files.at(path);
  if (!file.announced_digest.empty()) return file.announced_digest;
  if (file.is_large) return hex_digest(EVP_sha256(), file.bytes);
  return hex_digest(EVP_sha1(), format_text("blob {}", file.bytes.size()) + '\0' + file.bytes);
}

TestReply FakeHub::reply(const TestRequest& request) {
  const auto authorization = request.headers.find("authorization");
  const bool has_token = authorization != request.headers.end() && authorization->second == "Bearer " + token;
  if (!token.empty() && !has_token) return {.status = 401, .headers = {{"X-Error-Code", "RepoNotFound"}}};
  if (request.path == format_text("/api/models/{}/revision/main?blobs=true", repo)) return listing();
  const std::string resolve = format_text("/{}/resolve/{}/", repo, commit);
  if (request.path.starts_with(resolve)) return file(request, request.path.substr(resolve.size()));
  if (request.path.starts_with("/api/models/" + repo + "/")) {
    return {.status = 404, .headers = {{"X-Error-Code", "RevisionNotFound"}}};
  }
  return {.status = 401, .headers = {{"X-Error-Code", "RepoNotFound"}}, .body = "Repository not found"};
}

TestReply FakeHub::listing() const {
  std::string siblings;
  for (const auto& [path, file] : files) {
    const int64_t size = file.announced_size >= 0 ? file.announced_size : static_cast<int64_t>(file.bytes.size());
    std::string about;
    if (tells_blobs && file.is_large) {
      about = format_text(R"(,"size":{},"blobId":"{:040}","lfs":{{"sha256":"{}","size":{},"pointerSize":135}})", size,
                          7, digest(path), size);
    } else if (tells_blobs) {
      about = format_text(R"(,"size":{},"blobId":"{}")", size, digest(path));
    }
    siblings += format_text(R"({}{{"rfilename":"{}"{}}})", siblings.empty() ? "" : ",", path, about);
  }
  return {.headers = {{"Content-Type", "application/json"}},
          .body = format_text(R"({{"id":"{}","sha":"{}","siblings":[{}]}})", repo, commit, siblings)};
}

TestReply FakeHub::file(const TestRequest& request, const std::string& path) const {
  const auto found = files.find(path);
  if (found == files.end()) return {.status = 404, .headers = {{"X-Error-Code", "EntryNotFound"}}};
  const FakeFile& file = found->second;
  TestReply answer;
  answer.headers = {{"X-Repo-Commit", commit}, {"ETag", "\"" + digest(path) + "\""}};
  if (file.is_large) {
    answer.headers = {{"X-Repo-Commit", commit},
                      {"ETag", "\"of-the-cdn\""},
                      {"X-Linked-Etag", "\"" + digest(path) + "\""},
                      {"X-Linked-Size", format_text("{}", file.bytes.size())}};
  }
  if (!cdn.empty()) {
    answer.status = 302;
    answer.headers.emplace_back("Location", cdn + request.path);
    answer.body = "Found";
    return answer;
  }
  const auto range = parse_range(request);
  answer.body = file.bytes;
  if (range && knows_ranges) {
    answer.status = 206;
    answer.headers.emplace_back("Content-Range",
                                format_text("bytes {}-{}/{}", range->first, range->second, file.bytes.size()));
    answer.body = file.bytes.substr(range->first, range->second - range->first + 1);
  }
  return answer;
}

std::string test_bytes(size_t n, uint32_t seed) {
  std::string bytes(n, '\0');
  uint32_t state = seed * 2654435761u + 1;
  for (char& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

}  // namespace tern::hub
