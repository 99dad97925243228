# SPDX-License-Identifier: Apache-2.0
# Debian packages of what is installed: regatta (tools, Python package, kernels) and regatta-dev (headers, libraries, find_package).
# `make package` runs CPack with this.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME regatta)
set(CPACK_PACKAGE_CONTACT "The regatta authors <regatta@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL tools dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME regatta)
set(CPACK_DEBIAN_TOOLS_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "Executes the PTX of CUDA kernels and replays the traces on a cycle-level
model of a GPU with a register storage of your choice; each operand is
compared with the program's value. With the Python package, kernels to
start from, man pages and completions.")
# Libraries as dpkg-shlibdeps finds them; for Python what platform/python/pyproject.toml asks for.
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "python3 (>= 3.9), python3-jinja2")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "snakemake, python3-scipy, python3-pandas")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME regatta-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_DESCRIPTION "Headers and static libraries of regatta's hardware blocks and of its
platform, for CMake's find_package(regatta): for blocks of one's own.")
# The packages that the components of find_package(regatta) look for.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "regatta (= ${PROJECT_VERSION}), libsystemc-dev, libspdlog-dev, libfmt-dev, libprotobuf-dev, libboost-program-options-dev, libzstd-dev, libxxhash-dev, liblzma-dev, nlohmann-json3-dev, pkg-config")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "cmake, g++")

# What Debian's policy asks every package for: its licence, and a change log in Debian's own form, which has nothing to say beside
# ours.
file(STRINGS CHANGELOG.md release REGEX "^## .${PROJECT_VERSION}. - ")
string(REGEX MATCH "[0-9]+-[0-9]+-[0-9]+$" day "${release}")
execute_process(COMMAND date -u -R -d "${day}" OUTPUT_VARIABLE day OUTPUT_STRIP_TRAILING_WHITESPACE)
foreach(component tools dev)
  string(TOUPPER ${component} COMPONENT)
  set(name ${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME})
  file(WRITE ${CMAKE_BINARY_DIR}/changelog/${name}/changelog "${name} (${PROJECT_VERSION}) stable; urgency=medium

  * /usr/share/doc/regatta/CHANGELOG.md says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${day}
")
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/package/copyright ${CMAKE_BINARY_DIR}/changelog/${name}/changelog
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endforeach()
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/regatta COMPONENT tools)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package/compress.cmake)
include(CPack)
