// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include "fat_binary_head.h"
#include "socket_bytes.h"

#include <regatta/ir/address_windows.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <stdexcept>

namespace regatta::capture {

namespace {

Rows get_rows(MessageReader& in) {
  Rows r;
  r.address = in.get<std::uint64_t>();
  r.pitch = in.get<std::uint64_t>();
  r.width = in.get<std::uint64_t>();
  r.rows = in.get<std::uint64_t>();
  return r;
}

Answer with_text(Status status, const std::string& text, Fault fault = Fault::other) {
  MessageWriter out;
  out.put(static_cast<std::uint32_t>(fault)).put_text(text);
  return {status, out.bytes()};
}

}  // namespace

Answer Server::answer(std::uint32_t kind, const std::vector<std::uint8_t>& request) {
  try {
    MessageReader in(request);
    MessageWriter out;
    answer_to(static_cast<Request>(kind), in, out);
    return {refusal_.empty() ? Status::done : Status::refused, out.bytes()};
  } catch (const KernelFault& e) {
    return with_text(Status::kernel_fault, e.what(), e.fault());
  } catch (const base::InputError& e) {
    refusal_ = e.what();
    return with_text(Status::refused, e.what());
  } catch (const base::OutOfMemory& e) {
    return with_text(Status::out_of_memory, e.what());
  } catch (const std::bad_alloc&) {
    return with_text(Status::out_of_memory, "this machine's memory");
  } catch (const std::exception& e) {
    return with_text(Status::invalid, e.what());
  }
}

void Server::answer_to(Request kind, MessageReader& in, MessageWriter& out) {
  switch (kind) {
    case Request::hello: {
      const auto version = in.get<std::uint32_t>();
      if (version != protocol_version) {
        throw trace::InputError("error: the CUDA runtime in front of the program speaks version " +
                                std::to_string(version) + " of the protocol, expected " +
                                std::to_string(protocol_version) + ": it is of another build of regatta");
      }
      out.put(description_);
      return;
    }
    case Request::load_module:
      return load_module(in, out);
    case Request::try_module:
      return try_load_module(in, out);
    case Request::allocate:
      out.put(device_.allocate(in.get<std::uint64_t>()));
      return;
    case Request::reserve:
      out.put(device_.reserve(in.get<std::uint64_t>()));
      return;
    case Request::commit:
      return device_.commit(in.get<std::uint64_t>());
    case Request::release:
      return device_.release(in.get<std::uint64_t>());
    case Request::write: {
      const Rows to = get_rows(in);
      return device_.write(to, in.take(to.width * to.rows));
    }
    case Request::read: {
      const std::vector<std::uint8_t> bytes = device_.read(get_rows(in));
      out.append(bytes.data(), bytes.size());
      return;
    }
    case Request::copy: {
      const Rows to = get_rows(in);
      return device_.copy(to, get_rows(in));
    }
    case Request::fill: {
      const Rows to = get_rows(in);
      const auto value = in.get<std::uint32_t>();
      return device_.fill(to, value, in.get<std::uint32_t>());
    }
    case Request::write_variable: {
      const auto module = in.get<std::uint32_t>();
      const std::string name = in.get_text();
      const auto offset = in.get<std::uint64_t>();
      return device_.write_variable(module, name, offset, in.get_bytes());
    }
    case Request::read_variable: {
      const auto module = in.get<std::uint32_t>();
      const std::string name = in.get_text();
      const auto offset = in.get<std::uint64_t>();
      const std::vector<std::uint8_t> bytes = device_.read_variable(module, name, offset, in.get<std::uint64_t>());
      out.append(bytes.data(), bytes.size());
      return;
    }
    case Request::set_limit: {
      const auto limit = in.get<std::int32_t>();
      return device_.set_limit(limit, in.get<std::uint64_t>());
    }
    case Request::launch:
      return launch(in, out);
    case Request::compile: {
      const auto module = in.get<std::uint32_t>();
      out.put(device_.compile(module, in.get_text()));
      return;
    }
    case Request::warn:
      return warn(in.get_text());
    case Request::refuse:
      refusal_ = "error: " + in.get_text();
      return;
    default:
      if (answer_of_textures(kind, in, out)) return;
      throw std::runtime_error("a request of unknown kind " + std::to_string(static_cast<std::uint32_t>(kind)));
  }
}

void Server::load_module(MessageReader& in, MessageWriter& out) {
  const std::string name = in.get_text();
  describe_module(device_.load_module(name, in.get_bytes()), out);
}

void Server::try_load_module(MessageReader& in, MessageWriter& out) {
  const std::string name = in.get_text();
  const std::vector<std::uint8_t> image = in.get_bytes();
  // What is no text is refused: the program does not expect that its machine code is of no use.
  const bool is_text = image.empty() || (image.front() < 0x7f && !is_fat_binary(image.data(), image.size()));
  std::uint32_t index = 0;
  try {
    index = device_.load_module(name, image);
  } catch (const base::InputError& e) {
    if (is_text) throw std::runtime_error(e.what());
    throw;
  }
  describe_module(index, out);
}

void Server::describe_module(std::uint32_t index, MessageWriter& out) {
  const ptx::ModuleResult& module = device_.module(index);
  out.put(index).put(static_cast<std::uint32_t>(module.entries.size()));
  for (const ptx::EntryResult& e : module.entries) {
    out.put(device_.describe(index, e)).put_text(e.name).put_text(e.message);
    out.put(static_cast<std::uint32_t>(e.function.parameters.size()));
    for (const ir::Parameter& p : e.function.parameters) out.put(p.offset).put(p.bytes);
  }
  std::uint32_t variables = 0;
  for (const ir::ModuleVariable& v : module.variables) variables += v.external || v.is_texture_reference ? 0 : 1;
  out.put(variables);
  for (const ir::ModuleVariable& v : module.variables) {
    if (v.external || v.is_texture_reference) continue;
    VariableDescription d;
    d.is_constant = device_.image(index).has_global(v.name) ? 0 : 1;
    d.address = d.is_constant != 0 ? ir::constant_window + v.offset : device_.image(index).global_address(v.name);
    d.bytes = v.bytes;
    out.put(d).put_text(v.name);
  }
}

void Server::launch(MessageReader& in, MessageWriter& out) {
  KernelLaunch l;
  l.module = in.get<std::uint32_t>();
  l.kernel = in.get_text();
  l.grid = in.get<std::array<std::uint32_t, 3>>();
  l.block = in.get<std::array<std::uint32_t, 3>>();
  l.dynamic_shared = in.get<std::uint32_t>();
  l.flags = in.get<std::uint32_t>();
  l.parameters = in.get_bytes();
  out.put_text(device_.launch(l));
}

void Server::warn(const std::string& text) {
  if (warned_.insert(text).second) std::cerr << "regatta-capture: warning: " << text << "\n";
}

Listener::Listener(const std::string& path) : path_(path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw trace::InputError("error: the path of the socket, '" + path + "', has more than " +
                            std::to_string(sizeof address.sun_path - 1) + " characters: set TMPDIR to a shorter one");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  listening_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listening_ < 0 || bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listening_, 4) != 0) {
    throw trace::InputError("error: cannot listen at '" + path + "': " + std::strerror(errno));
  }
}

Listener::~Listener() {
  if (listening_ >= 0) close(listening_);
  if (program_ >= 0) close(program_);
  unlink(path_.c_str());
}

bool Listener::serve(Server& server, int milliseconds) {
  pollfd waits[2] = {{listening_, POLLIN, 0}, {program_, POLLIN, 0}};
  const int ready = poll(waits, program_ >= 0 ? 2 : 1, milliseconds);
  if (ready <= 0) return false;
  if ((waits[0].revents & POLLIN) != 0) accept_program();
  if (program_ < 0 || waits[1].revents == 0) return true;
  if (take_request(server)) return true;
  close(program_);
  program_ = -1;
  is_over_ = true;
  return true;
}

void Listener::accept_program() {
  const int accepted = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted < 0) return;
  ++processes_;
  if (processes_ == 1) {
    program_ = accepted;
  } else {
    close(accepted);  // its runtime says why
  }
}

bool Listener::take_request(Server& server) {
  MessageHead head;
  if (!receive_all(program_, &head, sizeof head)) return false;
  std::vector<std::uint8_t> request(head.bytes);
  if (!receive_all(program_, request.data(), request.size())) return false;
  const Answer answer = server.answer(head.kind, request);
  MessageHead back;
  back.kind = static_cast<std::uint32_t>(answer.status);
  back.bytes = answer.bytes.size();
  return send_all(program_, &back, sizeof back) && send_all(program_, answer.bytes.data(), answer.bytes.size());
}

}  // namespace regatta::capture
