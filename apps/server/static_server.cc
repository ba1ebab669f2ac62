#include "server/static_server.h"

#include <httplib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/text/format_text.h"
#include "server/connections/connection.h"
#include "server/connections/connection_front.h"
#include "server/http_listener.h"
#include "server/static_files.h"

namespace tern::server {
namespace {

constexpr size_t kPiece = size_t{16} << 10;  // bytes read and sent at a time: fits into any free send buffer
constexpr const char* kWords = "text/plain; charset=utf-8";
constexpr std::chrono::seconds kSilence(60);  // a page that hashes and stores what it downloads reads in bursts

httplib::Headers common_headers() {
  return {{"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Embedder-Policy", "require-corp"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"X-Content-Type-Options", "nosniff"},
          {"Cache-Control", "no-cache"}};
}

void answer_in_words(httplib::Response& response, int status, const std::string& words) {
  response.status = status;
  response.set_content(format_text("{}: {}\n", status, words), kWords);
}

// True if the client has this file already.
bool is_unchanged(const httplib::Request& request, const std::string& etag, const std::string& modified) {
  if (request.has_header("If-None-Match")) return names_tag(request.get_header_value("If-None-Match"), etag);
  return request.get_header_value("If-Modified-Since") == modified;
}

std::optional<WantedRange> range_of(const httplib::Request& request) {
  return read_range(request.get_header_value(std::string(kRangeHeader)));
}

// A client that resumes a download wants the rest only if the file is unchanged.
std::optional<WantedRange> wanted_range(const httplib::Request& request, const std::string& etag,
                                        const std::string& modified) {
  const std::string known = request.get_header_value("If-Range");
  return known.empty() || known == etag || known == modified ? range_of(request) : std::nullopt;
}

void send_file(const httplib::Request& request, httplib::Response& response, FoundFile found,
               const std::atomic<bool>& is_ending) {
  const auto file = std::make_shared<OpenFile>(std::move(found.file));
  const std::string etag = file->etag(), modified = http_date(file->modified_seconds());
  response.set_header("ETag", etag);
  response.set_header("Last-Modified", modified);
  if (found.has_gzip) response.set_header("Vary", "Accept-Encoding");
  if (is_unchanged(request, etag, modified)) {
    response.status = httplib::StatusCode::NotModified_304;
    return;
  }
  ByteRange part = {.offset = 0, .length = file->bytes()};
  response.status = httplib::StatusCode::OK_200;
  if (const auto wanted = wanted_range(request, etag, modified)) {
    const std::optional<ByteRange> clipped = clip_range(wanted->first, wanted->last, file->bytes());
    if (!clipped) {
      response.set_header("Content-Range", format_text("bytes */{}", file->bytes()));
      answer_in_words(response, httplib::StatusCode::RangeNotSatisfiable_416, "the file has no such bytes");
      return;
    }
    part = *clipped;
    response.status = httplib::StatusCode::PartialContent_206;
    response.set_header("Content-Range",
                        format_text("bytes {}-{}/{}", part.offset, part.offset + part.length - 1, file->bytes()));
  }
  response.set_header("Accept-Ranges", "bytes");
  if (found.is_gzip) response.set_header("Content-Encoding", "gzip");
  if (part.length == 0) {
    response.set_content("", found.media_type);
    return;
  }
  response.set_content_provider(
      part.length, found.media_type, [file, part, &is_ending](size_t offset, size_t length, httplib::DataSink& sink) {
        thread_local std::array<char, kPiece> piece;
        const size_t wanted = std::min(length, piece.size());
        const size_t n = file->read_at(part.offset + offset, std::span(piece).first(wanted));
        if (n == 0 || is_ending) return false;
        return sink.write(piece.data(), n);  // a file that became shorter ends the connection; it is not padded
      });
}

}  // namespace

void answer_file(const StaticFiles& files, const httplib::Request& request, httplib::Response& response,
                 const std::atomic<bool>& is_ending) {
  for (const auto& [name, value] : common_headers()) response.set_header(name, value);
  if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD");
    answer_in_words(response, httplib::StatusCode::MethodNotAllowed_405, "this server only reads");
    return;
  }
  // A range of the compressed form would be useless.
  const bool gzip = !range_of(request) && accepts_gzip(request.get_header_value("Accept-Encoding"));
  std::expected<FoundFile, NotFound> found = files.find(request.path, gzip);
  if (found) {
    send_file(request, response, *std::move(found), is_ending);
  } else if (found.error().status == httplib::StatusCode::MovedPermanently_301) {
    response.set_redirect(found.error().location, httplib::StatusCode::MovedPermanently_301);
  } else {
    answer_in_words(response, httplib::StatusCode::NotFound_404, "there is no such file");
  }
  // The answer has its range already. The library would cut another one out of it, and has no switch to prevent that.
  const_cast<httplib::Request&>(request).ranges.clear();
}

struct StaticServer::Impl {
  StaticFiles files;
  HttpServer http;
  std::atomic<bool> is_ending = false;

  Impl(StaticFiles f, HttpServer server) : files(std::move(f)), http(std::move(server)) {
    http.routes().set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer_file(files, request, response, is_ending);
      return httplib::Server::HandlerResponse::Handled;
    });
  }
};

StaticServer::StaticServer(std::unique_ptr<Impl> impl, std::string url)
    : impl_(std::move(impl)), url_(std::move(url)) {}
StaticServer::StaticServer(StaticServer&&) noexcept = default;
StaticServer& StaticServer::operator=(StaticServer&&) noexcept = default;
StaticServer::~StaticServer() = default;

Result<StaticServer> StaticServer::open(const StaticOptions& options) {
  Result<StaticFiles> files = StaticFiles::open(options.folder);
  if (!files) return std::unexpected(std::move(files).error());
  FrontOptions front{.stream = {.silence = kSilence}};
  front.refusal = [](const Peer&, int status, const std::string& why) {
    return FrontOptions::Refusal{.media_type = kWords, .body = format_text("{}: {}\n", status, why)};
  };
  auto server = HttpServer::open(options.tls, std::move(front));
  if (!server) return std::unexpected(std::move(server).error());
  auto impl = std::make_unique<Impl>(*std::move(files), *std::move(server));
  Result<std::string> url = listen_at(impl->http, {.host = options.host, .port = options.port, .tls = options.tls});
  if (!url) return std::unexpected(std::move(url).error());
  return StaticServer(std::move(impl), *std::move(url));
}

Result<void> StaticServer::serve(const std::stop_token& stop) {
  return serve_until(impl_->http, url_, stop, [this] { impl_->is_ending = true; });
}

}  // namespace tern::server
