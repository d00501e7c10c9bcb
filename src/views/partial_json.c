#include "views/partial_json.h"

void tts_partial_json(const struct tts_partial_notes *notes, struct tts_json *json)
{
    tts_json_bool(json, "partial", notes->count > 0);
    tts_json_array(json, "missing");
    for (size_t i = 0; i < notes->count; i++) {
        tts_json_object(json, NULL);
        tts_json_text(json, "kind", notes->note[i].kind);
        tts_json_number_or_null(json, "line", notes->note[i].line > 0, notes->note[i].line);
        tts_json_text(json, "text", notes->note[i].text);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}
