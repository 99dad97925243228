// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/vcd_writer.h>

#include <stdexcept>

namespace regatta::support {
namespace {

constexpr std::size_t buffer_bytes = 1 << 16;

/// Printable characters from '!' to '~', least significant first.
std::string identifier(std::size_t n) {
  std::string id;
  do {
    id += static_cast<char>('!' + n % 94);
    n /= 94;
  } while (n-- != 0);
  return id;
}

}  // namespace

VcdWriter::VcdWriter(const std::string& path, const std::string& timescale) : file_(path) {
  text_ = "$version\n  regatta\n$end\n$timescale\n  " + timescale + "\n$end\n";
}

void VcdWriter::comment(const std::string& text) { text_ += "$comment\n  " + text + "\n$end\n"; }

void VcdWriter::scope(const std::string& name) {
  text_ += "$scope module " + name + " $end\n";
  ++depth_;
}

void VcdWriter::up() {
  text_ += "$upscope $end\n";
  --depth_;
}

VcdWriter::Signal VcdWriter::add(const std::string& name, unsigned width) {
  if (begun_) throw std::logic_error("VcdWriter: a signal declared after the first value was written");
  Value v;
  v.id = identifier(values_.size());
  v.width = width;
  text_ += "$var wire " + std::to_string(width) + " " + v.id + " " + name;
  if (width > 1) text_ += " [" + std::to_string(width - 1) + ":0]";
  text_ += " $end\n";
  values_.push_back(std::move(v));
  return static_cast<Signal>(values_.size() - 1);
}

void VcdWriter::set(Signal signal, std::uint64_t value) {
  Value& v = values_[signal];
  if (v.width < 64) value &= (std::uint64_t{1} << v.width) - 1;
  v.value = value;
  v.known = true;
  if (v.changed) return;
  v.changed = true;
  changed_.push_back(signal);
}

void VcdWriter::put(const Value& v) {
  if (v.width == 1) {
    text_ += v.known ? static_cast<char>('0' + v.value) : 'x';
  } else {
    text_ += 'b';
    if (!v.known) text_ += 'x';
    bool leading = true;
    for (unsigned bit = v.width; v.known && bit-- > 0;) {
      const bool one = (v.value >> bit & 1) != 0;
      if (leading && !one && bit != 0) continue;
      leading = false;
      text_ += one ? '1' : '0';
    }
    text_ += ' ';
  }
  text_ += v.id;
  text_ += '\n';
}

void VcdWriter::flush(bool all) {
  if (!all && text_.size() < buffer_bytes) return;
  file_.write(text_);
  text_.clear();
}

void VcdWriter::write(std::uint64_t time) {
  if (!begun_) {
    if (depth_ != 0) throw std::logic_error("VcdWriter: a scope was left open");
    text_ += "$enddefinitions $end\n#" + std::to_string(time) + "\n$dumpvars\n";
    for (Value& v : values_) {
      put(v);
      v.written = v.value;
      v.written_known = v.known;
      v.changed = false;
    }
    text_ += "$end\n";
    changed_.clear();
    begun_ = true;
    time_ = time;
    return;
  }
  file_.write("");  // says again what went wrong, to whoever goes on after a failure
  if (time <= time_) throw std::logic_error("VcdWriter: time must move forward");
  bool stamped = false;
  for (const Signal signal : changed_) {
    Value& v = values_[signal];
    v.changed = false;
    if (v.written_known && v.written == v.value) continue;
    if (!stamped) text_ += "#" + std::to_string(time) + "\n";
    stamped = true;
    put(v);
    v.written = v.value;
    v.written_known = true;
  }
  changed_.clear();
  if (stamped) time_ = time;
  flush(false);
}

void VcdWriter::finish(std::uint64_t time) {
  if (!begun_) write(time);
  if (time > time_) text_ += "#" + std::to_string(time) + "\n";
  flush(true);
  file_.commit();
}

}  // namespace regatta::support
