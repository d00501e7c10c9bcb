/* driver.c: runs a fuzz target on files, or on every file of a directory, without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Runs one file. The input is in memory of its exact size, so that a sanitizer detects a read
 * after its end. */
static int run_file(const char *path, size_t len)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(len > 0 ? len : 1);
    int done = file && bytes && fread(bytes, 1, len, file) == len;
    if (done)
        LLVMFuzzerTestOneInput(bytes, len);
    else
        fprintf(stderr, "cannot read '%s'\n", path);
    free(bytes);
    if (file)
        fclose(file);
    return done ? 1 : -1;
}

/* Returns the number of files that ran, or -1 if one could not be read. */
static int run_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        fprintf(stderr, "cannot read '%s'\n", path);
        return -1;
    }
    if (!S_ISDIR(info.st_mode))
        return run_file(path, (size_t)info.st_size);
    DIR *dir = opendir(path);
    int count = 0;
    for (struct dirent *entry; dir && count >= 0 && (entry = readdir(dir));) {
        char child[4096];
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || stat(child, &info) != 0 || !S_ISREG(info.st_mode))
            continue;
        count = run_file(child, (size_t)info.st_size) < 0 ? -1 : count + 1;
    }
    if (dir)
        closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int count = run_path(argv[i]);
        if (count < 0)
            return EXIT_FAILURE;
        total += count;
    }
    printf("%d inputs\n", total);
    return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
