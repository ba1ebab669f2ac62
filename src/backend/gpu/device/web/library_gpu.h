// The functions of library_gpu.js. Sizes and offsets that may exceed 32 bits are whole numbers in doubles.
#pragma once

#include <cstdint>

extern "C" {
char* tern_gpu_open(int without, int only_hardware);
void tern_gpu_close();
void tern_gpu_lose();
int tern_gpu_take_error(char** text);
int tern_gpu_new_buffer(const char* label, double size, int usage);
void tern_gpu_free_buffer(int id);
void tern_gpu_free(int id);
void tern_gpu_write(int id, double offset, const void* data, size_t bytes);
char* tern_gpu_write_file(int id, double offset, const char* path, double from, double bytes);
int tern_gpu_new_pipeline(const char* name, const char* text, const char* access);
void tern_gpu_settle();
int tern_gpu_bind(int pipeline, const char* name, const uint32_t* entries, int count);
void tern_gpu_submit(const uint32_t* words, int count);
int tern_gpu_read_later(const uint32_t* words, int count, int buffer, double offset, int bytes);
int tern_gpu_finish_read(int id, void* out);
void tern_gpu_end_read(int id);
int tern_gpu_time(const uint32_t* words, int count, int whole, double* seconds);
void tern_gpu_wait();
}
