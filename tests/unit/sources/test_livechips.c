#include "harness/host.h"
#include "harness/t.h"
#include "sources/live/livechips.h"
#include "torture/heap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static struct tts_livechips chips;
static struct tts_hostview view;

static void look(uint64_t seconds)
{
    struct tts_error err = {0};
    tts_hostview_reset(&view);
    view.time_ns = seconds * SECOND;
    T_EQ(tts_livechips_read(&chips, &view, &err), TTS_OK);
    T_STR_EQ(err.text, "");
}

static void begin(const char *name)
{
    host_new_driver(name, "2.10.0\n");
    tts_livechips_init(&chips, host_root, NULL);
    tts_hostview_init(&view, NULL);
}

static void end(void)
{
    tts_livechips_release(&chips);
    tts_hostview_release(&view);
}

T_TEST(a_chip_has_its_ids_holders_and_lock)
{
    begin("facts");
    host_add_chip(0, "0x401e\n");
    host_attribute(0, "tt_card_type", "n150\n");
    host_attribute(0, "tt_serial", "0100018511733014\n");
    host_attribute(0, "tt_asic_id", "FFEEDDCCBBAA9988\n");
    host_add_pids(0, "4711\n0\n4711\n12\n");
    host_add_lock(0, 4);
    host_add_chip(3, "0xb140\n");
    look(5);
    T_TRUE(view.driver_loaded);
    T_STR_EQ(view.driver_version, "2.10.0");
    T_EQ(view.chip_count, 2);
    const struct tts_seenchip *first = &view.chips[0], *second = &view.chips[1];
    T_EQ(first->node, 0);
    T_STR_EQ(first->card_type, "n150");
    T_TRUE(first->serial_known && first->serial == UINT64_C(0x0100018511733014));
    T_TRUE(first->asic_id_known && first->asic_id == UINT64_C(0xFFEEDDCCBBAA9988));
    T_TRUE(first->arch_known && first->arch == TTS_ARCH_WORMHOLE);
    T_STR_EQ(first->preset, "n150");
    T_TRUE(first->holders_known && first->holder_count == 3);
    T_TRUE(first->holders[0] == 0 && first->holders[1] == 12 && first->holders[2] == 4711);
    T_TRUE(first->lock_known && first->lock_pid == 4);
    T_EQ(second->node, 3);
    T_TRUE(!second->serial_known && !second->asic_id_known && !second->holders_known);
    T_TRUE(!second->lock_known && second->holder_count == 0);
    end();
}

T_TEST(an_id_that_is_not_16_digits_or_0_is_unknown)
{
    static const char *const ids[] = {"0000000000000000", "123456789abcdef", "",
                                      "123x567890123456", "123456789abcdef01"};
    begin("ids");
    host_add_chip(0, "0x401e\n");
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        host_attribute(0, "tt_serial", ids[i]);
        host_attribute(0, "tt_asic_id", ids[i]);
        look(20 * i);
        T_TRUE(!view.chips[0].serial_known && !view.chips[0].asic_id_known);
    }
    end();
}

T_TEST(a_lock_that_is_no_lock_has_no_owner)
{
    static const char path[] = "dev/shm/TT_UMD_LOCK.CHIP_IN_USE_0_PCIe";
    static const char bytes[56];
    begin("locks");
    host_add_chip(0, "0x401e\n");
    look(0);
    T_TRUE(!view.chips[0].lock_known);
    host_add_lock(0, 0);
    look(0);
    T_TRUE(view.chips[0].lock_known && view.chips[0].lock_pid == 0);
    host_add_lock(0, -5);
    look(0);
    T_TRUE(!view.chips[0].lock_known);
    host_put_bytes(path, bytes, 55);
    look(0);
    T_TRUE(!view.chips[0].lock_known);
    T_EQ(unlink(host_path(path)), 0);
    T_EQ(mkfifo(host_path(path), 0644), 0);
    look(0);
    T_TRUE(!view.chips[0].lock_known);
    T_EQ(unlink(host_path(path)), 0);
    host_put_bytes("dev/shm/elsewhere", bytes, 56);
    T_EQ(symlink("elsewhere", host_path(path)), 0);
    look(0);
    T_TRUE(!view.chips[0].lock_known);
    end();
}

T_TEST(holders_and_locks_are_read_each_time_and_sysfs_every_10_seconds)
{
    begin("times");
    host_add_chip(0, "0x401e\n");
    host_attribute(0, "tt_card_type", "n150\n");
    host_add_pids(0, "1\n");
    look(100);
    host_attribute(0, "tt_card_type", "n300\n");
    host_add_pids(0, "2\n3\n");
    host_add_lock(0, 3);
    look(109);
    T_STR_EQ(view.chips[0].card_type, "n150");
    T_TRUE(view.chips[0].holder_count == 2 && view.chips[0].holders[0] == 2);
    T_EQ(view.chips[0].lock_pid, 3);
    look(110);
    T_STR_EQ(view.chips[0].card_type, "n300");
    host_attribute(0, "tt_card_type", "n150\n");
    look(50); /* the clock was set back */
    T_STR_EQ(view.chips[0].card_type, "n150");
    end();
}

T_TEST(a_chip_that_comes_or_goes_is_seen_at_once)
{
    begin("changes");
    look(100);
    T_TRUE(view.chip_count == 0 && view.driver_loaded);
    host_add_chip(1, "0x401e\n");
    look(101);
    T_EQ(view.chip_count, 1);
    host_add_chip(0, "0x401e\n");
    look(102);
    T_EQ(view.chip_count, 2);
    T_EQ(view.chips[0].node, 0);
    T_EQ(unlink(host_path("sys/class/tenstorrent/tenstorrent!1")), 0);
    look(103);
    T_EQ(view.chip_count, 1);
    T_EQ(view.chips[0].node, 0);
    end();
}

T_TEST(a_host_without_a_driver_has_no_chips)
{
    host_new("bare");
    tts_livechips_init(&chips, host_root, NULL);
    tts_hostview_init(&view, NULL);
    look(1);
    T_TRUE(!view.driver_loaded && view.chip_count == 0);
    host_put("sys/class/tenstorrent", "no directory");
    look(2);
    T_EQ(view.chip_count, 0);
    T_EQ(unlink(host_path("sys/class/tenstorrent")), 0);
    host_dir("sys/class/tenstorrent");
    host_add_chip(0, "0x401e\n");
    look(3);
    T_TRUE(view.driver_loaded && view.chip_count == 1);
    end();
}

T_TEST(chips_that_cannot_be_listed_are_told_from_a_missing_driver)
{
    host_new("unlisted");
    host_put("sys/class/tenstorrent", ""); /* no directory */
    tts_livechips_init(&chips, host_root, NULL);
    tts_hostview_init(&view, NULL);
    look(1);
    T_EQ(view.chips_errno, ENOTDIR);
    T_TRUE(!view.driver_loaded && view.chip_count == 0);
    host_dir("sys/module/tenstorrent");
    host_put("sys/module/tenstorrent/version", "2.10.0\n");
    look(2);
    T_TRUE(view.driver_loaded && view.chips_errno == ENOTDIR);
    T_STR_EQ(view.driver_version, "2.10.0");
    T_EQ(unlink(host_path("sys/class/tenstorrent")), 0);
    host_dir("sys/class/tenstorrent");
    look(3);
    T_TRUE(view.driver_loaded && view.chips_errno == 0);
    end();
}

T_TEST(without_memory_no_read_succeeds_and_nothing_is_kept)
{
    struct heap heap;
    uint64_t calls = 0;
    begin("memory");
    host_add_chip(0, "0x401e\n");
    host_add_pids(0, "1\n");
    for (uint64_t fail_at = 0; fail_at <= calls; fail_at++) {
        heap_init(&heap);
        heap.fail_at = fail_at;
        tts_livechips_init(&chips, host_root, &heap.alloc);
        tts_hostview_init(&view, &heap.alloc);
        T_EQ(tts_livechips_read(&chips, &view, NULL), fail_at ? TTS_E_NOMEM : TTS_OK);
        calls = fail_at ? calls : heap.calls;
        tts_hostview_reset(&view);
        T_EQ(tts_livechips_read(&chips, &view, NULL), TTS_OK);
        T_EQ(view.chip_count, 1);
        end();
        T_TRUE(heap_is_settled(&heap));
    }
    T_EQ(calls, 3);
}
