// For tests: an MCP server on standard input and output. Words of the command line make it misbehave.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

namespace {

using Json = nlohmann::json;

std::set<std::string> words;
int next_question = 1000;
bool has_grown = false;
std::set<Json> cancelled;

void send(const Json& message) { std::cout << message.dump() << '\n' << std::flush; }

void answer(const Json& request, const Json& result) {
  const Json id = words.contains("wrong-ids") ? Json("x") : request["id"];
  send({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

void refuse(const Json& request, const std::string& why) {
  send({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"error", {{"code", -32602}, {"message", why}}}});
}

Json tool(const std::string& name, const Json& properties) {
  return {{"name", name},
          {"description", "The tool " + name},
          {"inputSchema", {{"type", "object"}, {"properties", properties}}}};
}

Json text_result(const std::string& text, bool is_error = false) {
  return {{"content", {{{"type", "text"}, {"text", text}}}}, {"isError", is_error}};
}

Json read_message() {
  std::string line;
  if (!std::getline(std::cin, line)) std::exit(0);
  return Json::parse(line);
}

// Asks the client something and returns the error's code, or 0.
int ask(const std::string& method) {
  const int id = next_question++;
  send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", Json::object()}});
  while (true) {
    const Json message = read_message();
    if (message.contains("id") && message["id"] == id) {
      return message.contains("error") ? message["error"]["code"].get<int>() : 0;
    }
  }
}

void list(const Json& request) {
  Json tools = Json::array();
  const Json params = request.value("params", Json::object());
  const std::string cursor = params.value("cursor", "");
  if (words.contains("endless")) {
    return answer(request, {{"tools", {tool("t" + cursor, {})}}, {"nextCursor", cursor + "x"}});
  }
  if (words.contains("same-cursor")) return answer(request, {{"tools", Json::array()}, {"nextCursor", "a"}});
  if (words.contains("odd-tools")) {
    return answer(request, {{"tools",
                             {tool("a.b", {}),
                              tool("a b", {}),
                              tool("", {}),
                              tool("a.b", {}),
                              5,
                              {{"name", "noschema"}, {"inputSchema", 7}},
                              {{"name", "bare"}},
                              tool("huge", {{"x", {{"description", std::string(100'000, 'x')}}}})}}});
  }
  if (words.contains("one")) {  // whose calls a model can be held to
    Json one = tool("echo", {{"text", {{"type", "string"}, {"enum", {"hello", "goodbye"}}}}});
    one["inputSchema"].update({{"required", {"text"}}, {"additionalProperties", false}});
    return answer(request, {{"tools", {one}}});
  }
  if (words.contains("stateless")) return answer(request, {{"tools", {tool("echo", {}), tool("needs-input", {})}}});
  for (const char* name : {"slow", "die"}) {
    if (!words.contains(std::string("one-") + name)) continue;
    Json one = tool(name, Json::object());
    one["inputSchema"]["additionalProperties"] = false;
    return answer(request, {{"tools", {one}}});
  }
  if (cursor.empty()) {
    tools = {tool("echo", {{"text", {{"type", "string"}, {"enum", {"hello", "goodbye"}}}}}), tool("fail", {})};
    if (has_grown) tools[1]["description"] = "Now another";
    if (words.contains("pages")) return answer(request, {{"tools", tools}, {"nextCursor", "second"}});
  }
  for (const char* name : {"slow", "die", "picture", "structured", "ask", "variable", "grow", "refuse", "cancelled"}) {
    tools.push_back(tool(name, Json::object()));
  }
  if (has_grown) tools.push_back(tool("grown", Json::object()));
  answer(request, {{"tools", tools}});
}

// Ends early if the call is cancelled.
void be_slow(const Json& request) {
  const Json message = read_message();
  if (message.value("method", "") == "notifications/cancelled") cancelled.insert(message["params"]["requestId"]);
  std::cerr << "cancelled " << message.dump() << '\n';
  if (!words.contains("late")) return;
  answer(request, text_result("too late"));
}

void call(const Json& request) {
  const std::string name = request["params"]["name"];
  const Json arguments = request["params"]["arguments"];
  if (name == "echo") return answer(request, text_result("echo: " + arguments.dump()));
  if (name == "needs-input")
    return answer(request, {{"resultType", "input_required"}, {"inputRequests", Json::object()}});
  if (name == "fail") return answer(request, text_result("it failed", true));
  if (name == "slow") return be_slow(request);
  if (name == "refuse") return refuse(request, "no\nsuch thing");
  if (name == "cancelled") return answer(request, text_result(std::to_string(cancelled.size())));
  if (name == "die") {
    std::cerr << "about to die\n" << std::flush;
    std::exit(3);
  }
  if (name == "picture") {
    return answer(request, {{"content",
                             {{{"type", "text"}, {"text", "look"}},
                              {{"type", "image"}, {"data", "AAAAAAAA"}, {"mimeType", "image/png"}},
                              {{"type", "resource_link"}, {"uri", "file:///a"}, {"name", "a"}},
                              {{"type", "resource"}, {"resource", {{"uri", "file:///b"}, {"text", "inside"}}}}}}});
  }
  if (name == "structured") return answer(request, {{"content", Json::array()}, {"structuredContent", {{"a", 1}}}});
  if (name == "ask") {
    const int ping = ask("ping"), sampling = ask("sampling/createMessage");
    return answer(request, text_result(std::to_string(ping) + " " + std::to_string(sampling)));
  }
  if (name == "variable") {
    const char* given = std::getenv("GIVEN");
    const char* key = std::getenv("HF_TOKEN");
    return answer(request, text_result(std::string(given ? given : "-") + " " + (key ? key : "-")));
  }
  if (name == "grow") {
    has_grown = true;
    send({{"jsonrpc", "2.0"}, {"method", "notifications/tools/list_changed"}});
    return answer(request, text_result("grown"));
  }
  refuse(request, "there is no tool " + name);
}

void greet(const Json& request) {
  if (words.contains("mute")) return;
  if (words.contains("junk")) std::cout << "Welcome!\n{\"unfinished\n[1, {\n{}\n[[5]]\n\n" << std::flush;
  if (words.contains("deep")) std::cout << std::string(1'000'000, '[') << '\n' << std::flush;
  if (words.contains("long-line")) {
    const std::string part(1 << 20, 'x');
    std::cout << '{';
    for (int i = 0; i < 20; ++i) std::cout << part;
    std::cout << std::flush;
    return;
  }
  if (words.contains("flood")) {
    while (std::cout << "noise\n") {
    }
  }
  std::string version = request["params"]["protocolVersion"];
  if (words.contains("old")) version = "2024-11-05";
  if (words.contains("future")) version = "2099-01-01";
  answer(request, {{"protocolVersion", version},
                   {"capabilities", {{"tools", {{"listChanged", true}}}}},
                   {"serverInfo", {{"name", "fake"}, {"version", "1"}}}});
}

}  // namespace

int main(int argc, char** argv) {
  words.insert(argv + 1, argv + argc);
  if (words.contains("stubborn")) std::signal(SIGTERM, SIG_IGN);
  if (words.contains("die-at-once")) {
    std::cerr << "no configuration\n";
    return 4;
  }
  if (words.contains("deaf")) std::this_thread::sleep_for(std::chrono::hours(1));
  for (std::string line; std::getline(std::cin, line);) {
    const Json message = Json::parse(line);
    const std::string method = message.value("method", "");
    if (words.contains("refuses")) {
      refuse(message, "nothing works here");
      continue;
    }
    if (words.contains("stateless")) {
      const Json meta = message["params"].value("_meta", Json::object());
      const bool is_right = meta.value("io.modelcontextprotocol/protocolVersion", "") == "2026-07-28" &&
                            meta.contains("io.modelcontextprotocol/clientCapabilities");
      if (!is_right) {
        refuse(message, "only 2026-07-28 is spoken here");
        continue;
      }
      if (method == "server/discover") {
        answer(message, {{"resultType", "complete"},
                         {"supportedVersions", {"2026-07-28"}},
                         {"capabilities", {{"tools", Json::object()}}}});
      }
    }
    if (method == "initialize") greet(message);
    if (method == "tools/list") list(message);
    if (method == "tools/call") call(message);
  }
  if (words.contains("stubborn")) std::this_thread::sleep_for(std::chrono::hours(1));
}
