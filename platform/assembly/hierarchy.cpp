// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/hierarchy.h>

#include <regatta/protocol/extension_points.h>
#include <regatta/support/block_name.h>

#include <systemc>
#include <tlm>

#include <string>
#include <vector>

namespace regatta::assembly {
namespace {

using Forward = tlm::tlm_fw_transport_if<>;
using Backward = tlm::tlm_bw_transport_if<>;

/// A socket's two directions: who answers calls on it, and whom it calls. Of sockets of every width.
struct Ends {
  const sc_core::sc_interface* forward = nullptr;
  const sc_core::sc_interface* backward = nullptr;
};

const sc_core::sc_interface* bound(sc_core::sc_port_base* port) {
  return port == nullptr ? nullptr : port->get_interface();
}
const sc_core::sc_interface* offered(sc_core::sc_export_base* e) { return e == nullptr ? nullptr : e->get_interface(); }

template <unsigned BUSWIDTH>
bool initiator_ends(sc_core::sc_object& object, Ends& ends) {
  auto* socket = dynamic_cast<tlm::tlm_base_initiator_socket_b<BUSWIDTH, Forward, Backward>*>(&object);
  if (socket == nullptr) return false;
  ends = {bound(&socket->get_base_port()), offered(&socket->get_base_export())};
  return true;
}

template <unsigned BUSWIDTH>
bool target_ends(sc_core::sc_object& object, Ends& ends) {
  auto* socket = dynamic_cast<tlm::tlm_base_target_socket_b<BUSWIDTH, Forward, Backward>*>(&object);
  if (socket == nullptr) return false;
  ends = {offered(&socket->get_base_export()), bound(&socket->get_base_port())};
  return true;
}

// The widths of payload.h: operands and memory.
bool is_initiator(sc_core::sc_object& o, Ends& ends) {
  return initiator_ends<1024>(o, ends) || initiator_ends<256>(o, ends);
}
bool is_target(sc_core::sc_object& o, Ends& ends) { return target_ends<1024>(o, ends) || target_ends<256>(o, ends); }

/// The block behind an interface: its path, or its class if it is not a module.
std::string block_of(const sc_core::sc_interface* interface) {
  return interface == nullptr ? "nothing" : support::block_name(*interface);
}

/// Appends what the port is bound to, if it is a port of interface `If`.
template <class If>
void blocks_of(sc_core::sc_object& object, std::vector<std::string>& names) {
  auto* port = dynamic_cast<sc_core::sc_port_b<If>*>(&object);
  if (port == nullptr) return;
  for (int i = 0; i < port->size(); ++i) names.push_back(block_of((*port)[i]));
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Tree {
 public:
  std::string print() {
    const std::vector<sc_core::sc_object*>& tops = sc_core::sc_get_top_level_objects();
    for (sc_core::sc_object* top : tops) find_sockets(*top);
    for (sc_core::sc_object* top : tops) visit(*top, 0);
    return text_;
  }

 private:
  struct Socket {
    const sc_core::sc_object* object;
    Ends ends;
  };

  void find_sockets(sc_core::sc_object& object) {
    Ends ends;
    if (is_initiator(object, ends)) {
      initiators_.push_back({&object, ends});
    } else if (is_target(object, ends)) {
      targets_.push_back({&object, ends});
    }
    for (sc_core::sc_object* child : object.get_child_objects()) find_sockets(*child);
  }

  /// The sockets of the list that have the same two ends.
  static std::string others(const std::vector<Socket>& sockets, const Ends& ends) {
    std::vector<std::string> names;
    for (const Socket& s : sockets) {
      if (s.ends.forward == ends.forward && s.ends.backward == ends.backward) names.emplace_back(s.object->name());
    }
    return names.empty() ? "not bound" : joined(names);
  }

  void line(unsigned depth, const std::string& name, const std::string& what) {
    std::string text(std::size_t{2} * depth, ' ');
    text += name;
    if (text.size() < column) text.append(column - text.size(), ' ');
    text_ += text + "  " + what + "\n";
  }

  void visit(sc_core::sc_object& object, unsigned depth) {
    Ends ends;
    if (is_initiator(object, ends)) {
      line(depth, object.basename(), "initiator socket -> " + others(targets_, ends));
    } else if (is_target(object, ends)) {
      line(depth, object.basename(), "target socket <- " + others(initiators_, ends));
    } else if (auto* port = dynamic_cast<sc_core::sc_port_base*>(&object); port != nullptr) {
      if (object.get_parent_object() != nullptr && is_part_of_socket(object)) return;
      std::vector<std::string> names;
      blocks_of<protocol::IssueGate>(object, names);
      blocks_of<protocol::FetchListener>(object, names);
      if (names.empty() && port->get_interface() != nullptr) names.push_back(block_of(port->get_interface()));
      line(depth, object.basename(), "port -> " + (names.empty() ? "not bound" : joined(names)));
    } else if (auto* e = dynamic_cast<sc_core::sc_export_base*>(&object); e != nullptr) {
      if (is_part_of_socket(object)) return;
      line(depth, object.basename(), "export of " + block_of(e->get_interface()));
    } else if (dynamic_cast<sc_core::sc_module*>(&object) != nullptr) {
      line(depth, object.basename(), support::class_name(typeid(object)));
      for (sc_core::sc_object* child : object.get_child_objects()) visit(*child, depth + 1);
    }
  }

  /// TLM-2.0 sockets consist of a port and an export; the inner one of the two stands beside its socket.
  static bool is_part_of_socket(const sc_core::sc_object& object) {
    const std::string name = object.basename();
    return name.find("_port_") != std::string::npos || name.find("_export_") != std::string::npos;
  }

  static constexpr std::size_t column = 36;
  std::vector<Socket> initiators_, targets_;
  std::string text_;
};

}  // namespace

std::string hierarchy_text() { return Tree().print(); }

}  // namespace regatta::assembly
