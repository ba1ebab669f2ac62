// Test helpers that return the WGSL text of a few statements.
#pragma once

#include <string>

#include "backend/gpu/wgsl/wgsl.h"

namespace tern::wgsl {

// Traces a kernel "k" without parameters whose body is `body`.
template <class Body>
Module trace_module(Body&& body) {
  return kernel("k", 1, [&]() { body(); }).module;
}

// The statements of such a kernel, without the body's indentation.
template <class Body>
std::string trace(Body&& body) {
  const std::string text = trace_module(body).text;
  const size_t start = text.find("fn k() {\n") + 9, end = text.rfind("}\n");
  std::string lines;
  for (size_t at = start; at < end;) {
    const size_t line_end = text.find('\n', at) + 1;
    lines += text.substr(at + 2, line_end - at - 2);
    at = line_end;
  }
  return lines;
}

// The text of the expression that `make` returns.
template <class Make>
std::string trace_text(Make&& make) {
  std::string text;
  trace_module([&] { text = text_of(make()); });
  return text;
}

}  // namespace tern::wgsl
