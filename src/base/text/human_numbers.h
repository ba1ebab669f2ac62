// Numbers with units, for people.
#pragma once

#include <cstdint>
#include <string>

namespace tern {

std::string human_bytes(uint64_t bytes);    // "812 B", "12.3 MB" (1 MB = 10^6 bytes)
std::string human_count(uint64_t count);    // "812", "24.5 M"
std::string human_seconds(double seconds);  // "35 ms", "1.25 s", "3 min 20 s"
std::string human_number(double number);    // four significant digits: "0.1234", "98.77", "1234"

}  // namespace tern
