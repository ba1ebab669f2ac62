#include "server/api/routes/file_routes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text/format_text.h"
#include "server/api/batches/upload.h"
#include "server/api/body.h"
#include "server/api/replies/answer.h"
#include "server/api/routes/list_page.h"
#include "server/static_files.h"

namespace tern::server {
namespace {

using HttpRequest = httplib::Request;
using HttpResponse = httplib::Response;

constexpr const char* kFilesRoute = "/v1/files";
constexpr const char* kBatchesRoute = "/v1/batches";

ApiError no_such_file(const std::string& id) {
  return {.status = 404,
          .message = format_text("there is no file '{}' here", id.substr(0, 100)),
          .param = "file_id",
          .code = "file_not_found"};
}

ApiResult<Json> list_files(const HttpRequest& request, FileStore& files) {
  constexpr size_t kMost = 10'000;
  TRY(const Page page, read_page(request, kMost, kMost));
  const std::string purpose = request.get_param_value("purpose");
  std::vector<Json> list;
  for (const StoredFile& file : files.all()) {
    if (purpose.empty() || file.purpose == purpose) list.push_back(file.json());
  }
  return list_page(std::move(list), page);
}

ApiResult<Json> delete_file(const std::string& id, FileStore& files) {
  TRY(const bool was_there, files.remove(id));
  if (!was_there) return std::unexpected(no_such_file(id));
  return Json{{"id", id}, {"object", "file"}, {"deleted", true}};
}

void send_content(const std::string& id, FileStore& files, HttpResponse& response) {
  const auto known = files.find(id);
  auto file = known ? OpenFile::open(files.path_of(id)) : std::nullopt;
  if (!file) return answer_error(response, no_such_file(id));
  const auto content = std::make_shared<OpenFile>(*std::move(file));
  if (content->bytes() == 0) return response.set_content("", "application/octet-stream");
  response.set_content_provider(content->bytes(), "application/octet-stream",
                                [content](size_t offset, size_t length, httplib::DataSink& sink) {
                                  char piece[1 << 16];
                                  const size_t n = content->read_at(offset, {piece, std::min(length, sizeof piece)});
                                  return n > 0 && sink.write(piece, n);
                                });
}

ApiResult<Json> find_batch(const std::string& id, const BatchQueue& queue) {
  if (auto batch = queue.find(id)) return *std::move(batch);
  return std::unexpected(ApiError{.status = 404,
                                  .message = format_text("there is no batch '{}' here", id.substr(0, 100)),
                                  .code = "batch_not_found"});
}

ApiResult<Json> list_batches(const HttpRequest& request, const BatchQueue& queue) {
  TRY(const Page page, read_page(request, 20, 100));
  return list_page(queue.all(), page);
}

void add_refusals(httplib::Server& http) {
  const auto is_off = [](const HttpRequest&, HttpResponse& response) {
    answer_error(response, {.status = 501, .message = "start the server with --files DIR for this"});
  };
  for (const char* route : {kFilesRoute, kBatchesRoute}) {
    for (const std::string& pattern : {std::string(route), std::string(route) + "/.*"}) {
      http.Get(pattern, is_off);
      http.Delete(pattern, is_off);
      http.Post(pattern, [is_off](const HttpRequest& request, HttpResponse& response, const httplib::ContentReader&) {
        is_off(request, response);
      });
    }
  }
}

}  // namespace

bool is_upload(const HttpRequest& request) { return request.method == "POST" && request.path == kFilesRoute; }

void add_file_routes(httplib::Server& http, const FileRoutes& routes) {
  if (!routes.queue) return add_refusals(http);
  BatchQueue& queue = *routes.queue;
  FileStore& files = queue.files();
  http.Post(kFilesRoute,
            [routes, &files](const HttpRequest& request, HttpResponse& response, const httplib::ContentReader& reader) {
              const auto kept = take_upload(request, reader, files, routes.file_bytes);
              kept ? answer_json(response, kept->json()) : answer_error(response, kept.error());
            });
  http.Get(kFilesRoute, [&files](const HttpRequest& request, HttpResponse& response) {
    answer_any(response, list_files(request, files));
  });
  http.Get("/v1/files/([^/]+)", [&files](const HttpRequest& request, HttpResponse& response) {
    const auto file = files.find(request.matches[1]);
    answer_any(response, file ? ApiResult<Json>(file->json()) : std::unexpected(no_such_file(request.matches[1])));
  });
  http.Get("/v1/files/([^/]+)/content", [&files](const HttpRequest& request, HttpResponse& response) {
    send_content(request.matches[1], files, response);
  });
  http.Delete("/v1/files/([^/]+)", [&files](const HttpRequest& request, HttpResponse& response) {
    answer_any(response, delete_file(request.matches[1], files));
  });
  http.Post(kBatchesRoute,
            [routes, &queue](const HttpRequest& request, HttpResponse& response, const httplib::ContentReader& reader) {
              const ApiResult<std::string> text = read_body(request, reader, routes.body_bytes);
              if (!text) return answer_error(response, text.error());
              const ApiResult<Json> body = parse_body(*text);
              answer_any(response, body ? queue.create(*body) : std::unexpected(body.error()));
            });
  http.Get(kBatchesRoute, [&queue](const HttpRequest& request, HttpResponse& response) {
    answer_any(response, list_batches(request, queue));
  });
  http.Get("/v1/batches/([^/]+)", [&queue](const HttpRequest& request, HttpResponse& response) {
    answer_any(response, find_batch(request.matches[1], queue));
  });
  http.Post("/v1/batches/([^/]+)/cancel",
            [routes, &queue](const HttpRequest& request, HttpResponse& response, const httplib::ContentReader& reader) {
              const ApiResult<std::string> text = read_body(request, reader, routes.body_bytes);  // any body is fine
              if (!text) return answer_error(response, text.error());
              answer_any(response, queue.cancel(request.matches[1]));
            });
}

}  // namespace tern::server
