/* export_main.c: the program ttscope-export. */
#include "cli/export.h"
#include "cli/program.h"

int main(int argc, char **argv)
{
    (void)argc;
    tts_program_begin();
    return tts_program_end(tts_cmd_export(argv), "export");
}
