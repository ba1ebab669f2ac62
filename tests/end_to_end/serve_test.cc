// `tern serve` through a plain socket.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <format>
#include <map>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};
};

class Connection {
 public:
  explicit Connection(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_open() const { return open_; }
  void send(const std::string& text) const { ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  std::string receive_some() const {
    char bytes[65536];
    const ssize_t n = ::recv(socket_, bytes, sizeof bytes, 0);
    return n > 0 ? std::string(bytes, static_cast<size_t>(n)) : std::string();
  }

 private:
  int socket_;
  bool open_;
};

// Sends a request and returns the answer. `request` is the first line without "HTTP/1.1", sent as it is.
Answer ask(int port, const std::string& request, const std::string& headers = "") {
  const Connection connection(port);
  connection.send(request + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + "\r\n");
  std::string text;
  for (std::string piece = connection.receive_some(); !piece.empty(); piece = connection.receive_some()) text += piece;
  Answer answer;
  const size_t head_end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || head_end == std::string::npos) return answer;
  answer.status = std::stoi(text.substr(9, 3));
  answer.body = text.substr(head_end + 4);
  for (size_t at = text.find("\r\n") + 2; at < head_end;) {
    const size_t end = text.find("\r\n", at), colon = text.find(": ", at);
    std::string name = text.substr(at, colon - at);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_FALSE(answer.headers.contains(name)) << name << " twice: " << text.substr(0, head_end);
    answer.headers[name] = text.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  return answer;
}

// Serves with these options on a free port, calls `use` with the port, then sends SIGINT (Ctrl-C).
RunResult with_options(std::vector<std::string> options, const std::function<void(int port)>& use) {
  options.insert(options.begin(), {"serve", "--port", "0"});
  bool used = false;
  const RunResult result = run_tern(options, {.on_errors = [&](pid_t process, const std::string& err) {
                                      constexpr std::string_view kUrl = "http://127.0.0.1:";
                                      const size_t url = err.find(kUrl);
                                      if (used || url == std::string::npos || !err.ends_with('\n')) return;
                                      used = true;
                                      use(std::stoi(err.substr(url + kUrl.size())));
                                      ::kill(process, SIGINT);
                                    }});
  EXPECT_TRUE(used) << result.err;
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  return result;
}

RunResult with_server(const std::string& folder, const std::function<void(int port)>& use) {
  return with_options({"--static", folder}, use);
}

// The page is where the build puts it, beside the default model.
TEST(Serve, APageToChatOn) {
  const RunResult with_page = with_options({}, [](int port) {
    const Answer page = ask(port, "GET /");
    EXPECT_EQ(page.status, 200);
    EXPECT_TRUE(page.body.contains("<html lang=\"en\" data-engine=\"server\">")) << page.body.substr(0, 200);
    EXPECT_TRUE(page.body.contains("connect-src 'self'; worker-src 'none'"));
    EXPECT_EQ(page.headers.at("cache-control"), "no-cache");
    for (const char* file : {"main.js", "served/served.js", "served/server_engine.js", "sw.js"}) {
      EXPECT_EQ(ask(port, std::format("GET /{}", file)).headers.at("content-type"), "text/javascript; charset=utf-8")
          << file;
    }
    for (const char* file : {"dev/serve.mjs", "tern/index.js", "served/served.cmake", "README.md"}) {
      EXPECT_EQ(ask(port, std::format("GET /{}", file)).status, 404) << file;
    }
  });
  EXPECT_TRUE(with_page.err.contains("the chat page is at http://127.0.0.1:")) << with_page.err;
  const RunResult without = with_options({"--no-webui"}, [](int port) {
    const Answer words = ask(port, "GET /");
    EXPECT_EQ(words.headers.at("content-type"), "text/plain; charset=utf-8");
    EXPECT_TRUE(words.body.contains("no page to chat on")) << words.body;
    EXPECT_EQ(ask(port, "GET /main.js").status, 404);
  });
  EXPECT_FALSE(without.err.contains("page")) << without.err;
}

TEST(Serve, FilesWithWhatABrowserNeeds) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.path("tern"));
  folder.write("index.html", "<p>page");
  folder.write("tern/tern.wasm", std::string("\0asm", 4));
  folder.write("empty.json", "");
  with_server(folder.path(""), [&](int port) {
    const Answer page = ask(port, "GET /?model=x");
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.body, "<p>page");
    EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
    EXPECT_EQ(page.headers.at("cache-control"), "no-cache");
    const Answer wasm = ask(port, "GET /tern/tern.wasm");
    EXPECT_EQ(wasm.body, std::string("\0asm", 4));
    EXPECT_EQ(wasm.headers.at("content-type"), "application/wasm");
    EXPECT_EQ(ask(port, "GET /empty.json").body, "");
    for (const Answer& answer : {page, wasm, ask(port, "GET /nothing"), ask(port, "GET /tern")}) {
      EXPECT_EQ(answer.headers.at("cross-origin-opener-policy"), "same-origin") << answer.status;
      EXPECT_EQ(answer.headers.at("cross-origin-embedder-policy"), "require-corp") << answer.status;
      EXPECT_EQ(answer.headers.at("cross-origin-resource-policy"), "same-origin") << answer.status;
      EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff") << answer.status;
    }
    const Answer head = ask(port, "HEAD /tern/tern.wasm");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.headers.at("content-length"), "4");
    EXPECT_EQ(head.body, "");
    const Answer post = ask(port, "POST /", "Content-Length: 0\r\n");
    EXPECT_EQ(post.status, 405);
    EXPECT_EQ(post.headers.at("allow"), "GET, HEAD");
  });
}

TEST(Serve, Ranges) {
  const ScratchFolder folder;
  std::string bytes(1'000'000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  folder.write("model.gguf", bytes);
  with_server(folder.path(""), [&](int port) {
    const Answer whole = ask(port, "GET /model.gguf");
    EXPECT_TRUE(whole.body == bytes);
    EXPECT_EQ(whole.headers.at("accept-ranges"), "bytes");
    const auto range = [&](const std::string& text, const std::string& more = "") {
      return ask(port, "GET /model.gguf", "Range: bytes=" + text + "\r\n" + more);
    };
    const Answer middle = range("300000-899999");
    EXPECT_EQ(middle.status, 206);
    EXPECT_EQ(middle.headers.at("content-range"), "bytes 300000-899999/1000000");
    EXPECT_EQ(middle.headers.at("content-length"), "600000");
    EXPECT_TRUE(middle.body == bytes.substr(300000, 600000));
    EXPECT_TRUE(range("999990-").body == bytes.substr(999990));
    EXPECT_TRUE(range("-5").body == bytes.substr(999995));
    EXPECT_TRUE(range("0-1,5-6").body == bytes) << "several parts: the whole file";
    const Answer behind = range("1000000-");
    EXPECT_EQ(behind.status, 416);
    EXPECT_EQ(behind.headers.at("content-range"), "bytes */1000000");
    const std::string etag = whole.headers.at("etag");
    EXPECT_EQ(range("5-", "If-Range: " + etag + "\r\n").status, 206);
    EXPECT_EQ(range("5-", "If-Range: " + whole.headers.at("last-modified") + "\r\n").status, 206);
    // If the client has another version of the file, it gets all of it, even if the file is shorter than what it has.
    EXPECT_TRUE(range("5-", "If-Range: \"other\"\r\n").body == bytes);
    EXPECT_TRUE(range("2000000-", "If-Range: \"other\"\r\n").body == bytes);
  });
}

TEST(Serve, ConditionalRequests) {
  const ScratchFolder folder;
  const std::string path = folder.write("a.js", "1");
  with_server(folder.path(""), [&](int port) {
    const Answer first = ask(port, "GET /a.js");
    const std::string known = "If-None-Match: " + first.headers.at("etag") + "\r\n";
    const Answer same = ask(port, "GET /a.js", known);
    EXPECT_EQ(same.status, 304);
    EXPECT_EQ(same.body, "");
    EXPECT_EQ(same.headers.at("etag"), first.headers.at("etag"));
    EXPECT_EQ(ask(port, "GET /a.js", "If-Modified-Since: " + first.headers.at("last-modified") + "\r\n").status, 304);
    folder.write("a.js", "2");
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::milliseconds(5));
    EXPECT_EQ(ask(port, "GET /a.js", known).body, "2");
  });
}

TEST(Serve, CompressedBeforehand) {
  const ScratchFolder folder;
  folder.write("a.js", "plain text");
  folder.write("a.js.gz", "packed");
  with_server(folder.path(""), [&](int port) {
    const Answer packed = ask(port, "GET /a.js", "Accept-Encoding: br, gzip\r\n");
    EXPECT_EQ(packed.body, "packed");
    EXPECT_EQ(packed.headers.at("content-encoding"), "gzip");
    EXPECT_EQ(packed.headers.at("content-type"), "text/javascript; charset=utf-8");
    const Answer plain = ask(port, "GET /a.js");
    EXPECT_EQ(plain.body, "plain text");
    EXPECT_FALSE(plain.headers.contains("content-encoding"));
    EXPECT_NE(plain.headers.at("etag"), packed.headers.at("etag"));
    for (const Answer& answer : {packed, plain}) EXPECT_EQ(answer.headers.at("vary"), "Accept-Encoding");
    EXPECT_EQ(ask(port, "GET /a.js", "Accept-Encoding: gzip\r\nRange: bytes=0-4\r\n").body, "plain");
  });
}

TEST(Serve, NothingOutsideTheFolder) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.path("site/sub"));
  folder.write("secret.txt", "secret");
  folder.write("site/.hidden", "secret");
  std::filesystem::create_symlink(folder.path("secret.txt"), folder.path("site/link.txt"));
  with_server(folder.path("site"), [&](int port) {
    for (const char* path : {"/../secret.txt", "/%2e%2e/secret.txt", "/sub/../../secret.txt", "/..%2fsecret.txt",
                             "/link.txt", "/.hidden", "/sub/", "/sub", "/", "//", "/%00"}) {
      const Answer answer = ask(port, std::string("GET ") + path);
      EXPECT_TRUE(answer.status == 404 || answer.status == 400) << path << ": " << answer.status;
      EXPECT_FALSE(answer.body.contains("secret")) << path;
    }
  });
}

TEST(Serve, CtrlCEndsADownloadInProgress) {
  using std::chrono::steady_clock;
  const ScratchFolder folder;
  steady_clock::time_point asked;
  folder.write("big.bin", std::string(64 << 20, 'x'));
  with_server(folder.path(""), [&](int port) {
    // Stays open and unread while the server ends.
    static const Connection connection(port);
    ASSERT_TRUE(connection.is_open());
    connection.send("GET /big.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(connection.receive_some().starts_with("HTTP/1.1 200"));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // until the socket's buffers are full
    asked = steady_clock::now();
  });
  // Otherwise the server waits a minute for a client that reads nothing.
  EXPECT_LT(steady_clock::now() - asked, std::chrono::seconds(30));
}

TEST(Serve, WhatCannotBeServed) {
  const ScratchFolder folder;
  const std::string file = folder.write("file", "");
  EXPECT_TRUE(failed_with(run_tern({"serve", "-m", "/nowhere"}), 1, {"/nowhere"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--static", ""}), 2, {"--static", "empty"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--static", folder.path(""), "--port", "65536"}), 2, {"--port", "65535"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--static", "/nowhere"}), 1, {"/nowhere", "No such file"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--static", file}), 1, {file, "directory"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--static", folder.path(""), "--host", "192.0.2.1"}), 1,
                          {"192.0.2.1:8080", "--host"}));
  with_server(folder.path(""), [&](int port) {
    EXPECT_TRUE(failed_with(run_tern({"serve", "--static", folder.path(""), "--port", std::to_string(port)}), 1,
                            {std::to_string(port), "in use", "--port"}));
  });
}

}  // namespace
}  // namespace tern::test
