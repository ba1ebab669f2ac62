#include "hub/net/http.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <thread>

#include "base/start_thread.h"
#include "hub/net/certificates.h"

namespace tern::hub {
namespace {

constexpr size_t kMaxBody = size_t{64} << 20;
constexpr long kMaxRedirects = 8;

void start_curl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) throw std::bad_alloc();
}

std::string without_quotes(std::string etag) {
  if (etag.starts_with("W/")) etag.erase(0, 2);
  std::erase(etag, '"');
  return etag;
}

std::string host_of(const std::string& url) {
  const size_t start = url.find("://");
  if (start == std::string::npos) return url;
  return url.substr(0, url.find_first_of("/?#", start + 3));
}

size_t receive(const char* data, size_t, size_t size, void* user) {
  auto& body = *static_cast<std::string*>(user);
  if (body.size() + size > kMaxBody) return 0;
  body.append(data, size);
  return size;
}

int check_stop(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::stop_token*>(user)->stop_requested() ? 1 : 0;
}

struct Answer {
  HttpReply reply;
  std::string redirect;  // target of a redirect that was not followed
  std::optional<Milliseconds> asked;
};

HttpReply read_reply(CURL* handle) {
  HttpReply reply;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &reply.status);
  reply.error_code = header_of(handle, "X-Error-Code");
  const std::string linked = header_of(handle, "X-Linked-Etag");
  reply.etag = without_quotes(linked.empty() ? header_of(handle, "ETag") : linked);
  reply.size = header_of(handle, "X-Linked-Size");
  if (reply.size.empty()) reply.size = header_of(handle, "Content-Length");
  return reply;
}

// Sends a request, with retries. HEAD requests do not follow redirects.
Result<Answer> request(const HttpOptions& options, const std::string& url, bool is_head) {
  // Where it has no thread for the name, curl waits until the time is up.
  TRY_STATUS(check_threads(1, "finding the host"));
  CurlList headers(nullptr, curl_slist_free_all);
  const CurlHandle handle = make_handle(options, url, headers);
  CURL* curl = handle.get();
  std::string body;
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_stop);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &options.stop);
  if (is_head) {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  }
  for (int failures = 1;; ++failures) {
    body.clear();
    const CURLcode code = curl_easy_perform(curl);
    if (options.stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted");
    if (code == CURLE_WRITE_ERROR) {
      return fail(ErrorCode::kCorruption, "{}: an answer of more than {} bytes; is HF_ENDPOINT right?", url, kMaxBody);
    }
    Answer answer;
    std::string reason = describe_failure(curl, code, url);
    if (code == CURLE_OK) {
      answer.reply = read_reply(curl);
      if (!is_passing_status(answer.reply.status)) {
        const char* redirect = nullptr;
        curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &redirect);
        answer.redirect = redirect ? redirect : "";
        answer.reply.body = std::move(body);
        return answer;
      }
      answer.asked = parse_retry_after(header_of(curl, "Retry-After"));
      reason = describe_status(curl, url);
    }
    const auto delay = delay_after(options.retry, failures, answer.asked);
    if ((code != CURLE_OK && !is_passing_failure(code)) || !delay) return fail(ErrorCode::kIo, "{}", reason);
    if (*delay >= std::chrono::seconds(2)) {
      options.on_note(format_text("{}; trying again in {} s", reason, delay->count() / 1000));
    }
    TRY_STATUS(wait_for(*delay, options.stop));
  }
}

}  // namespace

CurlHandle make_handle(const HttpOptions& options, const std::string& url, CurlList& headers) {
  start_curl();
  CurlHandle handle(curl_easy_init(), curl_easy_cleanup);
  if (!handle) throw std::bad_alloc();
  CURL* curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "tern");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  // Never redirect from https to unencrypted http.
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, url.starts_with("https://") ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stall_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L << 10);
  const std::string certificates = certificate_file([](const char* name) { return std::getenv(name); });
  if (!certificates.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, certificates.c_str());
  if (!options.token.empty()) {
    // curl sends a header with this name to the first host only.
    headers.reset(curl_slist_append(headers.release(), ("Authorization: Bearer " + options.token).c_str()));
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  }
  return handle;
}

std::string header_of(CURL* handle, const char* name) {
  curl_header* header = nullptr;
  return curl_easy_header(handle, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value : "";
}

std::string describe_host(CURL* handle, const std::string& asked) {
  const char* url = nullptr;
  curl_easy_getinfo(handle, CURLINFO_EFFECTIVE_URL, &url);
  const std::string host = host_of(url ? url : ""), first = host_of(asked);
  return host == first ? host : format_text("{} (where {} redirects to)", host, first);
}

std::string describe_failure(CURL* handle, CURLcode code, const std::string& asked) {
  std::string text = format_text("{}: {}", describe_host(handle, asked), curl_easy_strerror(code));
  if (code == CURLE_SSL_CACERT_BADFILE) {
    text += "; install your system's certificates (ca-certificates), or name a file of them in SSL_CERT_FILE";
  }
  return text;
}

std::string describe_status(CURL* handle, const std::string& asked) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  std::string text = format_text("{} answered with status {}", describe_host(handle, asked), status);
  const auto wish = parse_retry_after(header_of(handle, "Retry-After"));
  if (status == 429) text += " (too many requests)";
  if (wish && wish->count() >= 1000) {
    const int64_t seconds = wish->count() / 1000;
    text += seconds < 120    ? format_text(" and asks to wait {} s", seconds)
            : seconds < 7200 ? format_text(" and asks to wait {} minutes", (seconds + 59) / 60)
                             : format_text(" and asks to wait {} hours", (seconds + 3599) / 3600);
  }
  return text;
}

bool is_passing_failure(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2_STREAM:
    case CURLE_HTTP3:
    case CURLE_QUIC_CONNECT_ERROR:
      return true;
    default:
      return false;
  }
}

Result<HttpReply> http_get(const HttpOptions& options, const std::string& url) {
  TRY(Answer answer, request(options, url, /*is_head=*/false));
  return std::move(answer.reply);
}

Result<HttpReply> http_head(const HttpOptions& options, const std::string& url) {
  std::string at = url;
  for (long redirects = 0;; ++redirects) {
    TRY(Answer answer, request(options, at, /*is_head=*/true));
    const bool follow = !answer.redirect.empty() && host_of(answer.redirect) == host_of(at);
    if (!follow || redirects == kMaxRedirects) return std::move(answer.reply);
    at = answer.redirect;
  }
}

Result<void> wait_for(Milliseconds time, const std::stop_token& stop) {
  constexpr Milliseconds kStep{50};
  for (; time.count() > 0; time -= kStep) {
    if (stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted");
    std::this_thread::sleep_for(std::min(time, kStep));
  }
  return {};
}

}  // namespace tern::hub
