/* devices_host.c: the chips of this host as a table. */
#include "cli/devices_parts.h"
#include "cli/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { COLUMNS = 5, PIDS_SHOWN = 8, PIDS_MAX = PIDS_SHOWN * 16 + 64, BELOW_COLUMN = 8 };

struct row {
    const char *texts[COLUMNS];
};

static const struct row heading = {{"card", "preset", "arch", "PCI address", "serial"}};

static const char *or_unknown(const char *text)
{
    return text[0] ? text : "unknown";
}

static struct row row_of(const struct tts_hostchip *chip)
{
    return (struct row){{or_unknown(chip->card_type), chip->preset ? chip->preset : "none",
                         chip->arch_known ? tts_arch_name(chip->arch) : "unknown",
                         or_unknown(chip->pci_address), or_unknown(chip->serial)}};
}

static void widen(int widths[COLUMNS], const struct row *row)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        int len = (int)strlen(row->texts[i]);
        widths[i] = len > widths[i] ? len : widths[i];
    }
}

/* Returns the columns they take. */
static unsigned print_cells(const int widths[COLUMNS], const struct row *row, FILE *out)
{
    unsigned columns = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        fprintf(out, "  %-*s", widths[i], row->texts[i]);
        columns += 2 + (unsigned)widths[i];
    }
    return columns;
}

static void list_pids(const struct tts_hostchip *chip, char text[PIDS_MAX])
{
    size_t kept = chip->pid_count < TTS_HOST_PIDS_MAX ? chip->pid_count : TTS_HOST_PIDS_MAX;
    size_t shown = kept < PIDS_SHOWN ? kept : PIDS_SHOWN;
    size_t len = 0;
    if (!chip->pids_known || chip->pid_count == 0) {
        snprintf(text, PIDS_MAX, "%s", chip->pids_known ? "nobody" : "unknown");
        return;
    }
    for (size_t i = 0; i < shown; i++) {
        const char *between = i > 0 ? ", " : "";
        int put = chip->pids[i] == 0 ? snprintf(text + len, PIDS_MAX - len, "%shidden", between)
                                     : snprintf(text + len, PIDS_MAX - len, "%s%" PRIu32,
                                                between, chip->pids[i]);
        assert(put > 0 && (size_t)put < PIDS_MAX - len);
        len += (size_t)put;
    }
    if (chip->pid_count > shown)
        snprintf(text + len, PIDS_MAX - len, " and %zu more", chip->pid_count - shown);
}

/* Below the row if there is no room in it. */
static void print_pids(const struct tts_hostchip *chip, unsigned column, FILE *out)
{
    char text[PIDS_MAX];
    list_pids(chip, text);
    bool is_below = column + 2 + strlen(text) > tts_say_columns();
    fprintf(out, "%s%*s", is_below ? "\n" : "", is_below ? BELOW_COLUMN : 2, "");
    tts_say_column(out, is_below ? BELOW_COLUMN : column + 2, text);
}

static void print_table(const struct tts_hostchips *found, FILE *out)
{
    int widths[COLUMNS] = {0};
    widen(widths, &heading);
    for (size_t i = 0; i < found->count; i++) {
        struct row row = row_of(&found->chips[i]);
        widen(widths, &row);
    }
    fputs("  node", out);
    print_cells(widths, &heading, out);
    fputs("  open in\n", out);
    for (size_t i = 0; i < found->count; i++) {
        struct row row = row_of(&found->chips[i]);
        fprintf(out, "  %4" PRIu32, found->chips[i].node);
        unsigned columns = 6 + print_cells(widths, &row, out);
        print_pids(&found->chips[i], columns, out);
    }
    if (found->left_out > 0)
        fprintf(out, "  and %zu more that are not shown\n", found->left_out);
}

void tts_devices_text_host(const struct tts_devices_host *host, FILE *out)
{
    const struct tts_hostchips *found = &host->found;
    const char *version = found->driver_version;
    fputs("\non this host: ", out);
    if (host->reason) {
        fputs("unknown, as it could not be read\n", out);
        return;
    }
    if (!found->driver_loaded) {
        fputs("no chip, the driver (tt-kmd) is not loaded\n", out);
        return;
    }
    const char *space = version[0] ? " " : "";
    if (found->count == 0 && found->left_out > 0)
        fprintf(out, "%zu or more entries, and none could be looked at\n", found->left_out);
    else if (found->count == 0)
        fprintf(out, "no chip, though the driver (tt-kmd%s%s) is loaded\n", space, version);
    else
        fprintf(out, "%zu chip%s, driver (tt-kmd%s%s)\n", found->count + found->left_out,
                found->count + found->left_out == 1 ? "" : "s", space, version);
    if (found->count > 0)
        print_table(found, out);
}
