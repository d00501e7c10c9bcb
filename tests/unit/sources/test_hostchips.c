#include "harness/host.h"
#include "harness/t.h"
#include "sources/hostchips.h"
#include "torture/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static struct tts_hostchips scan(void)
{
    struct tts_hostchips chips = {.count = 99};
    struct tts_error err = {0};
    T_EQ(tts_hostchips_scan(&chips, host_root, NULL, &err), TTS_OK);
    T_STR_EQ(err.text, "");
    for (size_t i = 1; i < chips.count; i++)
        T_TRUE(chips.chips[i - 1].node < chips.chips[i].node);
    return chips;
}

/* Scans a host that has exactly one chip, and returns the chip. */
static struct tts_hostchip scan_one(void)
{
    struct tts_hostchips chips = scan();
    T_EQ(chips.count, 1);
    struct tts_hostchip chip = chips.chips[0];
    tts_hostchips_release(&chips);
    return chip;
}

static void refused(enum tts_status status, const char *reason)
{
    struct tts_hostchips chips = {.count = 99};
    struct tts_error err = {0};
    T_EQ(tts_hostchips_scan(&chips, host_root, NULL, &err), status);
    T_EQ(chips.count, 99);
    T_EQ(err.status, status);
    T_TRUE(strstr(err.text, "cannot list the chips in '") == err.text);
    T_TRUE(strstr(err.text, reason) != NULL);
    T_EQ(tts_hostchips_scan(&chips, host_root, NULL, NULL), status);
}

/* --- existing chips --------------------------------------------------------------------- */

T_TEST(an_n150_and_a_p150a_are_told_with_all_that_the_kernel_says)
{
    host_new_driver("two", "2.10.0\n");
    host_add_chip(1, "0xb140\n");
    host_attribute(1, "tt_card_type", "p150a\n");
    host_attribute(1, "tt_serial", "00000403319141BB\n");
    host_attribute(1, "tt_asic_id", "0123456789ABCDEF\n");
    host_add_chip(0, "0x401e\n");
    host_attribute(0, "tt_card_type", "n150\n");
    host_attribute(0, "tt_serial", "0100018511733014\n");
    host_attribute(0, "tt_asic_id", "0000000000000007\n");
    host_attribute(0, "tt_fw_bundle_ver", "18.10.0.0\n");
    host_add_pids(0, "4711\n");

    struct tts_hostchips chips = scan();
    T_TRUE(chips.driver_loaded);
    T_STR_EQ(chips.driver_version, "2.10.0");
    T_EQ(chips.count, 2);
    T_EQ(chips.left_out, 0);
    const struct tts_hostchip *n150 = &chips.chips[0], *p150 = &chips.chips[1];
    T_EQ(n150->node, 0);
    T_STR_EQ(n150->card_type, "n150");
    T_STR_EQ(n150->serial, "0100018511733014");
    T_STR_EQ(n150->asic_id, "0000000000000007");
    T_STR_EQ(n150->firmware, "18.10.0.0");
    T_STR_EQ(n150->pci_address, "0000:01:00.0");
    T_TRUE(n150->arch_known && n150->arch == TTS_ARCH_WORMHOLE);
    T_STR_EQ(n150->preset, "n150");
    T_TRUE(n150->pids_known && n150->pid_count == 1 && n150->pids[0] == 4711);
    T_EQ(p150->node, 1);
    T_STR_EQ(p150->card_type, "p150a");
    T_STR_EQ(p150->serial, "00000403319141BB");
    T_STR_EQ(p150->asic_id, "0123456789ABCDEF");
    T_STR_EQ(p150->firmware, "");
    T_STR_EQ(p150->pci_address, "0000:01:00.1");
    T_TRUE(p150->arch_known && p150->arch == TTS_ARCH_BLACKHOLE);
    T_STR_EQ(p150->preset, "p150");
    T_TRUE(!p150->pids_known && p150->pid_count == 0);
    tts_hostchips_release(&chips);
    T_TRUE(chips.chips == NULL && chips.count == 0);
    tts_hostchips_release(&chips);
}

T_TEST(every_card_has_its_preset_and_architecture_by_type_and_by_serial)
{
    static const struct {
        const char *type, *serial, *preset;
        enum tts_arch arch;
    } cards[] = {
        {"n300", "0000014000000001", "n300", TTS_ARCH_WORMHOLE},
        {"n150", "00000180FFFFFFFF", "n150", TTS_ARCH_WORMHOLE},
        {"galaxy-wormhole", "0000035000000001", "galaxy", TTS_ARCH_WORMHOLE},
        {"p100", "0000036F00000001", "p100", TTS_ARCH_BLACKHOLE},
        {"p150a", "00000403319141BB", "p150", TTS_ARCH_BLACKHOLE},
        {"p150b", "0000041000000001", "p150", TTS_ARCH_BLACKHOLE},
        {"p150c", "0000042000000001", "p150", TTS_ARCH_BLACKHOLE},
        {"p100a", "0000043000000001", "p100", TTS_ARCH_BLACKHOLE},
        {"p300b", "0000044000000001", "p300", TTS_ARCH_BLACKHOLE},
        {"p300a", "0000045000000001", "p300", TTS_ARCH_BLACKHOLE},
        {"p300c", "fff0046000000001", "p300", TTS_ARCH_BLACKHOLE},
        {"galaxy-blackhole", "0000047000000001", "galaxy-blackhole", TTS_ARCH_BLACKHOLE},
    };
    host_new_driver("cards", "2.10.0\n");
    host_add_chip(0, "0x0000\n");
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        for (int by_serial = 0; by_serial < 2; by_serial++) {
            host_attribute(0, "tt_card_type", by_serial ? "\n" : cards[i].type);
            host_attribute(0, "tt_serial", by_serial ? cards[i].serial : "");
            struct tts_hostchip chip = scan_one();
            T_STR_EQ(chip.card_type, cards[i].type);
            T_STR_EQ(chip.preset, cards[i].preset);
            T_TRUE(chip.arch_known && chip.arch == cards[i].arch);
            struct tts_chip preset;
            T_EQ(tts_chip_preset(chip.preset, &preset, NULL), TTS_OK);
            T_EQ(preset.arch, cards[i].arch);
        }
    }
}

T_TEST(a_type_that_the_driver_tells_is_not_overruled_by_the_serial)
{
    host_new_driver("unknown", "2.10.0\n");
    host_add_chip(0, "0xb140\n");
    host_attribute(0, "tt_card_type", "unknown\n");
    host_attribute(0, "tt_serial", "00000403319141BB\n");
    struct tts_hostchip chip = scan_one();
    T_STR_EQ(chip.card_type, "unknown");
    T_TRUE(chip.preset == NULL);
    T_TRUE(chip.arch_known && chip.arch == TTS_ARCH_BLACKHOLE);
}

T_TEST(a_serial_that_is_not_16_hex_digits_of_a_known_card_tells_nothing)
{
    static const char *const serials[] = {
        "",
        "0000040331914",
        "00000403319141B",
        "00000403319141BB0",
        "00000403319141BG",
        "0x00000403319141",
        "00000FF3319141BB",
        "0000000000000000",
    };
    host_new_driver("serials", "2.10.0\n");
    host_add_chip(0, "");
    for (size_t i = 0; i < sizeof serials / sizeof serials[0]; i++) {
        host_attribute(0, "tt_serial", serials[i]);
        struct tts_hostchip chip = scan_one();
        T_STR_EQ(chip.serial, serials[i]);
        T_STR_EQ(chip.card_type, "");
        T_TRUE(chip.preset == NULL && !chip.arch_known);
    }
}

T_TEST(a_card_and_a_pci_id_that_contradict_each_other_have_no_preset)
{
    host_new_driver("contradiction", "2.10.0\n");
    host_add_chip(0, "0xb140\n");
    host_attribute(0, "tt_card_type", "n150\n");
    struct tts_hostchip chip = scan_one();
    T_STR_EQ(chip.card_type, "n150");
    T_TRUE(chip.arch_known && chip.arch == TTS_ARCH_BLACKHOLE);
    T_TRUE(chip.preset == NULL);
}

T_TEST(a_pci_id_alone_tells_the_architecture)
{
    static const struct {
        const char *id;
        bool known;
        enum tts_arch arch;
    } ids[] = {
        {"0x401e\n", true, TTS_ARCH_WORMHOLE},
        {"0xB140", true, TTS_ARCH_BLACKHOLE},
        {"0xfaca\n", true, TTS_ARCH_GRAYSKULL},
        {"0x1234\n", false, 0},
        {"xx401e\n", false, 0},
        {"0x\n", false, 0},
        {"", false, 0},
        {"0x4000000000000401e\n", false, 0},
    };
    host_new_driver("ids", "2.10.0\n");
    host_add_chip(0, "");
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        host_put(host_pci(0, "device"), ids[i].id);
        struct tts_hostchip chip = scan_one();
        T_EQ(chip.arch_known, ids[i].known);
        T_TRUE(!ids[i].known || chip.arch == ids[i].arch);
        T_TRUE(chip.preset == NULL);
    }
}

T_TEST(the_name_of_the_sensors_tells_the_architecture_if_nothing_else_does)
{
    host_new_driver("sensors", "2.10.0\n");
    host_add_chip(0, "0x9999\n");
    host_dir(host_pci(0, "hwmon/other"));
    host_put(host_pci(0, "hwmon/other/name"), "wormhole\n");
    T_TRUE(!scan_one().arch_known);
    host_dir(host_pci(0, "hwmon/hwmon3"));
    T_TRUE(!scan_one().arch_known);
    host_put(host_pci(0, "hwmon/hwmon3/name"), "wormholes\n");
    T_TRUE(!scan_one().arch_known);
    host_put(host_pci(0, "hwmon/hwmon3/name"), "blackhole\n");
    struct tts_hostchip chip = scan_one();
    T_TRUE(chip.arch_known && chip.arch == TTS_ARCH_BLACKHOLE && chip.preset == NULL);
    host_put(host_pci(0, "hwmon/hwmon3/name"), "wormhole\n");
    T_EQ(scan_one().arch, TTS_ARCH_WORMHOLE);
    host_put(host_pci(0, "device"), "0xb140\n");
    T_EQ(scan_one().arch, TTS_ARCH_BLACKHOLE);
}

/* --- missing files ---------------------------------------------------------------------- */

T_TEST(a_host_without_the_driver_has_no_chips_and_no_error)
{
    host_new("no-driver");
    struct tts_hostchips chips = scan();
    T_TRUE(!chips.driver_loaded && chips.count == 0 && chips.chips == NULL);
    T_STR_EQ(chips.driver_version, "");
    tts_hostchips_release(&chips);
    host_root = t_scratch("no-such-root");
    chips = scan();
    T_TRUE(!chips.driver_loaded && chips.count == 0);
    tts_hostchips_release(&chips);
}

T_TEST(a_driver_without_chips_is_told_with_its_version)
{
    host_new("no-chips");
    host_dir("sys/module/tenstorrent");
    struct tts_hostchips chips = scan();
    T_TRUE(chips.driver_loaded && chips.count == 0);
    T_STR_EQ(chips.driver_version, "");
    host_put("sys/module/tenstorrent/version", "2.4.1\n");
    host_dir("sys/class/tenstorrent");
    chips = scan();
    T_TRUE(chips.driver_loaded && chips.count == 0 && chips.chips == NULL);
    T_STR_EQ(chips.driver_version, "2.4.1");
}

T_TEST(a_class_without_a_module_means_a_driver_of_unknown_version)
{
    host_new("built-in");
    host_dir("sys/class/tenstorrent");
    struct tts_hostchips chips = scan();
    T_TRUE(chips.driver_loaded && chips.count == 0);
    T_STR_EQ(chips.driver_version, "");
}

T_TEST(a_chip_without_attributes_is_still_a_chip)
{
    host_new_driver("bare", "2.0.0\n");
    host_dir(host_class(5, ""));
    struct tts_hostchip chip = scan_one();
    T_EQ(chip.node, 5);
    T_STR_EQ(chip.card_type, "");
    T_STR_EQ(chip.serial, "");
    T_STR_EQ(chip.asic_id, "");
    T_STR_EQ(chip.firmware, "");
    T_STR_EQ(chip.pci_address, "");
    T_TRUE(!chip.arch_known && chip.preset == NULL && !chip.pids_known);
}

T_TEST(a_chip_that_has_gone_is_left_out)
{
    host_new_driver("gone", "2.10.0\n");
    host_dir(host_class(1, ""));
    T_EQ(symlink("nowhere", host_path("sys/class/tenstorrent/tenstorrent!0")), 0);
    T_EQ(symlink("tenstorrent!2", host_path("sys/class/tenstorrent/tenstorrent!2")), 0);
    host_put("sys/class/tenstorrent/tenstorrent!3", "not a directory");
    T_EQ(scan_one().node, 1);
}

/* Becomes a user without rights. Returns false if this is not allowed. */
static bool become_nobody(void)
{
    if (geteuid() != 0)
        return true;
    return chmod(t_scratch(""), 0755) == 0 && seteuid(NOBODY) == 0;
}

static void be_ourselves_again(void)
{
    T_TRUE(getuid() != 0 || seteuid(0) == 0);
}

T_TEST(what_may_not_be_read_is_empty_and_no_error)
{
    host_new_driver("secret", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_attribute(0, "tt_card_type", "n150\n");
    host_attribute(0, "tt_serial", "0000018000000001\n");
    host_add_pids(0, "1\n");
    T_EQ(chmod(host_path(host_class(0, "tt_serial")), 0), 0);
    T_EQ(chmod(host_path(host_proc(0, "pids")), 0), 0);
    if (!become_nobody())
        skip();
    struct tts_hostchip chip = scan_one();
    be_ourselves_again();
    T_STR_EQ(chip.card_type, "n150");
    T_STR_EQ(chip.serial, "");
    T_TRUE(!chip.pids_known && chip.pid_count == 0);
}

T_TEST(a_class_that_may_not_be_read_is_an_error_that_says_what_to_do)
{
    host_new_driver("closed", "2.10.0\n");
    T_EQ(chmod(host_path("sys/class/tenstorrent"), 0), 0);
    if (!become_nobody())
        skip();
    refused(TTS_E_IO, "check the permissions of the directory: permission denied");
    be_ourselves_again();
    T_EQ(chmod(host_path("sys/class/tenstorrent"), 0755), 0);
}

T_TEST(a_chip_that_may_not_be_looked_at_is_an_error)
{
    host_new_driver("listed", "2.10.0\n");
    host_dir("closed/chip");
    T_EQ(symlink("../../../closed/chip", host_path("sys/class/tenstorrent/tenstorrent!0")), 0);
    T_EQ(chmod(host_path("closed"), 0), 0);
    if (!become_nobody())
        skip();
    refused(TTS_E_IO, "permission denied");
    be_ourselves_again();
    T_EQ(chmod(host_path("closed"), 0700), 0);
}

T_TEST(a_class_that_is_no_directory_or_a_root_too_long_is_an_error)
{
    host_new("file");
    host_put("sys/class/tenstorrent", "");
    refused(TTS_E_IO, ": not a directory");
    T_EQ(unlink(host_path("sys/class/tenstorrent")), 0);
    T_EQ(symlink("tenstorrent", host_path("sys/class/tenstorrent")), 0);
    refused(TTS_E_IO, ": too many levels of symbolic links");

    static char longest[5000];
    /* A path of slashes: its beginning is a directory, but it is too long. */
    memset(longest, '/', sizeof longest - 1);
    struct tts_hostchips chips = {.count = 99};
    struct tts_error err;
    T_EQ(tts_hostchips_scan(&chips, longest, NULL, &err), TTS_E_IO);
    T_EQ(err.sys_errno, ENAMETOOLONG);
    T_EQ(chips.count, 99);
}

/* --- unexpected files ------------------------------------------------------------------- */

T_TEST(only_names_of_the_driver_are_chips)
{
    static const char *const others[] = {
        "tenstorrent",
        "tenstorrent!",
        "tenstorrent!01",
        "tenstorrent!00",
        "tenstorrent!x",
        "tenstorrent!1x",
        "tenstorrent!-1",
        "tenstorrent!+1",
        "tenstorrent! 1",
        "tenstorrent_1",
        "tenstorrent!4294967296",
        "!1",
        "Tenstorrent!1",
        "tenstorrent!18446744073709551617",
    };
    host_new_driver("names", "2.10.0\n");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "sys/class/tenstorrent/%s", others[i]);
        host_dir(path);
    }
    host_dir(host_class(UINT32_MAX, ""));
    host_dir(host_class(0, ""));
    struct tts_hostchips chips = scan();
    T_EQ(chips.count, 2);
    T_EQ(chips.left_out, 0);
    T_EQ(chips.chips[0].node, 0);
    T_EQ(chips.chips[1].node, UINT32_MAX);
    tts_hostchips_release(&chips);
}

T_TEST(bytes_that_cannot_be_shown_become_question_marks)
{
    static const char bytes[] = "\x1b[31m\0\xc3\xa9\x7f\ttail~ !\n \n";
    host_new_driver("binary", "2.10\n.0\n");
    host_add_chip(0, "0xb140\n");
    host_put_bytes(host_class(0, "tt_card_type"), bytes, sizeof bytes - 1);
    host_put_bytes(host_class(0, "tt_asic_id"), "\0\0\0", 3);
    host_put(host_class(0, "tt_fw_bundle_ver"), "\n \n");
    T_EQ(unlink(host_path(host_class(0, "device"))), 0);
    T_EQ(symlink("../a\nb\x1b", host_path(host_class(0, "device"))), 0);
    struct tts_hostchips chips = scan();
    T_EQ(chips.count, 1);
    T_STR_EQ(chips.driver_version, "2.10?.0");
    T_STR_EQ(chips.chips[0].card_type, "?[31m?????tail~ !");
    T_STR_EQ(chips.chips[0].asic_id, "???");
    T_STR_EQ(chips.chips[0].firmware, "");
    T_STR_EQ(chips.chips[0].pci_address, "a?b?");
    T_TRUE(chips.chips[0].preset == NULL);
    tts_hostchips_release(&chips);
}

T_TEST(a_huge_file_is_cut_and_not_read_to_its_end)
{
    static char huge[3 * 1024 * 1024];
    memset(huge, 'n', sizeof huge);
    host_new_driver("huge", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_put_bytes(host_class(0, "tt_serial"), huge, sizeof huge);
    memset(huge, '\n', sizeof huge);
    memcpy(huge + 4096, "n150", 4);
    host_put_bytes(host_class(0, "tt_card_type"), huge, sizeof huge);
    struct tts_hostchip chip = scan_one();
    T_EQ(strlen(chip.serial), TTS_HOST_TEXT_MAX - 1);
    T_EQ(strspn(chip.serial, "n"), TTS_HOST_TEXT_MAX - 1);
    T_STR_EQ(chip.card_type, "");
}

T_TEST(directories_links_and_pipes_where_files_are_expected_are_not_opened)
{
    host_new_driver("kinds", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_dir(host_class(0, "tt_serial"));
    host_put(host_pci(0, "tenstorrent/elsewhere"), "n150\n");
    T_EQ(symlink("../elsewhere", host_path(host_class(0, "tt_card_type"))), 0);
    T_EQ(mkfifo(host_path(host_class(0, "tt_asic_id")), 0644), 0);
    int pipe_fd = open(host_path(host_class(0, "tt_asic_id")), O_RDWR | O_NONBLOCK);
    T_EQ(write(pipe_fd, "12345678", 8), 8);
    T_EQ(unlink(host_path("sys/module/tenstorrent/version")), 0);
    host_dir("sys/module/tenstorrent/version");
    host_dir(host_proc(0, "pids"));
    struct tts_hostchips chips = scan();
    T_EQ(chips.count, 1);
    T_TRUE(chips.driver_loaded);
    T_STR_EQ(chips.driver_version, "");
    T_STR_EQ(chips.chips[0].serial, "");
    T_STR_EQ(chips.chips[0].card_type, "");
    T_STR_EQ(chips.chips[0].asic_id, "");
    char bytes[16];
    T_EQ(read(pipe_fd, bytes, sizeof bytes), 8);
    close(pipe_fd);
    T_TRUE(!chips.chips[0].pids_known);
    T_EQ(chips.chips[0].arch, TTS_ARCH_WORMHOLE);
    tts_hostchips_release(&chips);
}

T_TEST(a_device_that_is_a_directory_has_no_address)
{
    host_new_driver("not-a-link", "2.10.0\n");
    host_dir(host_class(0, "device"));
    host_put(host_class(0, "device/device"), "0xb140\n");
    struct tts_hostchip chip = scan_one();
    T_STR_EQ(chip.pci_address, "");
    T_TRUE(chip.arch_known && chip.arch == TTS_ARCH_BLACKHOLE);
}

T_TEST(of_300_chips_the_lowest_are_kept_and_the_others_counted)
{
    host_new_driver("many", "2.10.0\n");
    for (uint32_t i = 0; i < 300; i++)
        host_dir(host_class(i * 7 % 300 + 10, ""));
    struct tts_hostchips chips = scan();
    T_EQ(chips.count, TTS_HOST_CHIPS_MAX);
    T_EQ(chips.left_out, 300 - TTS_HOST_CHIPS_MAX);
    for (uint32_t i = 0; i < TTS_HOST_CHIPS_MAX; i++)
        T_EQ(chips.chips[i].node, i + 10);
    tts_hostchips_release(&chips);
}

/* --- processes that have it open -------------------------------------------------------- */

static struct tts_hostchip with_pids(const char *text)
{
    host_new_driver("pids", "2.10.0\n");
    host_dir(host_class(7, ""));
    host_add_pids(7, text);
    struct tts_hostchip chip = scan_one();
    T_TRUE(chip.pids_known);
    return chip;
}

T_TEST(a_process_is_told_once_however_often_it_opened_the_chip)
{
    struct tts_hostchip chip = with_pids("4711\n12\n4711\n0\n4711\n12\n0\n300");
    T_EQ(chip.pid_count, 4);
    T_EQ(chip.pids[0], 0);
    T_EQ(chip.pids[1], 12);
    T_EQ(chip.pids[2], 300);
    T_EQ(chip.pids[3], 4711);
}

T_TEST(a_chip_that_nobody_uses_is_known_to_be_free)
{
    T_EQ(with_pids("").pid_count, 0);
    T_EQ(with_pids("\n\n").pid_count, 0);
}

T_TEST(lines_that_cannot_be_a_pid_are_passed_over)
{
    struct tts_hostchip chip = with_pids("2147483648\n-1\n99999999999999999999999\nx\n1 2\n"
                                         "0x10\n 5\n2147483647\n");
    T_EQ(chip.pid_count, 1);
    T_EQ(chip.pids[0], 2147483647);
}

T_TEST(of_many_processes_all_are_counted_and_the_lowest_kept)
{
    static char text[64 * 1024];
    size_t len = 0;
    for (int i = 0; i < 200; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%d\n%d\n", 1000 + i * 77 % 200,
                                1000 + i * 77 % 200);
    struct tts_hostchip chip = with_pids(text);
    T_EQ(chip.pid_count, 200);
    for (uint32_t i = 0; i < TTS_HOST_PIDS_MAX; i++)
        T_EQ(chip.pids[i], 1000 + i);
}

T_TEST(a_list_of_pids_past_16_kib_is_cut_at_a_line)
{
    static char text[64 * 1024 + 1];
    memset(text, '\n', sizeof text - 1);
    memcpy(text + 16 * 1024 - 3, "123456\n", 7);
    memcpy(text, "55\n", 3);
    struct tts_hostchip chip = with_pids(text);
    T_EQ(chip.pid_count, 1);
    T_EQ(chip.pids[0], 55);
    memset(text, '\n', sizeof text - 1);
    for (size_t i = 0; i < sizeof text - 1; i += 2)
        text[i] = (char)('0' + i / 2 % 10);
    chip = with_pids(text);
    T_EQ(chip.pid_count, 10);
}

/* --- memory ----------------------------------------------------------------------------- */

T_TEST(without_memory_nothing_is_returned_and_nothing_is_kept)
{
    host_new_driver("memory", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_chip(1, "0xb140\n");
    host_add_pids(1, "1\n2\n");
    struct heap heap;
    uint64_t calls = 0;
    for (uint64_t fail_at = 0; fail_at <= calls; fail_at++) {
        heap_init(&heap);
        heap.fail_at = fail_at;
        struct tts_hostchips chips = {.count = 99};
        struct tts_error err = {0};
        enum tts_status status = tts_hostchips_scan(&chips, host_root, &heap.alloc, &err);
        T_EQ(status, fail_at == 0 ? TTS_OK : TTS_E_NOMEM);
        T_EQ(err.status, status);
        T_EQ(chips.count, fail_at == 0 ? 2 : 99);
        if (fail_at == 0) {
            calls = heap.calls;
            tts_hostchips_release(&chips);
        }
        T_TRUE(heap_is_settled(&heap));
    }
    T_EQ(calls, 2);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

T_TEST(no_descriptor_is_left_open)
{
    host_new_driver("descriptors", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_pids(0, "1\n");
    int before = open_descriptors();
    struct tts_hostchips chips = scan();
    tts_hostchips_release(&chips);
    host_new("descriptors-refused");
    host_put("sys/class/tenstorrent", "");
    refused(TTS_E_IO, "not a directory");
    T_EQ(open_descriptors(), before);
}
