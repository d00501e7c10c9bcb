/* config_rig.h: writes the configuration files of tests. */
#pragma once

#include "harness/t.h"

#include <stdio.h>
#include <string.h>

/* Writes a file into the scratch directory and returns its path. */
static inline const char *write_config(const char *name, const char *text)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", t_scratch(name));
    FILE *file = fopen(path, "w");
    T_TRUE(file != NULL);
    T_TRUE(fputs(text, file) >= 0);
    T_EQ(fclose(file), 0);
    return path;
}
