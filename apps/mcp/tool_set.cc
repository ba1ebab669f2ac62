#include "mcp/tool_set.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/json_reader.h"
#include "base/start_thread.h"
#include "base/text/quoted.h"
#include "mcp/session.h"
#include "mcp/tool_names.h"

namespace tern::mcp {
namespace {

// A server that works, and what it offers.
struct Offer {
  ServerConfig config;
  std::shared_ptr<Session> session;  // calls that run keep it
  std::vector<ServerTool> tools = {};
};

bool names_any(const std::vector<std::string>& list, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return std::ranges::contains(list, name); });
}

// True if no server's name had to be put in front.
bool has_own_name(const Tool& tool) { return names_for({{tool.server, tool.own_name}}).front() == tool.name; }

CallResult failed(const std::string& text) { return {.text = "error: " + text, .is_error = true, .problem = {}}; }

}  // namespace

class ToolSet::Impl {
 public:
  explicit Impl(ToolSetOptions options) : options_(std::move(options)) {}

  ~Impl() {
    for (Offer& offer : offers_) offer.session->begin_close();  // all at once; the destructors wait
  }

  Result<void> start(const std::vector<ServerConfig>& servers, const std::stop_token& stop) {
    std::vector<Result<Offer>> started(servers.size());
    run_at_once(servers.size(), [&](size_t i) { started[i] = start_one(servers[i], stop); });
    if (stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted");
    std::optional<Error> first;
    for (Result<Offer>& one : started) {
      if (one) {
        offers_.push_back(*std::move(one));
        continue;
      }
      options_.on_note(one.error().message);
      if (!first) first = std::move(one).error();
    }
    if (offers_.empty()) return std::unexpected(*std::move(first));
    name_tools();
    return first ? Result<void>() : check_allowed();
  }

  std::vector<Tool> tools() const {
    const std::lock_guard lock(mutex_);
    return tools_;
  }

  std::optional<Tool> find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto tool = std::ranges::find(tools_, name, &Tool::name);
    return tool == tools_.end() ? std::nullopt : std::optional<Tool>(*tool);
  }

  void allow(const std::string& name) {
    const std::lock_guard lock(mutex_);
    for (Tool& tool : tools_) tool.is_allowed = tool.is_allowed || tool.name == name;
  }

  bool refresh(const std::stop_token& stop) {
    const std::lock_guard one_at_a_time(refreshing_);
    bool changed = false;
    for (Offer& offer : offers_) {
      const std::shared_ptr<Session> session = session_of(offer);
      if (!session->take_tools_changed()) continue;
      std::vector<std::string> skipped;
      Result<std::vector<ServerTool>> tools = session->list_tools(skipped, stop);
      if (!tools) {
        options_.on_note(tools.error().message);
        continue;
      }
      note_skipped(offer.config, skipped);
      const std::lock_guard lock(mutex_);
      changed = changed || *tools != offer.tools;
      offer.tools = *std::move(tools);
    }
    if (changed) name_tools();
    return changed;
  }

  CallResult call(const std::string& name, std::string_view arguments, const std::stop_token& stop) {
    const std::optional<Tool> tool = find(name);
    if (!tool) return failed("there is no tool " + tern::quoted(name));
    Json parsed = Json::object();
    if (!arguments.empty()) {
      Result<Json> json = parse_json(arguments, "the arguments");
      if (!json) return failed(json.error().message);
      if (!json->is_object()) return failed("the arguments are no JSON object");
      parsed = *std::move(json);
    }
    const auto offer = std::ranges::find(offers_, tool->server, [](const Offer& o) { return o.config.name; });
    const Result<std::shared_ptr<Session>> session = live_session(*offer, stop);
    Result<ToolOutput> output =
        session ? (*session)->call(tool->own_name, std::move(parsed), stop) : std::unexpected(session.error());
    if (output) {
      return {.text = output->is_error ? "error: " + output->text : output->text,
              .is_error = output->is_error,
              .problem = {}};
    }
    CallResult result = failed(output.error().message);
    result.problem = output.error().message;
    result.is_stopped = output.error().code == ErrorCode::kInterrupted;
    return result;
  }

 private:
  Result<std::unique_ptr<Session>> open_session(const ServerConfig& config, const std::stop_token& stop) const {
    std::function<void(const std::string&)> log;
    if (options_.on_log) {
      log = [this, name = config.name](const std::string& line) { options_.on_log(name + ": " + line); };
    }
    return Session::open(config, std::move(log), stop);
  }

  std::shared_ptr<Session> session_of(const Offer& offer) const {
    const std::lock_guard lock(mutex_);
    return offer.session;
  }

  // A server that has ended is started again for the next call.
  Result<std::shared_ptr<Session>> live_session(Offer& offer, const std::stop_token& stop) {
    if (std::shared_ptr<Session> session = session_of(offer); !session->has_ended()) return session;
    const std::lock_guard one_at_a_time(restarting_);
    if (std::shared_ptr<Session> session = session_of(offer); !session->has_ended()) return session;
    TRY(std::shared_ptr<Session> again, open_session(offer.config, stop));
    again->tools_may_have_changed();
    const std::lock_guard lock(mutex_);
    return offer.session = std::move(again);
  }

  Result<Offer> start_one(const ServerConfig& config, const std::stop_token& stop) {
    Offer offer{.config = config, .session = nullptr};
    TRY(offer.session, open_session(config, stop));
    std::vector<std::string> skipped;
    TRY(offer.tools, offer.session->list_tools(skipped, stop));
    note_skipped(config, skipped);
    return offer;
  }

  void note_skipped(const ServerConfig& config, const std::vector<std::string>& skipped) {
    const std::lock_guard lock(noting_);
    for (const std::string& why : skipped) {
      options_.on_note("the MCP server " + tern::quoted(config.name) + ": left out: " + why);
    }
  }

  // Names the tools of all servers. A tool that was allowed with "always" stays so only as it was.
  void name_tools() {
    const std::lock_guard lock(mutex_);
    std::vector<Tool> all;
    std::vector<ToolId> ids;
    for (const Offer& offer : offers_) {
      for (const ServerTool& tool : offer.tools) {
        if (names_any(offer.config.hidden, {tool.name})) continue;
        ids.emplace_back(offer.config.name, tool.name);
        all.push_back({.name = {},
                       .server = offer.config.name,
                       .own_name = tool.name,
                       .description = tool.description,
                       .parameters = tool.parameters.dump(-1, ' ', false, Json::error_handler_t::replace),
                       .is_allowed = names_any(offer.config.allowed, {tool.name, "*"})});
      }
    }
    const std::vector<std::string> names = names_for(ids);
    for (size_t i = 0; i < all.size(); ++i) {
      Tool& tool = all[i];
      tool.name = names[i];
      const auto before = std::ranges::find_if(tools_, [&](const Tool& t) {
        return t.server == tool.server && t.own_name == tool.own_name && t.description == tool.description &&
               t.parameters == tool.parameters;
      });
      tool.is_allowed =
          tool.is_allowed || (before != tools_.end() && before->is_allowed) ||
          std::ranges::any_of(options_.allowed, [&](const std::string& name) { return means(name, tool); });
    }
    tools_ = std::move(all);
  }

  // True if `name`, of --mcp-allow, means this tool.
  static bool means(const std::string& name, const Tool& tool) {
    return name == "all" || name == tool.server || name == tool.name || (name == tool.own_name && has_own_name(tool));
  }

  Result<void> check_allowed() const {
    for (const std::string& name : options_.allowed) {
      const bool is_server = std::ranges::contains(offers_, name, [](const Offer& o) { return o.config.name; });
      const auto is_it = [&](const Tool& tool) { return means(name, tool); };
      if (name == "all" || is_server || std::ranges::any_of(tools_, is_it)) continue;
      return fail(ErrorCode::kInvalidArgument, "there is no MCP tool or server {} to allow", tern::quoted(name));
    }
    return {};
  }

  const ToolSetOptions options_;
  std::vector<Offer> offers_;
  std::mutex noting_, refreshing_, restarting_;
  mutable std::mutex mutex_;
  std::vector<Tool> tools_;
};

ToolSet::ToolSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ToolSet::~ToolSet() = default;

Result<std::unique_ptr<ToolSet>> ToolSet::open(const std::vector<ServerConfig>& servers, ToolSetOptions options,
                                               std::stop_token stop) {
  auto impl = std::make_unique<Impl>(std::move(options));
  TRY_STATUS(impl->start(servers, stop));
  return std::unique_ptr<ToolSet>(new ToolSet(std::move(impl)));
}

std::vector<Tool> ToolSet::tools() const { return impl_->tools(); }

std::string ToolSet::json(const Choice& choice) const {
  Json list = Json::array();
  for (const Tool& tool : impl_->tools()) {
    if (choice.allowed_only && !tool.is_allowed) continue;
    if (!choice.servers.empty() && !std::ranges::contains(choice.servers, tool.server)) continue;
    list.push_back(
        {{"type", "function"},
         {"function",
          {{"name", tool.name}, {"description", tool.description}, {"parameters", Json::parse(tool.parameters)}}}});
  }
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool ToolSet::refresh(std::stop_token stop) { return impl_->refresh(stop); }
void ToolSet::allow(const std::string& name) { impl_->allow(name); }

bool ToolSet::is_allowed(const std::string& name) const {
  const std::optional<Tool> tool = impl_->find(name);
  return tool && tool->is_allowed;
}

CallResult ToolSet::call(const std::string& name, std::string_view arguments, std::stop_token stop) {
  return impl_->call(name, arguments, stop);
}

}  // namespace tern::mcp
