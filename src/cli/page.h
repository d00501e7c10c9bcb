/* page.h: the manual pages as text, generated from their .scd sources during the build. */
#pragma once

#include <stdbool.h>

struct tts_help_page {
    const char *name; /* command or topic; "ttscope" is the page of the program itself */
    const char *const *lines; /* the last line is NULL */
};

/* All pages. The array is generated. The last page has the name NULL. */
extern const struct tts_help_page tts_help_pages[];

/* Prints the page with that name to stdout. Returns false if there is no such page. */
bool tts_help_page_print(const char *name);
