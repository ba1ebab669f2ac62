// The functions of library_files.js.
#pragma once

#include <cstddef>

extern "C" {
double tern_file_size(const char* path);
char* tern_file_names(const char* folder);
char* tern_file_read(const char* path, double offset, void* into, size_t bytes);
}
