#include "graph_dom.h"

#include <simdjson.h>

long graph_dom_nodes(const char *path)
{
    simdjson::dom::parser parser;
    simdjson::dom::array nodes;
    if (parser.load(path).get(nodes))
        return -1;
    long count = 0;
    for (simdjson::dom::element node : nodes) {
        std::string_view type;
        if (node["node_type"].get(type))
            return -1;
        count++;
    }
    return count;
}
