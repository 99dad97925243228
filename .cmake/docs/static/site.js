// SPDX-License-Identifier: Apache-2.0
// A search shows excerpts of the pages it finds, which a browser does not let a page read that it opened as a file.
DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = location.protocol !== "file:";
