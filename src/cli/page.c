#include "cli/page.h"

#include <stdio.h>
#include <string.h>

bool tts_page_print(const char *name)
{
    const struct tts_page *page = tts_pages;
    while (page->name && strcmp(page->name, name) != 0)
        page++;
    if (!page->name)
        return false;
    for (const char *const *line = page->lines; *line; line++)
        puts(*line);
    return true;
}
