#include "harness/t.h"
#include "views/finding/annotation.h"

static const char *annotated(const struct tts_finding *finding)
{
    static char text[4096];
    text[0] = '\0';
    FILE *out = fmemopen(text, sizeof text, "w");
    tts_annotation_put(out, finding);
    fclose(out);
    return text;
}

T_TEST(a_finding_is_one_line_with_its_place_and_evidence)
{
    struct tts_finding finding = {.rule = "dram-peak",
                                  .severity = TTS_SEVERITY_ERROR,
                                  .subject = "TinyLlama",
                                  .label = "dram-peak X",
                                  .message = "too much",
                                  .evidence = "b.yaml:7",
                                  .path = "a.log",
                                  .line = 3};
    T_STR_EQ(annotated(&finding), "::error file=a.log,line=3,title=dram-peak X::TinyLlama: too "
                                  "much (b.yaml:7)\n");
    finding = (struct tts_finding){
        .rule = "read", .severity = TTS_SEVERITY_WARNING, .message = "cannot read it"};
    T_STR_EQ(annotated(&finding), "::warning title=read::cannot read it\n");
    finding.severity = TTS_SEVERITY_NONE;
    T_STR_EQ(annotated(&finding), "");
}

T_TEST(text_cannot_become_a_command)
{
    const struct tts_finding finding = {.rule = "r",
                                        .severity = TTS_SEVERITY_NOTE,
                                        .path = "a,b:c",
                                        .message = "100 %\n::error::x ##[group]"};
    T_STR_EQ(annotated(&finding),
             "::notice file=a%2Cb%3Ac,title=r::100 %25?::error::x ##?group]\n");
}
