/* page.h: the manual pages as text, made from their .scd sources when ttscope is built. */
#pragma once

#include <stdbool.h>

struct tts_help_page {
    const char *name; /* of the command or topic; "ttscope" for the program's own page */
    const char *const *lines; /* the last is NULL */
};

/* Generated; the last page has no name. */
extern const struct tts_help_page tts_help_pages[];

/* Prints the page of that name to stdout. False: there is none. */
bool tts_help_page_print(const char *name);
