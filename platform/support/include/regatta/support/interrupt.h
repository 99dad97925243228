// SPDX-License-Identifier: Apache-2.0
//
// Orderly end on SIGINT and SIGTERM: the first signal sets a flag that the run polls, the second kills.
#pragma once

namespace regatta::support {

/// Installs the handlers; further calls do nothing more.
void install_interrupt_handler();
/// True once a signal has come. Async-signal safe and cheap enough for every few hundred cycles.
bool interrupted();
/// The signal's number, 0 if none came.
int interrupt_signal();
/// Forgets a signal, for a program that runs several simulations.
void clear_interrupt();

}  // namespace regatta::support
