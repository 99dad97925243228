#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# session_test.sh ALONE TOGETHER: what a test's executable says whose cases are each in a process of its own, and one whose
# cases share a process, of the cases in failing_cases.cpp.
set -eu
alone=$1
together=$2

# check STATUS COMMAND...: its status; its output goes to "out".
check() {
  expected=$1
  shift
  status=0
  out=$("$@" 2>&1) || status=$?
  if [ "$status" -ne "$expected" ]; then
    echo "$*: status $status, expected $expected"
    echo "$out"
    exit 1
  fi
}
# says TEXT: so does the last output. lacks TEXT: it does not.
says() { case $out in *"$1"*) ;; *) echo "'$1' is not in: $out"; exit 1 ;; esac; }
lacks() { case $out in *"$1"*) echo "'$1' is in: $out"; exit 1 ;; esac; }

check 1 "$alone"
says "1 == 2"
says "case 'fails' failed"
says "case 'aborts' ended by signal 6"
says "2 cases failed (4 cases, each in a process of its own)"
check 0 "$alone" 'passes*'
says "All cases passed (2 cases, each"
check 0 "$alone" "[.more]"
says "All cases passed (1 cases"
# Parts: no case is in two, none is in none; one in three is the first and the fourth.
check 0 "$alone" --part 1/3
says "(2 cases"
check 1 "$alone" --part 2/3
says "case 'fails' failed"
lacks "aborts"
check 1 "$alone" --part 3/3
says "case 'aborts' ended"
check 1 "$alone" --part 5/5
says "No test cases matched"
check 2 "$alone" --part 4/3
says "--part: expected I/N, found '4/3'"

check 1 "$together" --part 2/4
says "1 == 2"
lacks "aborts"
check 0 "$together" --part 1/4
says "1 test case"
check 0 "$together" --part 1/1 'passes*'
says "2 test cases"
check 0 "$together" --part 1/1 "[.more]"
says "1 test case"
