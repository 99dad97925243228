// SPDX-License-Identifier: Apache-2.0
//
// libregatta_cuda.so in this process, and the server that it talks to in a thread: a test calls the API and looks.
#pragma once

namespace regatta::test {

/// Starts the server with the first call. The library keeps its state for the process: a test must not depend on being
/// the first.
void serve_runtime();

}  // namespace regatta::test
