#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command without address space randomisation if that can be had: ThreadSanitizer's runtime of older compilers
# does not start where a newer kernel randomises more bits.
if setarch -R true 2> /dev/null; then exec setarch -R "$@"; fi
exec "$@"
