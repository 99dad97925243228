#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_tests_test.sh RUN_TESTS FOLDER: what .cmake/run-tests.sh says at the end, of an output of ctest that is kept here and
# of one that the installed ctest makes. FOLDER is emptied.
set -eu
run_tests=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

# expect STATUS: the summary of "log" is what "expected" holds, and its status is this.
expect() {
  status=0
  sh "$run_tests" --summary log >got || status=$?
  if ! diff expected got || [ "$status" -ne "$1" ]; then
    echo "the summary's status is $status, expected $1; of this output:" && cat log
    exit 1
  fi
}

cat >log <<'END'
    Start 1: slow: a test, with "quotes" and 5 words
1/4 Test #2: always ....................................***Timeout   1.01 sec
    Start 2: always
2/4 Test #1: slow: a test, with "quotes" and 5 words ...***Timeout   1.01 sec
    Start 1: slow: a test, with "quotes" and 5 words
    Test #1: slow: a test, with "quotes" and 5 words ...   Passed    0.00 sec
3/4 Test #3: dies ......................................***Timeout   1.00 sec
    Test #3: dies ......................................***Exception: SegFault  0.00 sec
    Test #2: always ....................................***Timeout   1.00 sec
4/4 Test #4: fails at once .............................***Failed    0.00 sec
Test #4: fails at once .... is what a test may print

25% tests passed, 3 tests failed out of 4
status 8
END
cat >expected <<'END'

WARNING: 3 timed out and ran a second time:
  slow: a test, with "quotes" and 5 words: passed when repeated
  dies: failed when repeated
  always: timed out again when repeated
A test that passes only when repeated is too slow for its time limit, or hangs now and then.

1 passed, 3 failed
END
expect 8

cat >log <<'END'
1/1 Test #1: quick .....................................   Passed    0.00 sec

100% tests passed, 0 tests failed out of 1
status 0
END
echo "1 passed, 0 failed" >expected
expect 0

# Ended for time: a test that failed is a failure, one that did not run is none.
cat >log <<'END'
1/5 Test #2: always ....................................***Timeout   1.01 sec
    Start 2: always
2/5 Test #1: quick .....................................   Passed    0.00 sec
    Test #2: always ....................................   Passed    1.00 sec
3/5 Test #3: no GPU ....................................***Skipped   0.00 sec
    Start 4: not done
status 124
END
cat >expected <<'END'

WARNING: 1 timed out and ran a second time:
  always: passed when repeated
A test that passes only when repeated is too slow for its time limit, or hangs now and then.


WARNING: out of time (REGATTA_TESTS_UNTIL): 2 of 5 tests did not run.

3 passed, 0 failed
END
expect 0
sed -i 's/no GPU \.*\*\*\*Skipped/broken ...***Failed /' log
sed -i 's/^3 passed, 0 failed/2 passed, 1 failed/' expected
expect 1
echo "status 124" >log
printf '\nWARNING: out of time (REGATTA_TESTS_UNTIL): no test ran.\n\n0 passed, 0 failed\n' >expected
expect 0

echo "No tests were found!!!" >log
echo "0 passed, 1 failed" >expected
expect 1

# This ctest's own words.
mkdir live
cat >live/CTestTestfile.cmake <<'END'
add_test([=[live: hangs the first time]=] "/bin/sh" "-c" "test -e marker || { touch marker; sleep 1000; }")
set_tests_properties([=[live: hangs the first time]=] PROPERTIES TIMEOUT 1)
END
{ (cd live && ctest --repeat after-timeout:2 2>&1); echo "status $?"; } >log
sh "$run_tests" --summary log >got || true
if ! grep -q '^  live: hangs the first time: [a-z ]* when repeated$' got; then
  echo "the repeated test is not named:" && cat got log
  exit 1
fi
