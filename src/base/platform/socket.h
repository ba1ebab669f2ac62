// Sockets by the system's own calls. A socket is a number on every system: Windows' handles have 32 bits that count.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>

struct sockaddr;  // NOLINT(readability-identifier-naming): a name of the systems

namespace tern::platform {

// What came of moving bytes without waiting. No bytes and not `would_wait`: the connection has ended.
struct Moved {
  size_t n = 0;
  bool would_wait = false;
};

// A numeric address and a port; empty if unknown.
struct SocketName {
  std::string host;
  int port = 0;
};

void never_wait(int socket);  // from now on for input or output
Moved receive_some(int socket, std::span<char> to);
Moved send_some(int socket, std::span<const char> from);  // raises no signal
// Waits for input, or for room for output. False: there is none in time.
bool wait_for_socket(int socket, bool for_output, std::chrono::milliseconds most);
bool is_peer_alive(int socket);
SocketName name_of(const sockaddr* address, size_t address_bytes);
SocketName peer_name(int socket);
SocketName own_name(int socket);
void end_output(int socket);  // the peer learns that nothing more follows
void cut_socket(int socket);  // ends both directions at once
void close_socket(int socket);

// For a socket that will be bound: a port belongs to one program, but may be taken again at once when that has ended.
void take_port_alone(int socket);
std::error_code last_socket_error();
// Makes a connection and closes it again: why that fails.
std::error_code try_to_connect(const sockaddr* address, size_t address_bytes, std::chrono::seconds most);

}  // namespace tern::platform
