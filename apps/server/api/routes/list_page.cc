#include "server/api/routes/list_page.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text/format_text.h"

namespace tern::server {

ApiResult<Page> read_page(const httplib::Request& request, size_t usual, size_t most) {
  Page page{.limit = usual, .after = request.get_param_value("after")};
  if (request.has_param("limit")) {
    const std::string text = request.get_param_value("limit");
    const auto read = std::from_chars(text.data(), text.data() + text.size(), page.limit);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || page.limit < 1 || page.limit > most) {
      return refuse(format_text("limit: must be from 1 to {}", most), "limit");
    }
  }
  if (const std::string order = request.get_param_value("order"); !order.empty()) {
    if (order != "asc" && order != "desc") return refuse("order: must be asc or desc", "order");
    page.newest_first = order == "desc";
  }
  return page;
}

ApiResult<Json> list_page(std::vector<Json> all, const Page& page) {
  if (page.newest_first) std::ranges::reverse(all);
  auto begin = all.begin();
  if (!page.after.empty()) {
    begin = std::ranges::find_if(all, [&](const Json& one) { return one.at("id") == page.after; });
    if (begin == all.end()) {
      return refuse(format_text("after: there is no '{}' here", page.after.substr(0, 100)), "after");
    }
    ++begin;
  }
  const size_t n = std::min(page.limit, static_cast<size_t>(all.end() - begin));
  Json data = Json::array();
  for (size_t i = 0; i < n; ++i) data.push_back(std::move(begin[static_cast<std::ptrdiff_t>(i)]));
  return Json{{"object", "list"},
              {"first_id", n > 0 ? data.front().at("id") : Json("")},
              {"last_id", n > 0 ? data.back().at("id") : Json("")},
              {"has_more", begin + static_cast<std::ptrdiff_t>(n) != all.end()},
              {"data", std::move(data)}};
}

}  // namespace tern::server
