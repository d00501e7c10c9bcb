/* graph_dom.h: a general JSON reader that builds the whole document, for comparison. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Parses the file and counts the elements of its array. Returns -1 on failure. */
long graph_dom_nodes(const char *path);

#ifdef __cplusplus
}
#endif
