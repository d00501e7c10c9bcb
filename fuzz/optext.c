/* Reads bytes as the text of an operation and as a type. All parts lie in the text, and lists
 * come to an end. */
#include "sources/runtimelog/optext.h"
#include "sources/runtimelog/optype.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_inside(struct tts_span part, const char *text, size_t len)
{
    if (part.len > 0 && (part.at < text || part.at + part.len > text + len))
        abort();
}

static void check_type(struct tts_span text)
{
    struct tts_opbanks banks = {.banks = 12, .page_alignment = 32, .block_alignment = 32};
    struct tts_optype type;
    uint64_t bytes = 0;
    tts_optype_read(text, &type);
    check_inside(type.dtype, text.at, text.len);
    check_inside(type.layout, text.at, text.len);
    check_inside(type.memref_dtype, text.at, text.len);
    if (type.shape.count > TTS_OPTYPE_DIMS_MAX || type.memref.count > TTS_OPTYPE_DIMS_MAX)
        abort();
    if (tts_optype_bytes_per_bank(&type, &banks, &bytes) && bytes % 32 != 0)
        abort();
}

/* Reads a list; its items do not overlap. */
static void check_list(struct tts_span list, int has_types)
{
    struct tts_span item;
    const char *last = list.at;
    size_t rounds = list.len + 1;
    while (tts_optext_next(&list, &item)) {
        if (rounds-- == 0 || (item.len > 0 && item.at < last))
            abort();
        last = item.at + item.len;
        if (has_types)
            check_type(item);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1), loc[64];
    struct tts_optext op;
    struct tts_span inputs, outputs;
    if (!text)
        abort();
    memcpy(text, bytes, len);
    struct tts_span whole = {text, len};
    check_type(whole);
    if (tts_optext_read(whole, &op)) {
        check_inside(op.result, text, len);
        check_inside(op.name, text, len);
        check_inside(op.callee, text, len);
        check_inside(op.operands, text, len);
        check_inside(op.attributes, text, len);
        check_inside(op.signature, text, len);
        check_inside(op.loc, text, len);
        tts_optext_loc_name(op.loc, loc, sizeof loc);
        if (strlen(loc) >= sizeof loc)
            abort();
        check_list(op.operands, 0);
        if (tts_optext_signature(op.signature, &inputs, &outputs)) {
            check_inside(inputs, text, len);
            check_inside(outputs, text, len);
            check_list(inputs, 1);
            check_list(outputs, 1);
        }
    }
    free(text);
    return 0;
}
