// SPDX-License-Identifier: Apache-2.0
//
// Orderly end on SIGINT and SIGTERM: the first signal sets a flag that the run polls, the second kills.
#pragma once

namespace regatta::support {

/// Installs the handlers; further calls do nothing.
void install_interrupt_handler();
/// True after a signal. Async-signal safe, and cheap enough to poll every few hundred cycles.
bool interrupted();
/// The number of the signal, 0 if there was none.
int interrupt_signal();
/// Forgets a signal, for a program that runs several simulations.
void clear_interrupt();

}  // namespace regatta::support
