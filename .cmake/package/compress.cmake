# SPDX-License-Identifier: Apache-2.0
# Run by CPack before it makes packages: man pages and change logs are compressed in a Debian package.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/*.1)
file(GLOB_RECURSE logs ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog)
list(APPEND pages ${logs})
if(pages)
  execute_process(COMMAND gzip -9nf ${pages} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "gzip ended with status ${status}")
  endif()
endif()
