#include "cli/page.h"

#include <stdio.h>
#include <string.h>

bool tts_help_page_print(const char *name)
{
    const struct tts_help_page *page = tts_help_pages;
    while (page->name && strcmp(page->name, name) != 0)
        page++;
    if (!page->name)
        return false;
    for (const char *const *line = page->lines; *line; line++)
        puts(*line);
    return true;
}
