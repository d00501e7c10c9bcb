/* graph_dom.h: a general reader of JSON that builds the whole document, as a yardstick. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Parses the file and counts the elements of its array; -1: it could not. */
long graph_dom_nodes(const char *path);

#ifdef __cplusplus
}
#endif
